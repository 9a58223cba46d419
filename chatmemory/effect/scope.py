"""``Scope``: a list of finalizers, and the order in which they run.

It does not depend on layers; ``hosting.py`` keeps resources open in tasks of their own and uses a scope to close them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any, Never, Self, TypeAlias, final

from typing_extensions import TypeVar

from chatmemory.effect.outcome import Exit, Success, exit_from_exception
from chatmemory.effect.suspended import new_event, shield

__all__ = ["Finalizer", "Relay", "Scope"]

A = TypeVar("A")

Finalizer: TypeAlias = Callable[[Exit[Any, Any]], Awaitable[object] | None]


class Relay:
    """A finalizer that ends a task and starts the next finalizer when that task has ended.

    Waking the task that closes the scope in between would cost one more turn of the event loop for each.
    """

    __slots__ = ()

    def __call__(self, exit_: Exit[Any, Any]) -> Awaitable[object] | None:
        """Release everything; every caller that awaits the result waits for the end."""
        raise NotImplementedError

    def is_ready(self) -> bool:
        """Return whether there is a task, so that ``begin`` may be called."""
        raise NotImplementedError

    def begin(self, then: Callable[[Exception | None], None]) -> bool:
        """Ask the task to end, and let it call *then* when it has ended; return False if there is nothing to end.

        It may be called in any task, so it must not run other code.

        Args:
            then: called with the exception with which the task ended; None: it ended well.

        Raises:
            Exception: the task has already ended with this exception.
        """
        raise NotImplementedError


_FINE: Exit[None, Never] = Success(None)


@final
class Scope:
    """A list of finalizers that run when the scope is closed, the last one first.

    Every finalizer runs, even when others fail, and receives how the scope ended.  The cancel scopes of anyio and trio
    cannot interrupt closing; a native ``asyncio.Task.cancel()`` interrupts the finalizer that is running, and no other.
    """

    __slots__ = ("_finalizers", "_parent", "is_closed")

    def __init__(self) -> None:
        self.is_closed = False
        self._parent: Scope | None = None
        self._finalizers: dict[object, Finalizer] = {}

    async def add(self, finalizer: Finalizer) -> None:
        """Add *finalizer*, to run when the scope is closed; if the scope is already closed, run it at once."""
        if not self.is_closed:
            self.put(finalizer)
        elif (ending := finalizer(_FINE)) is not None:
            with shield():
                await ending

    def put(self, finalizer: Finalizer) -> None:
        """Add *finalizer* to a scope that is not closed yet."""
        self._finalizers[object()] = finalizer

    async def enter(self, manager: AbstractAsyncContextManager[A]) -> A:
        """Enter *manager*, return its value, and leave it when the scope is closed."""
        value = await manager.__aenter__()
        await self.add(lambda _: manager.__aexit__(None, None, None))
        return value

    def fork(self) -> Scope:
        """Return a child scope, which is closed when this one is closed, or earlier on its own."""
        child = Scope()
        child.is_closed = self.is_closed
        child._parent = self
        if not self.is_closed:
            self._finalizers[child] = child.close_in_shield
        return child

    def forget(self, child: Scope) -> None:
        """Remove *child*, which is closed before this scope."""
        self._finalizers.pop(child, None)

    async def close(self, exit_: Exit[Any, Any] = _FINE) -> None:
        """Run the finalizers; do nothing if the scope is already closed.

        Args:
            exit_: how the scope ended; the finalizers receive it.  Success by default.

        Raises:
            ExceptionGroup: several finalizers failed.  The failure of a single one is raised as it is.
        """
        if self._finalizers:
            with shield():
                await self.close_in_shield(exit_)
        else:
            self._mark_closed()

    async def close_in_shield(self, exit_: Exit[Any, Any]) -> None:
        """Close this scope as ``close`` does, but without a shield: the scope around it already holds one."""
        if self.is_closed:
            return
        self._mark_closed()
        failures: list[BaseException] = []
        while self._finalizers:
            key, finalizer = self._finalizers.popitem()
            if isinstance(finalizer, Relay) and finalizer.is_ready():
                self._finalizers[key] = finalizer
                await _Relays(self._finalizers, failures).run()
                continue
            try:
                if (ending := finalizer(exit_)) is not None:
                    await ending
            except BaseException as failure:  # noqa: BLE001  raised below, when all finalizers have run
                failures.append(failure)
        if failures:
            _raise(failures)

    def _mark_closed(self) -> None:
        self.is_closed = True
        if self._parent is not None:
            self._parent.forget(self)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close(_FINE if exception is None else exit_from_exception(exception))


@final
class _Relays:
    """Runs the relays at the end of a list of finalizers one after the other; each task starts the next when it ends."""

    __slots__ = ("_are_over", "_failures", "_finalizers", "_is_over")

    def __init__(self, finalizers: dict[object, Finalizer], failures: list[BaseException]) -> None:
        self._finalizers = finalizers
        self._failures = failures
        self._is_over = False
        self._are_over = new_event()

    async def run(self) -> None:
        self._go_on(None)
        while not self._is_over:
            try:
                await self._are_over.wait()
            except BaseException as interruption:  # noqa: BLE001  asyncio's native cancel: it must not change the order
                self._failures.append(interruption)

    def _go_on(self, failure: Exception | None) -> None:
        if failure is not None:
            self._failures.append(failure)
        while self._finalizers:
            key, finalizer = self._finalizers.popitem()
            if not (isinstance(finalizer, Relay) and finalizer.is_ready()):
                self._finalizers[key] = finalizer
                break
            try:
                if finalizer.begin(self._go_on):
                    return
            except Exception as past:  # noqa: BLE001  raised by the scope, when all finalizers have run
                self._failures.append(past)
        self._is_over = True
        self._are_over.set()


def _raise(failures: list[BaseException]) -> None:
    for failure in failures:
        if not isinstance(failure, Exception):
            raise failure  # raise an interruption itself, or the event loop does not recognize it
    if len(failures) == 1:
        raise failures[0]
    if failures:
        raise BaseExceptionGroup("finalizers failed", failures)
