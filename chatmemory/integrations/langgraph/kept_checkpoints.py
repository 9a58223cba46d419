"""``KeptCheckpoint``, ``KeptWrite`` and ``LineHead``: the JSON of items of the saver; ``Retention``: which checkpoints are kept.

Values are bytes of the saver's serializer, which may encrypt them; ids, versions and the names of channels are
readable.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, TypeAlias, final

from attrs import asdict, field, frozen
from langgraph.checkpoint.base import WRITES_IDX_MAP, PendingWrite, writes_sort_key
from langgraph.checkpoint.serde.base import SerializerProtocol

from chatmemory.integrations.langgraph.checkpoint_requests import Line
from chatmemory.items.item_repository import ItemName

EVERY_PUTS: Final = 64
"""Without a limit on their number, checkpoints that are too old are removed after every this many puts."""

Packed: TypeAlias = Sequence[str]
"""The type that the serializer returned, and its bytes in base64."""

KeptWrite: TypeAlias = Sequence[Any]
"""Index, path of the task, channel, and the two parts of the packed value."""

# json.dumps would make an encoder for each value.
_json: Final = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode


@final
@frozen
class KeptCheckpoint:
    """A checkpoint without the values of its channels.

    Attributes:
        parent: the checkpoint before it.
        held: the channels that have a value, with its version.
        rebuilt: the channels whose value is rebuilt from the writes of tasks at earlier checkpoints
            (``DeltaChannel``).
        run: the run that made it.
    """

    checkpoint: Packed
    metadata: Packed
    parent: str | None
    held: Mapping[str, str]
    rebuilt: Sequence[str] = ()
    run: str | None = None

    def text(self) -> str:
        """Return the checkpoint as JSON."""
        return _json(asdict(self, recurse=False))

    @staticmethod
    def of(text: str) -> KeptCheckpoint:
        """Return the checkpoint in the JSON *text*."""
        return KeptCheckpoint(**json.loads(text))

    def values(self, line: Line) -> set[ItemName]:
        """Return the names of the values of its channels."""
        return {line.value(channel, version) for channel, version in self.held.items()}


@final
@frozen
class LineHead:
    """The newest checkpoint of a line, and the number of puts since surplus ones were last removed."""

    id: str
    puts: int

    def text(self) -> str:
        """Return the head as JSON."""
        return _json([self.id, self.puts])

    @staticmethod
    def of(text: str) -> LineHead:
        """Return the head in the JSON *text*."""
        return LineHead(*json.loads(text))


def packed(serde: SerializerProtocol, value: Any) -> Packed:
    """Return *value* as *serde* writes it."""
    kind, content = serde.dumps_typed(value)
    return kind, b64encode(content).decode()


def unpacked(serde: SerializerProtocol, value: Packed) -> Any:
    """Return the value from which ``packed`` made *value*."""
    kind, content = value
    return serde.loads_typed((kind, b64decode(content)))


def packed_text(serde: SerializerProtocol, value: Any) -> str:
    """Return the value of a channel as JSON."""
    return _json(packed(serde, value))


def unpacked_text(serde: SerializerProtocol, text: str) -> Any:
    """Return the value from which ``packed_text`` made *text*."""
    return unpacked(serde, json.loads(text))


def kept_writes(
    serde: SerializerProtocol, writes: Sequence[tuple[str, Any]], task_path: str
) -> list[KeptWrite]:
    """Return the stored form of the writes of a task."""
    return [
        (WRITES_IDX_MAP.get(channel, index), task_path, channel, *packed(serde, value))
        for index, (channel, value) in enumerate(writes)
    ]


def merged_writes(before: str | None, new: Sequence[KeptWrite]) -> str:
    """Return all writes of a task so far, *before* in JSON (None: nothing) and then *new*, as JSON; a repeated write is ignored, except for errors and interrupts."""
    kept: dict[int, KeptWrite] = {} if before is None else {write[0]: write for write in json.loads(before)}
    for write in new:
        if write[0] < 0 or write[0] not in kept:
            kept[write[0]] = write
    return _json([*kept.values()])


def pending_writes(serde: SerializerProtocol, tasks: Mapping[str, str]) -> list[PendingWrite]:
    """Return the writes of *tasks*, ids and JSON, in the order in which a run applies them."""
    writes = [(task_id, write) for task_id, text in tasks.items() for write in json.loads(text)]
    writes.sort(key=lambda each: writes_sort_key(each[1][1], each[0], each[1][0]))
    return [(task_id, write[2], unpacked(serde, write[3:])) for task_id, write in writes]


def task_ids(text: str | None) -> list[str]:
    """Return the tasks that wrote at a checkpoint."""
    return [] if text is None else json.loads(text)


def with_task(text: str | None, task_id: str) -> str | None:
    """Return the list of tasks, *text* in JSON (None: empty), with one more; None when the task is in the list."""
    known = task_ids(text)
    return None if task_id in known else _json([*known, task_id])


def place_of(name: Line, checkpoint_id: str) -> str:
    """Return the key under which a run stores one of its checkpoints."""
    return json.dumps([name.thread_id, name.checkpoint_ns, checkpoint_id], ensure_ascii=False)


def place_from(key: str) -> tuple[Line, str]:
    """Return the line and the id from which ``place_of`` made *key*."""
    thread_id, checkpoint_ns, checkpoint_id = json.loads(key)
    return Line(thread_id, checkpoint_ns), checkpoint_id


def _is_at_least_1(_: object, __: object, value: int | None) -> None:
    if value is not None and value < 1:
        msg = f"keep_last is the number of checkpoints that stay, 1 or more, not {value}"
        raise ValueError(msg)


def _is_above_0(_: object, attribute: object, value: timedelta | None) -> None:
    if value is not None and value <= timedelta():
        msg = f"{getattr(attribute, 'name', 'a span')} is a time above 0, not {value}"
        raise ValueError(msg)


@final
@frozen
class Retention:
    """How long checkpoints are kept.  The newest one of the graph, and of each subgraph, is kept as long as its thread.

    A checkpoint with writes from which a newer one is rebuilt (``DeltaChannel``) is kept with that one.

    Attributes:
        keep_last: the number of checkpoints of the graph, and of each subgraph, that are kept; for a while there may
            be up to twice as many.  None: any number.
        keep_for: how long a checkpoint is kept after it was put; None: forever.
        thread_ttl: how long a thread is kept after the last checkpoint of its graph was put; then it is gone at once,
            and ``sweep`` removes its rows.  None: forever.
    """

    keep_last: int | None = field(default=None, validator=_is_at_least_1)
    keep_for: timedelta | None = field(default=None, validator=_is_above_0)
    thread_ttl: timedelta | None = field(default=None, validator=_is_above_0)

    @property
    def bounds_lines(self) -> bool:
        """Whether checkpoints may be removed while their thread is kept."""
        return self.keep_last is not None or self.keep_for is not None

    def is_due(self, puts: int) -> bool:
        """Return whether surplus checkpoints are to be removed after this many *puts*."""
        return self.bounds_lines and puts >= (self.keep_last or EVERY_PUTS)

    def is_over(self, last_put_at: datetime, now: datetime) -> bool:
        """Return whether a thread has expired, by when the last checkpoint of its graph was put."""
        return self.thread_ttl is not None and last_put_at + self.thread_ttl <= now

    def surplus(self, kept: Mapping[str, tuple[KeptCheckpoint, datetime]], now: datetime) -> set[str]:
        """Return the ids of the checkpoints of a line to remove; *kept*: all of them by their ids, and when they were put."""
        ids = sorted(kept, reverse=True)
        staying = ids if self.keep_last is None else ids[: self.keep_last]
        if self.keep_for is not None:
            begin = now - self.keep_for
            staying = [each for place, each in enumerate(staying) if place == 0 or kept[each][1] > begin]
        needed = set(staying)
        for each in staying:
            needed |= _ancestors(each, {id_: checkpoint for id_, (checkpoint, _) in kept.items()})
        return set(ids) - needed


def _ancestors(checkpoint_id: str, kept: Mapping[str, KeptCheckpoint]) -> set[str]:
    """Return the ids of the checkpoints before *checkpoint_id* from which the values of its channels are rebuilt."""
    found: set[str] = set()
    missing = {channel for channel in kept[checkpoint_id].rebuilt if channel not in kept[checkpoint_id].held}
    before = kept[checkpoint_id].parent
    while missing and before is not None and before in kept and before not in found:
        found.add(before)
        missing -= kept[before].held.keys()
        before = kept[before].parent
    return found
