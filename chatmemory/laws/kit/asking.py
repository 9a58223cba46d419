"""``Asker``: asks on behalf of a law, and checks that every answer is one that the contract allows."""

from typing import ClassVar, Final, TypeVar

import anyio
from attrs import field, frozen

from chatmemory.effect import Effect, Outcome, Success
from chatmemory.effect.services.ids import TimeOrderedIds
from chatmemory.laws.kit.law import LawBrokenError

A = TypeVar("A")
E = TypeVar("E")

NO_STRANGERS: Final = "L20 errors: the contract names every failure; no exception escapes, and no call hangs"
_ids = TimeOrderedIds()


def new_space() -> str:
    """Return a unique prefix for names."""
    return f"law {_ids.next_id()} "


@frozen
class Asker:
    """Asks something under test, about data that no other law uses.

    Attributes:
        ERRORS: the failures that the contract names.
        space: the prefix of the names, so that a law can run on a store with other data.
        patience_seconds: the time limit of an answer.
    """

    ERRORS: ClassVar[tuple[type, ...]]
    space: str = field(factory=new_space, kw_only=True)
    patience_seconds: float = field(default=20.0, kw_only=True)

    def named(self, name: str) -> str:
        """Return an id in this space."""
        return self.space + name

    async def ask(self, effect: Effect[A, E]) -> Outcome[A, E]:
        """Return the outcome of *effect*."""
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
        """Return the value of *effect*; a failure breaks the law."""
        outcome = await self.ask(effect)
        if isinstance(outcome, Success):
            return outcome.unwrap()
        raise LawBrokenError(f"failed for no reason: {outcome.failure()}")
