"""``put_checkpoint`` and ``put_writes``: the writes of the saver."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Literal, TypeAlias, final

from attrs import frozen

from chatmemory.integrations.langgraph.checkpoint_names import Line
from chatmemory.integrations.langgraph.checkpoint_requests import Asking, Change, View, Write
from chatmemory.integrations.langgraph.kept_checkpoints import (
    Head,
    KeptCheckpoint,
    KeptWrite,
    merged_writes,
    with_task,
)
from chatmemory.integrations.langgraph.retention import Retention
from chatmemory.integrations.langgraph.thread_changes import deleted_if_over, pruned_line, run_puts

Answer: TypeAlias = Literal["stored", "surplus", "incomplete", "over"]
"""Stored; stored with surplus checkpoints to remove; or not stored, because values are missing, or the thread has
expired."""


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
    """Store a checkpoint and the values that changed, in one transaction.

    Args:
        new: the checkpoint.
        retention: decides which older checkpoints are removed.
    """
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
    """Store the writes of a task.

    Args:
        line: the line of the checkpoint.
        checkpoint_id: the checkpoint at which it wrote.
        task_id: the task.
        writes: its writes.
    """
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
    head = Head(new.id, 1) if former is None else _after(Head.of(former), new.id)
    view.put(line.head, head.text())
    return "surplus" if retention.is_due(head.puts) else "stored"


def _after(head: Head, checkpoint_id: str) -> Head:
    return Head(max(head.id, checkpoint_id), head.puts + 1)
