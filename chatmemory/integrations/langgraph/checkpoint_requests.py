"""The requests of a saver to the items, and ``done_together``, which runs a group of them.

An operation of the saver is a generator of requests, see ``Asking``: it runs with an event loop, where the requests
of many tasks share a transaction, or without one.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from datetime import datetime
from functools import partial
from typing import Any, TypeAlias, TypeVar, final

from attrs import define, field, frozen

from chatmemory.effect import Do, Effect
from chatmemory.effect.services.clock import ClockTag
from chatmemory.errors import RepositoryError
from chatmemory.items.item_repository import (
    ItemChange,
    ItemName,
    ItemPut,
    ItemRepositoryTag,
    Labels,
    StoredItem,
)

A = TypeVar("A")


@final
@define
class View:
    """The items that a group of writes has read, with the puts of earlier writes of the group.

    Attributes:
        now: the time of the write, UTC.
    """

    now: datetime
    _found: dict[ItemName, StoredItem | None]
    _put: dict[ItemName, str] = field(factory=dict[ItemName, str], init=False)

    def value(self, name: ItemName) -> str | None:
        """Return the value of an item; None when it does not exist."""
        if name in self._put:
            return self._put[name]
        item = self._found[name]
        return None if item is None else item.value

    def put_at(self, name: ItemName) -> datetime | None:
        """Return when an item was put; None when it does not exist."""
        if name in self._put:
            return self.now
        item = self._found[name]
        return None if item is None else item.updated_at

    def put(self, name: ItemName, value: str) -> None:
        """Add the put of an item."""
        self._put[name] = value

    def puts(self) -> tuple[ItemPut, ...]:
        """Return all puts."""
        return tuple([ItemPut(name, value) for name, value in self._put.items()])


@final
@frozen
class Read:
    """Return the items with these names."""

    names: tuple[ItemName, ...]


@final
@frozen
class Write:
    """Read the items with these names, run *decide*, store its puts, and return its answer.

    *decide* must not raise, because the writes of others are stored together with it.
    """

    names: tuple[ItemName, ...]
    decide: Callable[[View], Any]


@final
@frozen
class Change:
    """Run *steps* in a separate transaction; they receive the present time."""

    steps: Callable[[datetime], ItemChange[Any]]


@final
@frozen
class Namespaces:
    """Return the namespaces below *prefix*."""

    prefix: Labels


@final
@frozen
class Now:
    """Return the present time, UTC."""


Request: TypeAlias = Read | Write | Change | Namespaces | Now

Asking: TypeAlias = Generator[Request, Any, A]
"""An operation: it yields requests, receives their answers, and returns its result."""


@Effect.gen
async def done_together(do: Do[RepositoryError, ItemRepositoryTag], requests: Sequence[Request]) -> list[Any]:
    """Run all reads together, then all writes together, and the other requests one by one; return an answer for each."""
    items, now = do.service(ItemRepositoryTag), do.service(ClockTag).now()
    found: dict[ItemName, StoredItem | None] = {}
    if names := _names(request for request in requests if type(request) is Read):
        found = dict(zip(names, await do(items.read(names, now=now)), strict=True))
    writes = [request for request in requests if type(request) is Write]
    written = iter(await do(items.change(partial(_written, writes, now), now=now)) if writes else ())
    answers: list[Any] = []
    for request in requests:
        match request:
            case Read(names):
                answers.append([found[name] for name in names])
            case Write():
                answers.append(next(written))
            case Change(steps):
                answers.append(await do(items.change(partial(steps, now), now=now)))
            case Namespaces(prefix):
                answers.append(await do(items.namespaces(prefix, now=now)))
            case Now():
                answers.append(now)
    return answers


def _names(requests: Iterable[Read | Write]) -> tuple[ItemName, ...]:
    return tuple(dict.fromkeys([name for request in requests for name in request.names]))


def _written(writes: Sequence[Write], now: datetime) -> ItemChange[list[Any]]:
    names = _names(writes)
    view = View(now, dict(zip(names, (yield names), strict=True)))
    answers = [write.decide(view) for write in writes]
    return view.puts(), answers
