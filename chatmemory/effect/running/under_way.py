"""``UnderWay``: an effect that runs in the event loop of another thread, from the caller's side.

A thread waits for it with ``Blocked``, an asyncio task with ``Awaited``; ``thread_runtime.py`` runs it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Generic, final

from typing_extensions import TypeVar

from chatmemory.effect.outcome import EffectInterrupted

if TYPE_CHECKING:
    import asyncio
    from concurrent.futures import Future

__all__ = ["Awaited", "Blocked", "UnderWay"]

A = TypeVar("A")


class UnderWay(Generic[A]):
    """The base of ``Blocked`` and ``Awaited``; ``task`` is set and read only in the thread that runs the effect."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Prepare for an effect that will run in *loop*."""
        self.task: asyncio.Task[A] | None = None
        self._loop = loop

    def settle(self, task: asyncio.Task[A]) -> None:
        """Tell the caller that *task* has ended; called in the thread that runs the effect."""
        raise NotImplementedError

    def cancel(self) -> None:
        """Cancel the effect in the thread that runs it; does nothing when the effect has already ended."""
        _tell(self._loop, self._cancel_there)

    def _cancel_there(self) -> None:
        if self.task is not None:
            self.task.cancel()


@final
class Blocked(UnderWay[A]):
    """An effect for which a blocked thread waits."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Prepare for an effect that will run in *loop*."""
        from concurrent.futures import Future

        super().__init__(loop)
        self._ended: Future[asyncio.Task[A]] = Future()

    def settle(self, task: asyncio.Task[A]) -> None:
        """See ``UnderWay``."""
        self._ended.set_result(task)

    def wait(self) -> A:
        """Block until the effect has ended; return its result or raise its exception."""
        try:
            task = self._ended.result()
        except BaseException:
            self.cancel()  # for example Ctrl-C
            raise
        return _came_to(task)


@final
class Awaited(UnderWay[A]):
    """An effect for which an asyncio task waits."""

    def __init__(self, loop: asyncio.AbstractEventLoop, here: asyncio.AbstractEventLoop) -> None:
        """Prepare for an effect that will run in *loop*; *here* is the loop of the task that waits."""
        super().__init__(loop)
        self._here = here
        self._has_ended = False
        self._ended: asyncio.Future[asyncio.Task[A]] = here.create_future()

    def settle(self, task: asyncio.Task[A]) -> None:
        """See ``UnderWay``."""
        _tell(self._here, self._settle_here, task)

    async def wait(self) -> A:
        """Wait until the effect has ended; return its result or raise its exception.

        When the waiting task is cancelled, it cancels the effect and waits for its end.
        """
        import asyncio

        try:
            task = await self._ended
        except asyncio.CancelledError:
            self.cancel()  # only once, so that the effect's cleanup is not cancelled
            while not self._has_ended:
                await self._once_more()
            raise
        return _came_to(task)

    async def _once_more(self) -> None:
        """Wait until the effect has ended or the waiting task is cancelled again."""
        import asyncio

        import anyio

        self._ended = self._here.create_future()
        with suppress(asyncio.CancelledError), anyio.CancelScope(shield=True):
            _ = await self._ended  # the result is the task, which has ended: there is nothing to await

    def _settle_here(self, task: asyncio.Task[A]) -> None:
        self._has_ended = True
        if not self._ended.done():
            self._ended.set_result(task)


def _came_to(task: asyncio.Task[A]) -> A:
    if task.cancelled():
        raise EffectInterrupted
    return task.result()


def _tell(loop: asyncio.AbstractEventLoop, callback: Callable[..., object], *arguments: Any) -> None:
    """Call *callback* in the thread of *loop*; do nothing when the loop is closed."""
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(callback, *arguments)
