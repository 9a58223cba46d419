"""``ThreadRuntime``: a layer in a worker thread, whose services callers use from any event loop, or from none.

The thread runs one event loop and one ``ManagedRuntime`` in it.  Code that blocks there blocks no other thread, and
objects that belong to that loop are used in no other loop.
"""

from __future__ import annotations

import logging
import os
import threading
import weakref
from collections.abc import Generator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from contextvars import copy_context
from typing import Any, Final, Generic, Never, Self, final

from typing_extensions import TypeVar

from chatmemory.effect.effect import Effect
from chatmemory.effect.key import TagOf
from chatmemory.effect.layers.layer import Layer, shape_of
from chatmemory.effect.lazy import anyio, asyncio
from chatmemory.effect.outcome import EffectInterrupted, Outcome
from chatmemory.effect.running.runtime import ALREADY_OPEN, CLOSED, ManagedRuntime
from chatmemory.effect.suspended import may_wait_on_asyncio

log = logging.getLogger(__name__)

A = TypeVar("A")
E = TypeVar("E")
S = TypeVar("S")
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
        self._lock = threading.Lock()
        self._running: _Running[R_contra] | None = None
        self._is_closed = False
        self._is_entered = False

    async def run(self, effect: Effect[A, E, R_contra], /) -> Outcome[A, E]:
        """Run *effect* in the runtime's thread, await it here, and return its outcome.

        When a task of asyncio is cancelled, the effect is cancelled too, and the task ends when the effect has ended.
        A task of trio that is cancelled waits until the effect has ended by itself.

        Raises:
            EffectInterrupted: the runtime is closed, or was closed while the effect ran.
        """
        running = self._started()
        if running.is_here():
            return await running.run(effect)
        try:
            asyncio.get_running_loop()
        except RuntimeError:  # trio: a thread waits for it even when the caller is cancelled
            return await anyio.to_thread.run_sync(running.begin(effect).wait)
        return await running.begin(effect).wait_on_asyncio()

    def run_blocking(self, effect: Effect[A, E, R_contra], /) -> Outcome[A, E]:
        """Run *effect* in the runtime's thread, block this thread until it has ended, and return its outcome.

        An event loop in this thread is blocked as well.

        Raises:
            EffectInterrupted: the runtime is closed, or was closed while the effect ran.
            RuntimeError: it was called in the runtime's thread.
        """
        running = self._started()
        if running.is_here():
            raise RuntimeError(
                "an effect of this runtime would wait for itself here: write `await runtime.run(effect)`"
            )
        return running.begin(effect).wait()

    def service(self, tag: TagOf[R_contra, S]) -> S:
        """Return the service of *tag*; give its effects to ``run`` or ``run_blocking``.

        It blocks this thread until the layer is built.
        """
        return self.run_blocking(Effect.service(tag)).unwrap()

    def close(self) -> None:
        """Cancel the effects that are running, release the layer and wait for the thread to end.

        A second call does nothing.
        """
        with self._lock:
            self._is_closed = True
            running = self._running
            if running is not None:
                self._leaving.detach()
        try:
            if running is not None:
                running.end()
        finally:
            self._is_entered = False

    def _started(self) -> _Running[R_contra]:
        with self._lock:
            if self._is_closed:
                raise EffectInterrupted(CLOSED)
            if self._running is None or not self._running.is_usable():
                self._running = _Running(self._layer, self._name)
                self._leaving = weakref.finalize(self, _leave, self._running)
            return self._running

    @contextmanager
    def _entering(self) -> Generator[None]:
        with self._lock:
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

    async def __aexit__(self, *_: object) -> None:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(self.close)

    def __enter__(self) -> Self:
        with self._entering():
            self.run_blocking(_NOTHING)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_NOTHING: Final[Effect[None]] = Effect.succeed(None)


class _Call(Generic[A]):
    """An effect that runs in the thread, as its caller sees it."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        # It is never cancelled: its waiters wait for the end of the effect.
        self.ended: Future[A] = Future()
        self.task: asyncio.Task[A] | None = None  # set and cancelled in the thread
        self._loop = loop

    def settle(self, task: asyncio.Task[A]) -> None:
        """Tell the caller how the effect has ended; called in the thread."""
        if task.cancelled():
            self.ended.set_exception(EffectInterrupted())
        elif (exception := task.exception()) is not None:
            self.ended.set_exception(exception)
        else:
            self.ended.set_result(task.result())

    def cancel(self) -> None:
        """Cancel the effect; do nothing when it has ended."""

        def cancel_there() -> None:
            if self.task is not None:
                self.task.cancel()

        with suppress(RuntimeError):  # the thread has ended
            self._loop.call_soon_threadsafe(cancel_there)

    def wait(self) -> A:
        """Block until the effect has ended; return its result or raise its exception."""
        try:
            return self.ended.result()
        except BaseException:
            if not self.ended.done():  # for example Ctrl-C
                self.cancel()
            raise

    async def wait_on_asyncio(self) -> A:
        """Wait until the effect has ended; when the waiting task is cancelled, cancel the effect first."""
        here, has_ended = asyncio.get_running_loop(), asyncio.Event()

        def tell(_: object) -> None:
            with suppress(RuntimeError):  # this event loop has ended
                here.call_soon_threadsafe(has_ended.set)

        self.ended.add_done_callback(tell)
        try:
            await has_ended.wait()
        except asyncio.CancelledError:
            self.cancel()  # only once, so that the effect's cleanup is not cancelled
            with anyio.CancelScope(shield=True):
                while not has_ended.is_set():
                    with suppress(asyncio.CancelledError):
                        await has_ended.wait()
            raise
        return self.ended.result()


@final
class _Running(Generic[R_contra]):
    """One start of the thread, with the layer in it."""

    def __init__(self, layer: Layer[R_contra, Any, Never], name: str) -> None:
        self._process = os.getpid()
        self._runtime = ManagedRuntime(layer)
        self._is_open = False
        self._opening = asyncio.Lock()
        self._failure: Exception | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._lock = threading.Lock()  # no effect begins after the end, when nothing would run it
        self._is_ending = False
        self._loop = asyncio.new_event_loop()
        self._shall_end = asyncio.Event()
        # A daemon thread: for any other one Python would wait at the end of the program before `_leave` could end it.
        self._thread = threading.Thread(target=self._serve, name=name, daemon=True)
        self._thread.start()

    def is_usable(self) -> bool:
        return not self._is_ending and self._process == os.getpid()

    def is_here(self) -> bool:
        return threading.current_thread() is self._thread

    async def run(self, effect: Effect[A, E, R_contra]) -> Outcome[A, E]:
        """Run *effect*; called in the thread.  The first effect opens the layer."""
        if not self._is_open:
            known = self._failure
            async with self._opening:
                if self._failure is not None and self._failure is not known:
                    raise self._failure  # the build for which this caller has waited
                if not self._is_open and not self._is_ending:
                    await self._open()
        return await self._runtime.run(effect)

    async def _open(self) -> None:
        try:
            await self._runtime.__aenter__()
        except Exception as error:
            self._failure = error
            raise
        self._is_open = True

    def begin(self, effect: Effect[A, E, R_contra]) -> _Call[Outcome[A, E]]:
        """Start *effect* in the thread, in the caller's context."""
        call = _Call[Outcome[A, E]](self._loop)
        context = copy_context()
        context.run(may_wait_on_asyncio)

        def start() -> None:
            call.task = task = self._loop.create_task(self.run(effect), context=context)
            self._tasks.add(task)  # asyncio itself keeps only a weak reference
            task.add_done_callback(self._tasks.discard)
            task.add_done_callback(call.settle)

        with self._lock:
            if self._is_ending:
                raise EffectInterrupted
            self._loop.call_soon_threadsafe(start)
        return call

    def end(self, *, timeout: float | None = None) -> None:
        """End the effects, the layer and the thread; raise the failure of the layer.

        It waits for *timeout* seconds at most; None: until all has ended.
        """
        if self._process != os.getpid():
            return
        with self._lock:
            if self._is_ending:
                return
            self._is_ending = True
            leaving = asyncio.run_coroutine_threadsafe(self._leave(), self._loop)
        if not self.is_here():  # an effect that closes its own runtime cannot wait for the end
            leaving.result(timeout)
            self._thread.join(timeout)

    async def _leave(self) -> None:
        try:
            if self._is_open:
                await self._runtime.__aexit__(None, None, None)
            else:
                for task in self._tasks:
                    task.cancel()
        finally:
            self._shall_end.set()

    def _serve(self) -> None:
        async def serve() -> None:
            await self._shall_end.wait()
            if self._tasks:
                await asyncio.wait(self._tasks)

        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(serve())


def _leave(running: _Running[Any]) -> None:
    """End a runtime that was garbage-collected, or was still open at the end of the program."""
    try:
        running.end(timeout=LEAVE_SECONDS)
    except Exception:
        log.exception("a runtime that nobody had closed could not be closed well")
