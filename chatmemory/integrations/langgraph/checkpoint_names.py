"""The names of the items that store the checkpoints of LangGraph.

    langgraphCheckpoints / thread / THREAD / NAMESPACE / head                    the newest checkpoint
                                                       / checkpoint / ID         the checkpoint, and the tasks that wrote
                                                       / checkpoint / ID / task  the writes of each task
                                                       / channel / CHANNEL       its values, by their versions
    langgraphCheckpoints / run / RUN                                             the checkpoints of a run

A channel whose version stays the same from one checkpoint to the next is stored once.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, final

from attrs import frozen

from chatmemory.integrations.labels import label_of, text_of
from chatmemory.items.item_repository import ItemName, Labels

OWNER: Final = "langgraphCheckpoints"
"""The first label, see ``Labels``."""

THREADS: Final[Labels] = (OWNER, "thread")
RUNS: Final[Labels] = (OWNER, "run")

_HEAD, _CHECKPOINT, _TASK, _CHANNEL = "head", "checkpoint", "task", "channel"
_DEPTH: Final = 6  # of the namespace of a checkpoint


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
        """Return the name of the writes of a task at a checkpoint.

        Args:
            checkpoint_id: the checkpoint.
            task_id: the task.
        """
        return ItemName((*self.checkpoints, label_of(checkpoint_id), _TASK), label_of(task_id))

    def value(self, channel: str, version: str) -> ItemName:
        """Return the name of the value of a channel.

        Args:
            channel: the channel.
            version: the version of its value.
        """
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
