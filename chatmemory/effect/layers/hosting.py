"""``host``: gives a resource a task of its own, in which it is both entered and left.

A cancel scope belongs to the task that entered it.  A resource that holds one (a task group, a connection pool) would
break asyncio and trio alike if it were entered in one task and left in another, as happens when layers are built in
parallel, or when a test fixture opens a runtime in one task and closes it in another.

The tasks belong to no task group, because that would have the same trouble; a scope ends them instead.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Generic, final

import anyio
from typing_extensions import TypeVar

from chatmemory.effect.fibers.tasks import start_task
from chatmemory.effect.outcome import Exit
from chatmemory.effect.scope import Scope
from chatmemory.effect.suspended import shield

__all__ = ["host"]

A = TypeVar("A")


async def host(manager: AbstractAsyncContextManager[A], scope: Scope) -> A:
    """Enter *manager* in a task of its own; closing *scope* leaves it there and waits for that."""
    stay = _Stay(manager)
    value = await stay.begin()
    await scope.add(stay.end)
    return value


@final
class _Stay(Generic[A]):
    """The time of one resource in its task."""

    __slots__ = (
        "_cancel_scope",
        "_failure",
        "_has_settled",
        "_is_over",
        "_manager",
        "_shall_end",
        "_task",
        "_value",
    )

    def __init__(self, manager: AbstractAsyncContextManager[A]) -> None:
        self._manager = manager
        self._cancel_scope = anyio.CancelScope()
        self._has_settled = anyio.Event()
        self._shall_end = anyio.Event()
        self._is_over = anyio.Event()
        self._value: tuple[A] | None = None
        self._failure: Exception | None = None
        self._task: object = None  # kept, see start_task

    async def begin(self) -> A:
        self._task = start_task(self._run)
        try:
            await self._has_settled.wait()
        except BaseException:
            # What is entered already is left in peace, what is being entered is cancelled.
            if self._value is None:
                self._cancel_scope.cancel()
            self._shall_end.set()
            with shield():
                await self._is_over.wait()
            raise
        if self._value is None:
            raise self._failure or RuntimeError("the event loop was closed while a resource was being opened")
        return self._value[0]

    async def end(self, _: Exit[object, object]) -> None:
        self._shall_end.set()
        interruption: BaseException | None = None
        while not self._is_over.is_set():
            try:
                await self._is_over.wait()
            except BaseException as exception:  # noqa: BLE001  asyncio's native cancel: it may not disturb the order
                interruption = exception
        if interruption is not None:
            raise interruption
        if self._failure is not None:
            raise self._failure

    async def _run(self) -> None:
        try:
            with self._cancel_scope:
                async with self._manager as value:
                    self._value = (value,)
                    self._has_settled.set()
                    await self._shall_end.wait()
        except Exception as failure:  # noqa: BLE001  raised by `begin` or `end`, in the task of whoever waits there
            self._failure = failure
        finally:
            self._has_settled.set()
            self._is_over.set()
