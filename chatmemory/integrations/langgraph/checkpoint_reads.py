"""``checkpoint_at``, ``newest_checkpoint`` and ``places``: the reads of the saver."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.serde.base import SerializerProtocol

from chatmemory.integrations.langgraph.checkpoint_names import THREADS, Line, placed, thread_labels
from chatmemory.integrations.langgraph.checkpoint_requests import Asking, Namespaces, Now, Read
from chatmemory.integrations.langgraph.kept_checkpoints import (
    Head,
    KeptCheckpoint,
    pending_writes,
    task_ids,
    unpacked,
    unpacked_text,
)
from chatmemory.integrations.langgraph.retention import Retention
from chatmemory.items.item_repository import ItemName, StoredItem

Place: TypeAlias = tuple[str, Line]
"""The id and the line of a checkpoint."""

Found: TypeAlias = dict[ItemName, StoredItem | None]

ATTEMPTS: Final = 3  # another program may remove a checkpoint while this one reads it


def newest_checkpoint(
    line: Line, serde: SerializerProtocol, retention: Retention
) -> Asking[CheckpointTuple | None]:
    """Return the newest checkpoint of a line; None when there is none.

    Args:
        line: the line.
        serde: reads the values.
        retention: decides which threads have expired.
    """
    (head,) = yield Read((line.head,))
    if head is None:
        return None
    return (yield from checkpoint_at((Head.of(head.value).id, line), serde, retention))


def checkpoint_at(
    place: Place, serde: SerializerProtocol, retention: Retention
) -> Asking[CheckpointTuple | None]:
    """Return the checkpoint at *place*; None when there is none.

    Args:
        place: its id and its line.
        serde: reads the values.
        retention: decides which threads have expired.
    """
    found = yield from checkpoints_at([place], serde, retention, {})
    return found[0] if found else None


def places(thread_id: str | None, checkpoint_ns: str | None, before: str | None) -> Asking[list[Place]]:
    """Return the places of checkpoints, newest first; some of them may be deleted already.

    Args:
        thread_id: only of this thread; None: of all threads.
        checkpoint_ns: only of this subgraph; None: of all subgraphs.
        before: checkpoints before this one; None: from the newest one.
    """
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
    """Return the existing checkpoints at *wanted*, in order.

    Args:
        wanted: their places.
        serde: reads the values.
        retention: decides which threads have expired.
        asked: values that their metadata must have; ``{}``: any.

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
    now = yield Now()
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
    return all(name in metadata and metadata[name] == value for name, value in asked.items())


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
    """Return the ``RunnableConfig`` that names a checkpoint.

    Args:
        line: its line.
        checkpoint_id: its id.
    """
    return {
        "configurable": {
            "thread_id": line.thread_id,
            "checkpoint_ns": line.checkpoint_ns,
            "checkpoint_id": checkpoint_id,
        }
    }
