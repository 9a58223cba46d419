"""``MemoMap``: the layers that are already built, and who uses them."""

# ruff: noqa: SLF001  a map reads the entries of its parents

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, final
from weakref import WeakKeyDictionary

from chatmemory.effect.layers.shape import Leaf, Replace, Services
from chatmemory.effect.outcome import Exit, exit_from_exception
from chatmemory.effect.scope import Relay, Scope

if TYPE_CHECKING:
    import anyio

    from chatmemory.effect.layers.hosting import Stay

__all__ = ["Entry", "MemoMap"]


@final
class MemoMap:
    """Built leaves by identity; each is kept until its last user is gone.

    Runtimes with the same map share their layers.
    """

    __slots__ = ("_apart", "_entries", "_parent")

    def __init__(self, *, parent: MemoMap | None = None) -> None:
        self._apart: WeakKeyDictionary[Leaf | Replace, MemoMap] | None = None
        self._entries: dict[Leaf, Entry] = {}
        self._parent = parent

    def fork(self) -> MemoMap:
        """Return a map that also uses the leaves of this one, but does not add the leaves that it builds to this one."""
        return MemoMap(parent=self)

    def apart(self, change: Leaf | Replace) -> MemoMap:
        """Return the map for the layers that are built differently because of *change*, a replacement or a wrapped leaf."""
        if self._apart is None:
            self._apart = WeakKeyDictionary()
        apart = self._apart.get(change)
        if apart is None:
            apart = MemoMap(parent=None if self._parent is None else self._parent.apart(change))
            self._apart[change] = apart
        return apart

    async def observe(self, leaf: Leaf, scope: Scope) -> Entry:
        """Return the entry of *leaf*, which stays in use until *scope* is closed."""
        owner: MemoMap | None = self
        while owner is not None:
            if (entry := owner._entries.get(leaf)) is not None:
                break
            owner = owner._parent
        else:
            owner, entry = self, Entry()
            self._entries[leaf] = entry
        entry.observers += 1
        await scope.add(_Lease(owner._entries, leaf, entry))
        return entry

    def claim(self, leaf: Leaf, scope: Scope) -> Entry | None:
        """Return a new entry of *leaf*, which the caller has to build; None if one exists, or *scope* is closed already."""
        owner: MemoMap | None = self
        while owner is not None:
            if leaf in owner._entries:
                return None
            owner = owner._parent
        if scope.is_closed:
            return None
        entry = self._entries[leaf] = Entry()
        entry.is_being_made = True
        entry.observers = 1
        scope.put(_Lease(self._entries, leaf, entry))
        return entry


@final
class _Lease(Relay):
    """A finalizer that ends the use of an entry by one user; after the last user it ends the entry."""

    __slots__ = ("_entries", "_entry", "_leaf")

    def __init__(self, entries: dict[Leaf, Entry], leaf: Leaf, entry: Entry) -> None:
        self._entries = entries
        self._leaf = leaf
        self._entry = entry

    def __call__(self, exit_: Exit[Any, Any]) -> Awaitable[None] | None:
        """End this use, and end the entry if it has no other users."""
        return self._entry.end(exit_) if self._leave() else None

    def is_ready(self) -> bool:
        """Return whether the entry is a resource that is open in a task of its own."""
        return self._entry.stay is not None

    def begin(self, then: Callable[[Exception | None], None]) -> bool:
        """End this use; if the resource has no other users, end it and let its task call *then*."""
        stay = self._entry.stay
        return self._leave() and stay is not None and stay.begin_to_end(then)

    def _leave(self) -> bool:
        self._entry.observers -= 1
        if self._entry.observers:
            return False
        del self._entries[self._leaf]
        return True


@final
class Entry:
    """One leaf that is being built or is built.

    Attributes:
        observers: the number of users.
        stay: releases the leaf, if a crew has opened it; otherwise None, and a scope of the entry releases it.
        is_being_made: whether the leaf is being built.
    """

    __slots__ = ("_failure", "_scope", "_services", "_turn", "is_being_made", "observers", "stay")

    def __init__(self) -> None:
        self.observers = 0
        self._scope: Scope | None = None  # most leaves have a stay
        self.stay: Stay | None = None
        self._services: Services | None = None
        self._failure: Exception | None = None
        self.is_being_made = False
        self._turn: anyio.Event | None = None  # created by the first task that waits: most leaves have none

    async def services(self, acquire: Callable[[Scope], Awaitable[Services]]) -> Services:
        """Return the services of the leaf: build it, or wait for the task that builds it.

        If the builder is cancelled, one of the tasks that wait builds it instead.
        """
        while self.is_being_made:
            import anyio

            self._turn = self._turn or anyio.Event()
            await self._turn.wait()
        if self._services is not None:
            return self._services
        if self._failure is not None:
            raise self._failure
        self.is_being_made = True
        self._scope = scope = Scope()
        try:
            services = await acquire(scope)
        except BaseException as exception:
            self._scope = None
            await scope.close(exit_from_exception(exception))
            self.settle(failure=exception if isinstance(exception, Exception) else None)
            raise
        self.settle(services)
        return services

    def end(self, exit_: Exit[Any, Any]) -> Awaitable[None] | None:
        """Release the leaf, in the shield of the scope that is being closed; None: there is nothing to release."""
        if self.stay is not None:
            return self.stay.end(exit_)
        return None if self._scope is None else self._scope.close_in_shield(exit_)

    def settle(self, services: Services | None = None, *, failure: Exception | None = None) -> None:
        """Give *services* or *failure* to the tasks that wait; with neither, one of them builds the leaf."""
        self._services = services
        self._failure = failure
        self.is_being_made = False
        if self._turn is not None:
            self._turn.set()
            self._turn = None
