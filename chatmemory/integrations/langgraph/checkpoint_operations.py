"""``checkpoint_at``, ``newest_checkpoint``, ``places``: reads of the saver; ``put_checkpoint``, ``put_writes``: writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, Literal, TypeAlias, final

from attrs import frozen
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.serde.base import SerializerProtocol

from chatmemory.integrations.langgraph.checkpoint_requests import (
    THREADS,
    Asking,
    Change,
    CurrentTime,
    Line,
    Namespaces,
    Read,
    View,
    Write,
    placed,
    thread_labels,
)
from chatmemory.integrations.langgraph.kept_checkpoints import (
    KeptCheckpoint,
    KeptWrite,
    LineHead,
    Retention,
    merged_writes,
    pending_writes,
    task_ids,
    unpacked,
    unpacked_text,
    with_task,
)
from chatmemory.integrations.langgraph.thread_changes import deleted_if_over, pruned_line, run_puts
from chatmemory.items.item_repository import ItemName, StoredItem

Place: TypeAlias = tuple[str, Line]
"""The id and the line of a checkpoint."""

Found: TypeAlias = dict[ItemName, StoredItem | None]

ATTEMPTS: Final = 3  # another program may remove a checkpoint while this one reads it

Answer: TypeAlias = Literal["stored", "surplus", "incomplete", "over"]
"""Stored; stored with surplus checkpoints to remove; or not stored, because values are missing, or the thread has
expired."""


def newest_checkpoint(
    line: Line, serde: SerializerProtocol, retention: Retention
) -> Asking[CheckpointTuple | None]:
    """Return the newest checkpoint of a line; None when there is none."""
    (head,) = yield Read((line.head,))
    if head is None:
        return None
    return (yield from checkpoint_at((LineHead.of(head.value).id, line), serde, retention))


def checkpoint_at(
    place: Place, serde: SerializerProtocol, retention: Retention
) -> Asking[CheckpointTuple | None]:
    """Return the checkpoint at *place*; None when there is none."""
    found = yield from checkpoints_at([place], serde, retention, {})
    return found[0] if found else None


def places(thread_id: str | None, checkpoint_ns: str | None, before: str | None) -> Asking[list[Place]]:
    """Return the places of checkpoints of a thread and a subgraph (None: of all) before *before*, newest first; some may be deleted already."""
    prefix = THREADS
    if thread_id is not None:
        prefix = thread_labels(thread_id)
        if checkpoint_ns is not None:
            prefix = Line(thread_id, checkpoint_ns).checkpoints
    found = placed((yield Namespaces(prefix)))
    wanted = [
        (checkpoint_id, line)
        for checkpoint_id, line in found
        if (before is None or checkpoint_id < before)
        and (checkpoint_ns is None or line.checkpoint_ns == checkpoint_ns)
    ]
    return sorted(
        wanted, key=lambda place: (place[0], place[1].thread_id, place[1].checkpoint_ns), reverse=True
    )


def checkpoints_at(
    wanted: Sequence[Place], serde: SerializerProtocol, retention: Retention, asked: Mapping[str, Any]
) -> Asking[list[CheckpointTuple]]:
    """Return the existing checkpoints at *wanted* whose metadata has the values *asked*, in order.

    Raises:
        RuntimeError: the values of a checkpoint are missing.
    """
    for _ in range(ATTEMPTS):
        found = yield from _read(wanted, retention)
        kept = {
            place: KeptCheckpoint.of(item.value)
            for place in wanted
            if (item := found.get(place[1].checkpoint(place[0]))) is not None
        }
        metadata = {place: unpacked(serde, each.metadata) for place, each in kept.items()}
        kept = {place: each for place, each in kept.items() if _fits(metadata[place], asked)}
        names: list[ItemName] = []
        tasks = {place: _tasks(found[place[1].tasks(place[0])]) for place in kept}
        for (checkpoint_id, line), each in kept.items():
            names += [*each.values(line)]
            names += [line.task(checkpoint_id, task_id) for task_id in tasks[checkpoint_id, line]]
        items: Found = dict(zip(names, (yield Read(tuple(names))) if names else (), strict=True))
        if None not in items.values():
            texts = {name: item.value for name, item in items.items() if item is not None}
            return [_tuple(place, kept[place], metadata[place], tasks[place], texts, serde) for place in kept]
    lines = {line.thread_id for _, line in wanted}
    msg = f"values of checkpoints of the threads {sorted(lines)} are missing in this memory"
    raise RuntimeError(msg)


def _read(wanted: Sequence[Place], retention: Retention) -> Asking[Found]:
    names: list[ItemName] = []
    for checkpoint_id, line in wanted:
        names += [line.checkpoint(checkpoint_id), line.tasks(checkpoint_id)]
    if retention.thread_ttl is None:
        return dict(zip(names, (yield Read(tuple(names))), strict=True))
    now = yield CurrentTime()
    roots = {line.thread_id: Line(line.thread_id, "").head for _, line in wanted}
    everything = (*names, *roots.values())
    found: Found = dict(zip(everything, (yield Read(everything)), strict=True))
    for checkpoint_id, line in wanted:
        root = found[roots[line.thread_id]]
        if root is not None and retention.is_over(root.updated_at, now):
            found[line.checkpoint(checkpoint_id)] = None
    return found


def _tasks(item: StoredItem | None) -> list[str]:
    return task_ids(None if item is None else item.value)


def _fits(metadata: Mapping[str, Any], asked: Mapping[str, Any]) -> bool:
    return all(metadata.get(name) == value for name, value in asked.items())


def _tuple(
    place: Place,
    kept: KeptCheckpoint,
    metadata: Any,
    tasks: Sequence[str],
    texts: Mapping[ItemName, str],
    serde: SerializerProtocol,
) -> CheckpointTuple:
    checkpoint_id, line = place
    checkpoint = unpacked(serde, kept.checkpoint)
    checkpoint["channel_values"] = {
        channel: unpacked_text(serde, texts[line.value(channel, version)])
        for channel, version in kept.held.items()
    }
    return CheckpointTuple(
        config_of(line, checkpoint_id),
        checkpoint,
        metadata,
        None if kept.parent is None else config_of(line, kept.parent),
        pending_writes(serde, {task: texts[line.task(checkpoint_id, task)] for task in tasks}),
    )


def config_of(line: Line, checkpoint_id: str) -> Any:
    """Return the ``RunnableConfig`` that names a checkpoint."""
    return {
        "configurable": {
            "thread_id": line.thread_id,
            "checkpoint_ns": line.checkpoint_ns,
            "checkpoint_id": checkpoint_id,
        }
    }


@final
@frozen
class NewCheckpoint:
    """A checkpoint to store.

    Attributes:
        values: the values of the channels with a new version, as JSON, or of all channels that have a value.
        all_values: returns the JSON of all of them, for a checkpoint whose parent does not exist.
    """

    line: Line
    id: str
    kept: KeptCheckpoint
    values: Mapping[str, str]
    all_values: Callable[[], Mapping[str, str]]


def put_checkpoint(new: NewCheckpoint, retention: Retention) -> Asking[None]:
    """Store a checkpoint and the values that changed, in one transaction."""
    line, parent = new.line, new.kept.parent
    root = Line(line.thread_id, "").head
    names = (line.head, *(() if parent is None else (line.checkpoint(parent),)))
    names = (*names, *(() if retention.thread_ttl is None or root in names else (root,)))
    values = new.values
    while True:
        answer: Answer = yield Write(names, partial(_put, new, values, retention))
        if answer == "stored":
            return
        if answer == "surplus":
            yield Change(partial(pruned_line, line, retention))
            return
        if answer == "incomplete":
            values = new.all_values()
        else:
            yield Change(partial(deleted_if_over, line.thread_id, retention))


def put_writes(line: Line, checkpoint_id: str, task_id: str, writes: Sequence[KeptWrite]) -> Asking[None]:
    """Store the writes of a task."""
    tasks, task = line.tasks(checkpoint_id), line.task(checkpoint_id, task_id)

    def decide(view: View) -> None:
        if (listed := with_task(view.value(tasks), task_id)) is not None:
            view.put(tasks, listed)
        view.put(task, merged_writes(view.value(task), writes))

    yield Write((tasks, task), decide)


def _put(new: NewCheckpoint, values: Mapping[str, str], retention: Retention, view: View) -> Answer:
    line, kept = new.line, new.kept
    if retention.thread_ttl is not None:
        last_put_at = view.put_at(Line(line.thread_id, "").head)
        if last_put_at is not None and retention.is_over(last_put_at, view.now):
            return "over"
    before = None if kept.parent is None else view.value(line.checkpoint(kept.parent))
    known: Mapping[str, str] = {} if before is None else KeptCheckpoint.of(before).held
    missing = [channel for channel, version in kept.held.items() if known.get(channel) != version]
    if not values.keys() >= set(missing):
        return "incomplete"
    for channel in values:
        view.put(line.value(channel, kept.held[channel]), values[channel])
    view.put(line.checkpoint(new.id), kept.text())
    for put in run_puts(line, new.id, kept):
        view.put(put.name, put.value or "")
    former = view.value(line.head)
    head = LineHead("", 0) if former is None else LineHead.of(former)
    head = LineHead(max(head.id, new.id), head.puts + 1)
    view.put(line.head, head.text())
    return "surplus" if retention.is_due(head.puts) else "stored"
