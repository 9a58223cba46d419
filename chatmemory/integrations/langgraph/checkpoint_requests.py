"""``Line``: the names of the items of a saver; ``Request``: its requests to the items, which ``done_together`` runs.

An operation of the saver is a generator of requests, see ``Asking``: it runs with an event loop, where the requests
of many tasks share a transaction, or without one.  The items have these names:

    langgraphCheckpoints / thread / THREAD / NAMESPACE / head                    the newest checkpoint
                                                       / checkpoint / ID         the checkpoint, and the tasks that wrote
                                                       / checkpoint / ID / task  the writes of each task
                                                       / channel / CHANNEL       its values, by their versions
    langgraphCheckpoints / run / RUN                                             the checkpoints of a run

A channel whose version stays the same from one checkpoint to the next is stored once.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Final, TypeAlias, TypeVar, final

from attrs import define, field, frozen

from chatmemory.effect import Do, Effect
from chatmemory.effect.services.clock import ClockTag
from chatmemory.errors import RepositoryError
from chatmemory.integrations.labels import label_of, text_of
from chatmemory.items.item_repository import (
    ItemChange,
    ItemName,
    ItemPut,
    ItemRepositoryTag,
    Labels,
    StoredItem,
)

OWNER: Final = "langgraphCheckpoints"
"""The first label, see ``Labels``."""

THREADS: Final[Labels] = (OWNER, "thread")
RUNS: Final[Labels] = (OWNER, "run")

_HEAD, _CHECKPOINT, _TASK, _CHANNEL = "head", "checkpoint", "task", "channel"
_DEPTH: Final = 6  # of the namespace of a checkpoint
A = TypeVar("A")


@final
@frozen
class Line:
    """The checkpoints of one namespace of a thread: of the graph itself (``""``), or of a subgraph."""

    thread_id: str
    checkpoint_ns: str

    @property
    def labels(self) -> Labels:
        """The namespace of its items."""
        return (*thread_labels(self.thread_id), label_of(self.checkpoint_ns))

    @property
    def head(self) -> ItemName:
        """The name of the item with the head: the newest checkpoint."""
        return ItemName((*self.labels, _HEAD), _HEAD)

    @property
    def checkpoints(self) -> Labels:
        """The namespace of its checkpoints and of the writes of tasks."""
        return (*self.labels, _CHECKPOINT)

    def checkpoint(self, checkpoint_id: str) -> ItemName:
        """Return the name of a checkpoint."""
        return ItemName((*self.checkpoints, label_of(checkpoint_id)), _CHECKPOINT)

    def tasks(self, checkpoint_id: str) -> ItemName:
        """Return the name of the list of tasks that wrote at a checkpoint."""
        return ItemName((*self.checkpoints, label_of(checkpoint_id)), _TASK)

    def task(self, checkpoint_id: str, task_id: str) -> ItemName:
        """Return the name of the writes of a task at a checkpoint."""
        return ItemName((*self.checkpoints, label_of(checkpoint_id), _TASK), label_of(task_id))

    def value(self, channel: str, version: str) -> ItemName:
        """Return the name of the value of a channel."""
        return ItemName((*self.labels, _CHANNEL, label_of(channel)), label_of(version))


def thread_labels(thread_id: str) -> Labels:
    """Return the namespace of all items of a thread."""
    return (*THREADS, label_of(thread_id))


def run_labels(run_id: str) -> Labels:
    """Return the namespace of the items of a run."""
    return (*RUNS, label_of(run_id))


def line_of(labels: Labels) -> Line:
    """Return the line that an item with these *labels* belongs to."""
    return Line(text_of(labels[2]), text_of(labels[3]))


def checkpoint_id_of(labels: Labels) -> str:
    """Return the checkpoint that an item in ``Line.checkpoints`` belongs to."""
    return text_of(labels[_DEPTH - 1])


def is_checkpoint(name: ItemName) -> bool:
    """Return whether *name* is the name of a checkpoint, and not of the writes of a task."""
    return len(name.namespace) == _DEPTH and name.key == _CHECKPOINT


def is_head(labels: Labels) -> bool:
    """Return whether *labels* are the namespace of a head."""
    return labels[len(Line("", "").labels) :] == (_HEAD,)


def placed(namespaces: Iterable[Labels]) -> set[tuple[str, Line]]:
    """Return the checkpoints in *namespaces* below ``THREADS``; some of them may be deleted already."""
    return {
        (checkpoint_id_of(labels), line_of(labels))
        for labels in namespaces
        if len(labels) >= _DEPTH and labels[_DEPTH - 2] == _CHECKPOINT
    }


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
class CurrentTime:
    """Return the present time, UTC."""


Request: TypeAlias = Read | Write | Change | Namespaces | CurrentTime

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
            case CurrentTime():
                answers.append(now)
    return answers


def _names(requests: Iterable[Read | Write]) -> tuple[ItemName, ...]:
    return tuple(dict.fromkeys([name for request in requests for name in request.names]))


def _written(writes: Sequence[Write], now: datetime) -> ItemChange[list[Any]]:
    names = _names(writes)
    view = View(now, dict(zip(names, (yield names), strict=True)))
    answers = [write.decide(view) for write in writes]
    return view.puts(), answers
