"""``Host``: a task that opens resources, keeps them open, and closes them.

A cancel scope belongs to the task that entered it.  A resource that holds one (a task group, a connection pool) would
fail if one task entered it and another left it, as a test fixture does.  So a runtime opens and closes its layers in a
separate task.  This task is outside every task group, because a task group has the same restriction.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack, suppress
from contextvars import copy_context
from typing import Any, Generic, final

import anyio
import anyio.lowlevel
from typing_extensions import TypeVar

from chatmemory.effect.defects import defect_of
from chatmemory.effect.outcome import EffectInterrupted

A = TypeVar("A")
B = TypeVar("B")


@final
class Host(Generic[A]):
    """Opens resources with *open_all*, each through ``guard``; ``close`` leaves them in reverse order.

    A cancellation of the caller cancels the resource that is being opened.  Those that are open already are left as
    usual, without a cancellation.
    """

    def __init__(self, open_all: Callable[[Host[A]], Awaitable[A]]) -> None:
        self._open_all = open_all
        self._stack = AsyncExitStack()
        self._opening: anyio.CancelScope | None = None
        self._is_given_up = False
        self._value: A | None = None
        self._is_open = False
        self._failure: Exception | None = None
        self._has_settled = anyio.Event()
        self._shall_close = anyio.Event()
        self._is_over = anyio.Event()
        self._task: object = None  # asyncio itself keeps only a weak reference

    async def open(self) -> A:
        """Open everything and return what *open_all* returned.

        Raises:
            EffectInterrupted: it was closed while it was being opened.
            Exception: what opening has raised; whatever was open is closed then.
        """
        self._task = _start(self._run)
        try:
            await self._has_settled.wait()
        except BaseException:
            self._give_up()
            await self._until_over()
            raise
        if not self._is_open:
            await self._until_over()
            raise self._failure or EffectInterrupted
        return self._value  # type: ignore[return-value]  # it is open

    async def guard(self, work: Callable[[AsyncExitStack], Awaitable[B]]) -> B:
        """Run *work*, which opens one resource, and cancel it if the caller of ``open`` is cancelled.

        ``open_all`` calls this in the task of the host.
        """
        await anyio.lowlevel.checkpoint()  # the caller may be cancelled by now
        # The cancel scope stays around the resource: whatever the resource holds was entered later, and is left earlier.
        opening = self._opening = anyio.CancelScope()
        opening.__enter__()
        self._stack.callback(opening.__exit__, None, None, None)
        if self._is_given_up:
            opening.cancel()
        return await work(self._stack)

    async def close(self) -> None:
        """Leave everything, and raise what leaving has raised; what is still being opened is cancelled."""
        self._give_up()
        interruption = await self._until_over()
        if (problem := interruption or self._failure) is not None:
            earlier = problem.__context__
            try:
                raise problem
            finally:
                problem.__context__ = earlier  # raising sets it to the exception that the caller handles

    def _give_up(self) -> None:
        self._is_given_up = True
        self._shall_close.set()
        if self._opening is not None and not self._is_open:
            self._opening.cancel()

    async def _until_over(self) -> BaseException | None:
        """Wait for the end of the task, even when interrupted; return the last interruption."""
        interruption: BaseException | None = None
        with anyio.CancelScope(shield=True):
            while not self._is_over.is_set():
                try:
                    await self._is_over.wait()
                except BaseException as exception:  # noqa: BLE001  asyncio's native cancel ignores shields
                    interruption = exception
        return interruption

    async def _run(self) -> None:
        try:
            try:
                self._value = await self._open_all(self)
            except BaseException as exception:  # raised for those who wait
                self._failure = defect_of(exception)
                if self._failure is None and not self._is_given_up:
                    raise
            else:
                self._is_open = True
                self._has_settled.set()
                # A resource that fails while it is open cancels this task; its exception comes when it is left.
                with suppress(anyio.get_cancelled_exc_class()):
                    await self._shall_close.wait()
        finally:
            await self._leave()

    async def _leave(self) -> None:
        try:
            await self._stack.aclose()
        except Exception as failure:  # noqa: BLE001  as above
            if self._failure is not None:
                self._failure.add_note(f"what was open could not be closed either: {failure!r}")
            self._failure = self._failure or failure
        finally:
            self._is_over.set()
            self._has_settled.set()


def _start(run: Callable[[], Coroutine[Any, Any, None]]) -> object:
    if anyio.get_cancelled_exc_class() is asyncio.CancelledError:
        return asyncio.create_task(run(), context=copy_context())
    import trio

    return trio.lowlevel.spawn_system_task(run, context=copy_context())
