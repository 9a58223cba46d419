"""``Raising``: runs effects for a framework, whose users catch its exceptions and know no outcomes; ``blocking``: where."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, TypeVar, final

from attrs import frozen

from chatmemory.effect import (
    Effect,
    EffectFailed,
    EffectInterrupted,
    Outcome,
    Runner,
    Success,
    ThreadRuntime,
)
from chatmemory.errors import DataValidationError

A = TypeVar("A")
E = TypeVar("E")
R = TypeVar("R")

MakesException: TypeAlias = Callable[[str], Exception]
"""Makes one of chatmemory's own words."""


@final
@frozen
class Raising:
    """What is raised in the place of failures; ``__cause__.error`` is the failure as a value.

    Attributes:
        refused: for input that breaks rules.
        failed: for what fails beneath, and while the runtime is opening.
        closed: for a runtime that is closed.
    """

    refused: MakesException
    failed: MakesException
    closed: MakesException

    async def run(self, runtime: Runner[R], effect: Effect[A, E, R]) -> A:
        """Return the value of *effect*, or raise."""
        return self.value(await self.outcome(runtime, effect))

    def run_blocking(self, runtime: ThreadRuntime[R], effect: Effect[A, E, R]) -> A:
        """Do as ``run``, while this thread waits."""
        return self.value(self.outcome_blocking(runtime, effect))

    async def outcome(self, runtime: Runner[R], effect: Effect[A, E, R]) -> Outcome[A, E]:
        """Return how *effect* has ended; raise where it could not begin."""
        try:
            return await runtime.run(effect)
        except (EffectFailed, EffectInterrupted) as kept_off:
            raise self._of(kept_off) from kept_off

    def outcome_blocking(self, runtime: ThreadRuntime[R], effect: Effect[A, E, R]) -> Outcome[A, E]:
        """Do as ``outcome``, while this thread waits."""
        try:
            return runtime.run_blocking(effect)
        except (EffectFailed, EffectInterrupted) as kept_off:
            raise self._of(kept_off) from kept_off

    def value(self, outcome: Outcome[A, object]) -> A:
        """Return the value, or raise the failure."""
        if isinstance(outcome, Success):
            return outcome.unwrap()
        failed = EffectFailed(outcome.failure())
        raise self._of(failed) from failed

    def _of(self, raised: EffectFailed | EffectInterrupted) -> Exception:
        if isinstance(raised, EffectInterrupted):
            return self.closed("the runtime of this memory is closed")
        kind = self.refused if isinstance(raised.error, DataValidationError) else self.failed
        return kind(str(raised.error))


def blocking(runtime: Runner[R]) -> ThreadRuntime[R]:
    """Return *runtime* for calls that block.

    Raises:
        TypeError: it lives in an event loop, and can only be awaited.
    """
    if isinstance(runtime, ThreadRuntime):
        return runtime
    msg = f"a {type(runtime).__name__} can only be awaited: give a ThreadRuntime for calls that block"
    raise TypeError(msg)
