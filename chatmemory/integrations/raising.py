"""``Raising``: runs effects for a framework whose users expect its own exceptions; ``Blocking``: runs effects for blocking calls.

``to_its_end``: runs a write to its end, even when its caller is cancelled.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Generic, Self, TypeAlias, TypeVar, final

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
R_contra = TypeVar("R_contra", contravariant=True)

MakesException: TypeAlias = Callable[[str], Exception]
"""Makes an exception with the text of a failure."""


@final
@frozen
class Raising:
    """The exceptions for failures; ``__cause__.error`` is the failure as a value.

    Attributes:
        refused: for input that breaks rules.
        failed: for other failures, and while the runtime is opening.
        closed: for a runtime that is closed.
    """

    refused: MakesException
    failed: MakesException
    closed: MakesException

    async def run(self, runtime: Runner[R], effect: Effect[A, E, R]) -> A:
        """Return the value of *effect*, or raise."""
        return self.value(await self.outcome(runtime, effect))

    def run_blocking(self, runtime: ThreadRuntime[R] | Blocking[R], effect: Effect[A, E, R]) -> A:
        """Do what ``run`` does, and block this thread."""
        return self.value(self.outcome_blocking(runtime, effect))

    async def outcome(self, runtime: Runner[R], effect: Effect[A, E, R]) -> Outcome[A, E]:
        """Return the outcome of *effect*; raise when it could not start."""
        try:
            return await runtime.run(effect)
        except (EffectFailed, EffectInterrupted) as kept_off:
            raise self._of(kept_off) from kept_off

    def outcome_blocking(
        self, runtime: ThreadRuntime[R] | Blocking[R], effect: Effect[A, E, R]
    ) -> Outcome[A, E]:
        """Do what ``outcome`` does, and block this thread."""
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
    """Return *runtime* for blocking calls.

    Raises:
        TypeError: it belongs to an event loop, and can only be awaited.
    """
    if isinstance(runtime, ThreadRuntime):
        return runtime
    msg = f"a {type(runtime).__name__} can only be awaited: give a ThreadRuntime for calls that block"
    raise TypeError(msg)


@final
class Blocking(Generic[R_contra]):
    """Runs effects for blocking calls, on either kind of runtime.

    A ``ManagedRuntime`` serves calls from threads other than the thread of its event loop, such as the threads in which
    LangGraph runs nodes that are not coroutines.  Its loop is the one in which the adapter was made.
    """

    def __init__(self, runtime: Runner[R_contra]) -> None:
        """Store the running event loop, if there is one."""
        self._runtime = runtime
        self._loop: asyncio.AbstractEventLoop | None
        try:
            self._loop = asyncio.get_running_loop()
        except RuntimeError:
            self._loop = None

    def check_elsewhere(self) -> None:
        """Check that another thread can run effects.

        Raises:
            TypeError: the runtime can only be awaited.
        """
        if self._loop is None:
            blocking(self._runtime)

    def here(self) -> Self:
        """Return self for a call in this thread; call it before making the effect, which would otherwise stay unused.

        Raises:
            TypeError: the runtime can only be awaited here.
        """
        if self._loop is None or self._is_here():
            blocking(self._runtime)
        return self

    def run_blocking(self, effect: Effect[A, E, R_contra]) -> Outcome[A, E]:
        """Run *effect*, and block this thread until it has ended; only in a thread for which ``here`` has returned."""
        if isinstance(self._runtime, ThreadRuntime) or self._loop is None:
            return blocking(self._runtime).run_blocking(effect)
        return asyncio.run_coroutine_threadsafe(self._run(effect), self._loop).result()

    async def _run(self, effect: Effect[A, E, R_contra]) -> Outcome[A, E]:
        return await self._runtime.run(effect)

    def _is_here(self) -> bool:
        try:
            return asyncio.get_running_loop() is self._loop
        except RuntimeError:
            return False


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
            # A cancelled scope of anyio cancels again at each turn of the loop.
            with suppress(asyncio.CancelledError), anyio.CancelScope(shield=True):
                await asyncio.wait((task,))
        if not task.cancelled():
            task.exception()  # retrieved, so that it is not logged; the caller gets the cancellation
        raise
