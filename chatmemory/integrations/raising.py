"""``Raising``: runs effects for a framework, whose users catch its exceptions and know no outcomes; ``blocking``: where.

``to_its_end``: a write that has begun runs to its end, whoever stops waiting for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeAlias, TypeVar, final

import anyio
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


async def to_its_end(work: Awaitable[A]) -> A:
    """Wait until *work* has ended, even when the waiting task is cancelled, so that it is known what was stored."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:  # trio, where only scopes cancel
        with anyio.CancelScope(shield=True):
            return await work
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            # A scope of anyio that is cancelled says so again at each turn of the loop.
            with suppress(asyncio.CancelledError), anyio.CancelScope(shield=True):
                await asyncio.wait((task,))
        if not task.cancelled():
            task.exception()  # taken note of; the cancellation is what the caller hears
        raise
