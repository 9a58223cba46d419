"""``Scope``: a list of finalizers, and the order in which they run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any, Never, Self, TypeAlias, final

from typing_extensions import TypeVar

from chatmemory.effect.outcome import Exit, Success, exit_from_exception
from chatmemory.effect.suspended import shield

__all__ = ["Finalizer", "Scope"]

A = TypeVar("A")

Finalizer: TypeAlias = Callable[[Exit[Any, Any]], Awaitable[object] | None]


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
            self._finalizers[child] = child.run_finalizers
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
                await self.run_finalizers(exit_)
        else:
            self._mark_closed()

    async def run_finalizers(self, exit_: Exit[Any, Any] = _FINE) -> None:
        """Close this scope as ``close`` does, but without a shield, for callers that are shielded already."""
        if self.is_closed:
            return
        self._mark_closed()
        failures: list[BaseException] = []
        while self._finalizers:
            _, finalizer = self._finalizers.popitem()
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


def _raise(failures: list[BaseException]) -> None:
    for failure in failures:
        if not isinstance(failure, Exception):
            raise failure  # raise an interruption itself, or the event loop does not recognize it
    if len(failures) == 1:
        raise failures[0]
    if failures:
        raise BaseExceptionGroup("finalizers failed", failures)
