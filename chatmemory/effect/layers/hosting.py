"""``Stay``: keeps a resource open in a task of its own, which opens, enters and leaves it.

A cancel scope belongs to the task that entered it.  A resource that holds one (a task group, a connection pool) would
fail on asyncio and on trio if it were entered in one task and left in another.  That happens when layers are built in
parallel, or when a test fixture opens a runtime in one task and closes it in another.

The tasks belong to no task group, because a task group has the same restriction; a scope ends them instead.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from contextvars import Context, copy_context
from typing import Any, Protocol, final

import anyio

from chatmemory.effect.defects import defect_of
from chatmemory.effect.layers.tasks import Backend, Signal, current_backend
from chatmemory.effect.outcome import Exit
from chatmemory.effect.scope import Scope

__all__ = ["Guest", "Stay", "host"]


class Guest(Protocol):
    """The resource that a ``Stay`` keeps open; the task of the stay calls its methods."""

    def started(self) -> None:
        """Handle the start of the task; the context manager is not entered yet."""
        ...

    def open(self) -> AbstractAsyncContextManager[Any]:
        """Return the context manager to enter."""
        ...

    def settled(self, stay: Stay, /) -> None:
        """Handle the end of entering: ``stay.is_entered`` is false if the context manager was not entered."""
        ...


@final
class Stay:
    """A resource that is kept open in a task of its own.

    Its guest is called directly: waking another task would cost one more turn of the event loop for each resource.

    Attributes:
        value: the value of the context manager, once it is entered.
        is_entered: whether it has been entered; stays true after leaving.
        failure: the exception that entering or leaving it raised.
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
        self._over: Signal | None = None  # made for a task that waits; usually `_then` is called instead
        self._task = backend.start(self._run, context)

    def give_up(self) -> None:
        """Cancel the entering of the context manager; if it is already entered, leave it without a cancellation."""
        if not self.is_entered:
            self._cancel_scope.cancel()
        self._shall_end.set()

    def begin_to_end(self, then: Callable[[Exception | None], None]) -> bool:
        """Start leaving the context manager; return False when the task has already ended.

        Args:
            then: called when the context manager is left, with the exception that leaving it raised, or None.

        Raises:
            Exception: the task has already ended with this exception.
        """
        if self._is_over:
            if self.failure is not None:
                raise self.failure
            return False
        self._then = then
        self._shall_end.set()
        return True

    async def until_over(self) -> BaseException | None:
        """Wait until the task has ended, even when interrupted; return the last interruption."""
        interruption: BaseException | None = None
        while not self._is_over:
            try:
                self._over = self._over or self._backend.signal()
                await self._over.wait()
            except BaseException as exception:  # noqa: BLE001  asyncio's native cancel: it must not change the order
                interruption = exception
        return interruption

    async def end(self, _: Exit[object, object]) -> None:
        """Leave the context manager, and raise the exception that leaving it raised."""
        self._shall_end.set()
        if (problem := await self.until_over() or self.failure) is not None:
            raise problem

    def reason(self) -> Exception:
        """Return the exception that prevented entering the context manager."""
        return self.failure or RuntimeError("the event loop was closed while a resource was being opened")

    async def _run(self) -> None:
        try:
            self._guest.started()
            with self._cancel_scope:
                if self._cancel_scope.cancel_called:  # interrupted before the manager was opened
                    return
                async with self._guest.open() as value:
                    self.value = value
                    self.is_entered = True
                    self._guest.settled(self)
                    await self._shall_end.wait()
        except BaseException as exception:  # stored for the tasks that wait, which raise it
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
    """Enter *manager* in a task of its own, which leaves it when *scope* is closed; closing waits for that."""
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
    """A guest for ``host``, which waits until it is settled."""

    __slots__ = ("_manager", "has_settled")

    def __init__(self, manager: AbstractAsyncContextManager[Any], has_settled: Signal) -> None:
        self._manager = manager
        self.has_settled = has_settled

    def started(self) -> None:
        """Do nothing: ``host`` does not need to know."""

    def open(self) -> AbstractAsyncContextManager[Any]:
        """Return the context manager."""
        return self._manager

    def settled(self, _: Stay) -> None:
        """Wake the task that waits in ``host``."""
        self.has_settled.set()
