"""``Asker``: asks on behalf of a law, and sees to it that every answer is one that the contract knows."""

from typing import ClassVar, Final, TypeVar

import anyio
from attrs import field, frozen

from chatmemory.effect import Effect, Outcome, Success
from chatmemory.effect.services.ids import TimeOrderedIds
from chatmemory.laws.kit.law import LawBrokenError

A = TypeVar("A")
E = TypeVar("E")

NO_STRANGERS: Final = (
    "L20 errors: every failure is one that the contract names; no exception escapes, and no call hangs"
)
_ids = TimeOrderedIds()


def new_space() -> str:
    """Return the beginning of names that nobody else has heard of."""
    return f"law {_ids.next_id()} "


@frozen
class Asker:
    """Speaks with something under test, of things that nobody else has heard of.

    Attributes:
        ERRORS: those that the contract names.
        space: the beginning of their names, so that a law can run on a store that holds other things too.
        patience_seconds: how long an answer may take.
    """

    ERRORS: ClassVar[tuple[type, ...]]
    space: str = field(factory=new_space, kw_only=True)
    patience_seconds: float = field(default=20.0, kw_only=True)

    def named(self, name: str) -> str:
        """Return an id in this space."""
        return self.space + name

    async def ask(self, effect: Effect[A, E]) -> Outcome[A, E]:
        """Return how *effect* ended."""
        with anyio.move_on_after(self.patience_seconds):
            try:
                outcome = await effect
            except Exception as stranger:
                raise LawBrokenError(f"{stranger!r} escaped", law=NO_STRANGERS) from stranger
            if not (isinstance(outcome, Success) or isinstance(outcome.failure(), self.ERRORS)):
                raise LawBrokenError(f"unknown failure {outcome.failure()!r}", law=NO_STRANGERS)
            return outcome
        raise LawBrokenError(f"no answer within {self.patience_seconds} seconds", law=NO_STRANGERS)

    async def get(self, effect: Effect[A, E]) -> A:
        """Return the value of *effect*, which has no reason to fail."""
        outcome = await self.ask(effect)
        if isinstance(outcome, Success):
            return outcome.unwrap()
        raise LawBrokenError(f"failed for no reason: {outcome.failure()}")
