"""``Stay``: the time of a resource in a task of its own, in which it is opened, entered and left.

A cancel scope belongs to the task that entered it.  A resource that holds one (a task group, a connection pool) would
break asyncio and trio alike if it were entered in one task and left in another, as happens when layers are built in
parallel, or when a test fixture opens a runtime in one task and closes it in another.

The tasks belong to no task group, because that would have the same trouble; a scope ends them instead.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from contextvars import Context, copy_context
from typing import Any, Protocol, final

import anyio

from chatmemory.effect.defects import defect_of
from chatmemory.effect.fibers.tasks import Backend, Signal, current_backend
from chatmemory.effect.outcome import Exit
from chatmemory.effect.scope import Scope

__all__ = ["Guest", "Stay", "host"]


class Guest(Protocol):
    """What a ``Stay`` keeps open; the task of the stay calls its methods."""

    def started(self) -> None:
        """Note that the task has started; the manager is not entered yet."""
        ...

    def open(self) -> AbstractAsyncContextManager[Any]:
        """Return the manager to enter."""
        ...

    def settled(self, stay: Stay, /) -> None:
        """Note that the manager is entered, or that it will not be: ``stay.is_entered`` says which."""
        ...


@final
class Stay:
    """A resource that is kept open in a task of its own.

    Its guest is called directly: waking another task would cost one more turn of the event loop for each resource.

    Attributes:
        value: the value of the context manager, once it is entered.
        is_entered: whether it is, or was, entered.
        failure: the exception of entering or leaving it.
    """

    __slots__ = (
        "_backend",
        "_cancel_scope",
        "_guest",
        "_is_over",
        "_over",
        "_shall_end",
        "_task",
        "_then",
        "failure",
        "is_entered",
        "value",
    )

    def __init__(self, guest: Guest, backend: Backend, context: Context) -> None:
        """Start the task, which sees the variables of *context*."""
        self.value: Any = None
        self.is_entered = False
        self.failure: Exception | None = None
        self._guest = guest
        self._cancel_scope = backend.cancel_scope()
        self._is_over = False
        self._then: Callable[[Exception | None], None] | None = None
        self._shall_end = backend.signal()
        self._backend = backend
        self._over: Signal | None = None  # made for whoever waits: most are told by a call
        self._task = backend.start(self._run, context)

    def give_up(self) -> None:
        """Cancel the entering of the manager; a manager that is already entered is left without a cancellation."""
        if not self.is_entered:
            self._cancel_scope.cancel()
        self._shall_end.set()

    def begin_to_end(self, then: Callable[[Exception | None], None]) -> bool:
        """Begin to leave the manager; return False when the task has already ended.

        Args:
            then: called when the manager is left, with the exception of leaving it, or None.

        Raises:
            Exception: the task has already ended, by this exception.
        """
        if self._is_over:
            if self.failure is not None:
                raise self.failure
            return False
        self._then = then
        self._shall_end.set()
        return True

    async def until_over(self) -> BaseException | None:
        """Wait until the task has ended, in spite of interruptions; return the last of them."""
        interruption: BaseException | None = None
        while not self._is_over:
            try:
                self._over = self._over or self._backend.signal()
                await self._over.wait()
            except BaseException as exception:  # noqa: BLE001  asyncio's native cancel: it may not disturb the order
                interruption = exception
        return interruption

    async def end(self, _: Exit[object, object]) -> None:
        """Leave the manager, and raise what went wrong."""
        self._shall_end.set()
        if (problem := await self.until_over() or self.failure) is not None:
            raise problem

    def reason(self) -> Exception:
        """Return the exception that kept the manager from being entered."""
        return self.failure or RuntimeError("the event loop was closed while a resource was being opened")

    async def _run(self) -> None:
        try:
            self._guest.started()
            with self._cancel_scope:
                if self._cancel_scope.cancel_called:  # interrupted before it could begin
                    return
                async with self._guest.open() as value:
                    self.value = value
                    self.is_entered = True
                    self._guest.settled(self)
                    await self._shall_end.wait()
        except BaseException as exception:  # raised by those who wait for it
            self.failure = defect_of(exception)
            if self.failure is None:
                raise
        finally:
            self._is_over = True
            if self._over is not None:
                self._over.set()
            if not self.is_entered:
                self._guest.settled(self)
            if self._then is not None:
                self._then(self.failure)


async def host(manager: AbstractAsyncContextManager[Any], scope: Scope) -> Any:
    """Enter *manager* in a task of its own; closing *scope* leaves it there and waits for that."""
    backend = current_backend()
    guest = _Awaited(manager, backend.signal())
    stay = Stay(guest, backend, copy_context())
    try:
        await guest.has_settled.wait()
    except BaseException:
        stay.give_up()
        with anyio.CancelScope(shield=True):
            await stay.until_over()
        raise
    if not stay.is_entered:
        raise stay.reason()
    await scope.add(stay.end)
    return stay.value


@final
class _Awaited:
    """A guest for whom one waits."""

    __slots__ = ("_manager", "has_settled")

    def __init__(self, manager: AbstractAsyncContextManager[Any], has_settled: Signal) -> None:
        self._manager = manager
        self.has_settled = has_settled

    def started(self) -> None:
        """Do nothing."""

    def open(self) -> AbstractAsyncContextManager[Any]:
        """Return the manager."""
        return self._manager

    def settled(self, _: Stay) -> None:
        """Wake who waits."""
        self.has_settled.set()
