"""``ThreadRuntime``: a layer in a thread of its own, whose services callers use from any event loop, or from none.

The thread runs one event loop and one ``ManagedRuntime`` in it.  Code that blocks there blocks no other thread, and
objects that belong to that loop are used in no other loop.
"""

from __future__ import annotations

import logging
import os
import threading
import weakref
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import copy_context
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Generic, Never, Self, final

from typing_extensions import TypeVar

from chatmemory.effect.effect import Effect
from chatmemory.effect.layer import Layer, shape_of
from chatmemory.effect.outcome import EffectInterrupted, Outcome
from chatmemory.effect.running.runtime import ALREADY_OPEN, CLOSED, ManagedRuntime
from chatmemory.effect.running.under_way import Awaited, Blocked, UnderWay
from chatmemory.effect.suspended import may_wait_on_asyncio

if TYPE_CHECKING:
    import asyncio

__all__ = ["ThreadRuntime"]

log = logging.getLogger(__name__)

A = TypeVar("A")
E = TypeVar("E")
U = TypeVar("U", bound=UnderWay[Any])
R_contra = TypeVar("R_contra", contravariant=True)

LEAVE_SECONDS: Final = (
    10.0  # how long the end of the program waits for the layers of a runtime that was not closed
)


@final
class ThreadRuntime(Generic[R_contra]):
    """Runs effects in its own thread: ``await runtime.run(effect)`` in a task, ``runtime.run_blocking(effect)`` anywhere.

    The first effect builds the layer, and so does ``with`` or ``async with``.  When the build fails, each caller that
    waits for it gets the exception that ``ManagedRuntime`` raises, and the next effect builds again.  Closing cancels the
    effects that are running and releases the layer; entering opens the runtime again.  The end of the program closes a
    runtime that is still open.  A forked child process builds the layer for itself.
    """

    def __init__(self, layer: Layer[R_contra, Any, Never], *, name: str = "chatmemory") -> None:
        """Make the runtime; its thread, called *name*, starts with the first effect."""
        shape_of(layer)
        self._layer = layer
        self._name = name
        self._turn = threading.Lock()
        self._stay: _Stay[R_contra] | None = None
        self._is_closed = False
        self._is_entered = False

    async def run(self, effect: Effect[A, E, R_contra], /) -> Outcome[A, E]:
        """Run *effect* in the runtime's thread, await it here, and return its outcome.

        When a task of asyncio is cancelled, the effect is cancelled too, and the task ends when the effect has ended.
        A task of trio that is cancelled waits until the effect has ended by itself.

        Raises:
            EffectInterrupted: the runtime is closed, or was closed while the effect ran.
        """
        import asyncio

        stay = self._present()
        if stay.is_here():
            return await stay.run(effect)
        try:
            here = asyncio.get_running_loop()
        except RuntimeError:  # trio: a thread waits for it even when the caller is cancelled
            import anyio

            return await anyio.to_thread.run_sync(stay.begin(effect, Blocked[Outcome[A, E]](stay.loop)).wait)
        return await stay.begin(effect, Awaited[Outcome[A, E]](stay.loop, here)).wait()

    def run_blocking(self, effect: Effect[A, E, R_contra], /) -> Outcome[A, E]:
        """Run *effect* in the runtime's thread, block this thread until it has ended, and return its outcome.

        An event loop in this thread is blocked as well.

        Raises:
            EffectInterrupted: the runtime is closed, or was closed while the effect ran.
            RuntimeError: it was called in the runtime's thread.
        """
        stay = self._present()
        if stay.is_here():
            raise RuntimeError(
                "an effect of this runtime would wait for itself here: write `await runtime.run(effect)`"
            )
        return stay.begin(effect, Blocked[Outcome[A, E]](stay.loop)).wait()

    def close(self) -> None:
        """Cancel the effects that are running, release the layer and wait for the thread to end.

        A second call does nothing.
        """
        with self._turn:
            self._is_closed = True
            stay = self._stay
            if stay is not None:
                self._leaving.detach()
        try:
            if stay is not None:
                stay.end()
        finally:
            self._is_entered = False

    def _present(self) -> _Stay[R_contra]:
        with self._turn:
            if self._is_closed:
                raise EffectInterrupted(CLOSED)
            if self._stay is None or not self._stay.is_usable():
                self._stay = _Stay(self._layer, self._name)
                self._leaving = weakref.finalize(self, _leave, self._stay)
            return self._stay

    @contextmanager
    def _entering(self) -> Generator[None]:
        with self._turn:
            if self._is_entered:
                raise RuntimeError(ALREADY_OPEN)
            self._is_entered, self._is_closed = True, False
        try:
            yield
        except BaseException:
            self._is_entered = False
            raise

    async def __aenter__(self) -> Self:
        with self._entering():
            await self.run(_NOTHING)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        import anyio

        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(self.close)

    def __enter__(self) -> Self:
        with self._entering():
            self.run_blocking(_NOTHING)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


_NOTHING: Final[Effect[None]] = Effect.succeed(None)


@final
class _Stay(Generic[R_contra]):
    """One start of the thread and the layer, until both have ended."""

    def __init__(self, layer: Layer[R_contra, Any, Never], name: str) -> None:
        import asyncio

        self._layer = layer
        self._process = os.getpid()
        self.loop = asyncio.new_event_loop()
        self._turn = threading.Lock()  # prevents new effects after the end, when nothing would run them
        self._is_ending = False
        self._shall_end = asyncio.Event()
        self._runtime: asyncio.Future[ManagedRuntime[R_contra]] = self.loop.create_future()
        self._main: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._refusal: BaseException = EffectInterrupted()
        self._failure: BaseException | None = None
        # A daemon thread: for any other thread, Python would wait at the end of the program before `_leave` could end
        # it.
        self._thread = threading.Thread(target=self._live, name=name, daemon=True)
        self._thread.start()

    def is_usable(self) -> bool:
        return not self._is_ending and self._process == os.getpid()

    def is_here(self) -> bool:
        return threading.current_thread() is self._thread

    async def run(self, effect: Effect[A, E, R_contra]) -> Outcome[A, E]:
        """Run *effect*; called in the runtime's thread."""
        import asyncio

        runtime = await asyncio.shield(self._runtime)
        return await runtime.run(effect)

    def begin(self, effect: Effect[A, E, R_contra], under_way: U) -> U:
        """Start *effect* in the runtime's thread, in the caller's context, and return *under_way*."""
        context = copy_context()
        context.run(may_wait_on_asyncio)

        def start() -> None:
            task = self.loop.create_task(self.run(effect), context=context)
            self._tasks.add(task)  # asyncio itself keeps only a weak reference
            task.add_done_callback(self._tasks.discard)
            task.add_done_callback(under_way.settle)
            under_way.task = task

        with self._turn:
            if self._is_ending:
                raise self._refusal
            self.loop.call_soon_threadsafe(start)
        return under_way

    def end(self, *, patience: float | None = None) -> None:
        """End the effects, the layer and the thread, and wait at most *patience* seconds; raise the failure of the layer."""
        if self._process != os.getpid():
            return
        with self._turn:
            if not self._is_ending:
                self._is_ending = True
                self.loop.call_soon_threadsafe(self._end_here)
        if not self.is_here():
            self._thread.join(patience)
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def _end_here(self) -> None:
        self._shall_end.set()
        if self._main is not None and not self._runtime.done():
            self._main.cancel()

    def _live(self) -> None:
        import asyncio

        with asyncio.Runner(loop_factory=lambda: self.loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        import asyncio

        self._main = asyncio.current_task()
        try:
            async with ManagedRuntime(self._layer) as runtime:
                self._runtime.set_result(runtime)
                await self._shall_end.wait()
        except BaseException as exception:  # noqa: BLE001  raised for the callers that wait, or by close
            if self._runtime.done():
                self._failure = exception
            else:
                if not isinstance(exception, asyncio.CancelledError):
                    self._refusal = exception
                self._runtime.set_exception(self._refusal)
                self._runtime.exception()  # mark the exception as retrieved, because no caller may wait for it any more
        with self._turn:
            self._is_ending = True
        await asyncio.sleep(0)  # until the effects that were posted before have started
        if self._tasks:
            await asyncio.wait(self._tasks)


def _leave(stay: _Stay[Any]) -> None:
    """End a runtime that was garbage-collected, or was still open at the end of the program."""
    try:
        stay.end(patience=LEAVE_SECONDS)
    except Exception:
        log.exception("a runtime that nobody had closed could not be closed well")
