"""``Host``: gives every resource a task of its own, in which it is both entered and left.

A cancel scope belongs to the task that entered it.  A resource that holds one (a task group, a connection pool) would
break asyncio and trio alike if it were entered in one task and left in another, as building in parallel does.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Generic, Self, final

import anyio
from anyio.abc import TaskGroup, TaskStatus
from typing_extensions import TypeVar

from chatmemory.effect.outcome import Exit
from chatmemory.effect.scope import Scope

__all__ = ["Host"]

A = TypeVar("A")


@final
class Host:
    """An async context manager around the tasks of the resources that it hosts."""

    __slots__ = ("_tasks",)

    def __init__(self) -> None:
        self._tasks: TaskGroup = anyio.create_task_group()

    async def enter(self, manager: AbstractAsyncContextManager[A], scope: Scope) -> A:
        """Enter *manager* in a task of its own; closing *scope* leaves it there and waits for that."""
        stay = _Stay(manager)
        await self._tasks.start(stay.run)
        await scope.add(stay.end)
        return stay.value

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # All scopes are closed by now.  Told of the exception, the task group would wrap it in a group.
        await self._tasks.__aexit__(None, None, None)


@final
class _Stay(Generic[A]):
    """The time of one resource in its task."""

    __slots__ = ("_failure", "_is_over", "_manager", "_shall_end", "value")

    value: A

    def __init__(self, manager: AbstractAsyncContextManager[A]) -> None:
        self._manager = manager
        self._shall_end = anyio.Event()
        self._is_over = anyio.Event()
        self._failure: Exception | None = None

    async def run(self, *, task_status: TaskStatus[None]) -> None:
        with anyio.CancelScope() as cancel_scope:
            try:
                async with self._manager as self.value:
                    # From here on only `end` ends it.  A cancellation from outside reaches all the tasks of the host
                    # at once, and would release a dependency before its consumer.
                    cancel_scope.shield = True
                    task_status.started()
                    await self._shall_end.wait()
            except Exception as failure:
                if not self._shall_end.is_set():
                    raise
                self._failure = failure
            finally:
                self._is_over.set()

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
