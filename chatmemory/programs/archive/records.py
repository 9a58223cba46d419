"""The records of an export: one JSON object with a ``type`` per line, specified by ``schemas/export_record.schema.json``.

The first line names the format, and the last one holds the counts, which reveals a file that was cut off.  A conversation
is followed by its messages in the order of storage, and then by its branches.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Final, Literal, TypeAlias, cast, final, get_args

from attrs import frozen

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Success
from chatmemory.errors import DataValidationError, Problem
from chatmemory.input.choices import Role
from chatmemory.input.json_value import Json, JsonObject, readable
from chatmemory.input.structure import structure, unstructure
from chatmemory.longterm.memories import EarlierContent, Memory

VERSION: Final = 1
LONGEST_LINE: Final = 64 * 1024 * 1024
"""The longest line in bytes; the longest content has a quarter of it."""


@final
@frozen(kw_only=True)
class ExportHeader:
    """The first line of an export."""

    type: Literal["export"] = "export"
    format: Literal["chatmemory"] = "chatmemory"
    version: int = VERSION


@final
@frozen(kw_only=True)
class ConversationRecord:
    """The head of a conversation; its messages follow.

    Attributes:
        owner: the namespace that it belongs to; an empty user means that it has no owner.
        created_at: when its first message was stored; null for a branch, and for a conversation of one message, which
            ``updated_at`` dates.
        updated_at: when it last changed.
        forked_from: the conversation whose beginning it has; a "fork" line there says up to which message.
    """

    type: Literal["conversation"] = "conversation"
    id: str
    owner: Namespace
    created_at: datetime | None
    updated_at: datetime
    forked_from: str | None


@final
@frozen(kw_only=True)
class MessageRecord:
    """A message."""

    type: Literal["message"] = "message"
    conversation_id: str
    id: str
    role: Role
    content: str
    timestamp: datetime
    metadata: JsonObject | None


@final
@frozen(kw_only=True)
class DeletedRecord:
    """Messages at this position that a summary deleted; their ids stay known.

    Attributes:
        timestamp: the earliest of their times.
    """

    type: Literal["deleted"] = "deleted"
    conversation_id: str
    ids: tuple[str, ...]
    timestamp: datetime


@final
@frozen(kw_only=True)
class SummaryRecord:
    """A summary and the messages that it covers.

    Attributes:
        covers: the ids of the covered messages, in order.
        starts_at: the earliest time of the covered messages.
        skill_id: the skill that wrote the summary.
        messages_deleted: whether the covered messages were deleted.
        is_stale: whether it may repeat something that was forgotten.
        created_at: when it was stored.
    """

    type: Literal["summary"] = "summary"
    conversation_id: str
    id: str
    content: str
    timestamp: datetime
    metadata: JsonObject | None
    metadata_id: str
    covers: tuple[str, ...]
    starts_at: datetime
    ends_at: datetime
    skill_id: str
    messages_deleted: bool
    is_stale: bool
    created_at: datetime


@final
@frozen(kw_only=True)
class ForkRecord:
    """The point where a branch leaves the conversation.

    Attributes:
        id: the id of the branch.
        at: the id of the last message that the branch has from the conversation.
        owner: the namespace that the branch belongs to.
        created_at: when the branch was made.
    """

    type: Literal["fork"] = "fork"
    conversation_id: str
    id: str
    at: str
    owner: Namespace
    created_at: datetime


@final
@frozen(kw_only=True)
class MemoryRecord:
    """A memory, current or superseded.

    Attributes:
        earlier: its content before each correction, oldest first.
        dedup_key: hexadecimal; memories of one user and app with the same key are duplicates.
        vector: base64 of little-endian float32 in the embedding space that the memory names; null if not exported.
    """

    type: Literal["memory"] = "memory"
    memory: Memory
    earlier: tuple[EarlierContent, ...]
    dedup_key: str | None
    vector: str | None


@final
@frozen(kw_only=True)
class ItemIndex:
    """What an item is found by.

    Attributes:
        terms: the words of its text; null: no query finds it by words.
        model: the embedder of the vectors; "" without vectors.
        vectors: for each passage base64 of little-endian float32.
    """

    terms: str | None
    model: str
    vectors: tuple[str, ...]


@final
@frozen(kw_only=True)
class ItemRecord:
    """A document of an agent framework, without its earlier values.

    Attributes:
        index: what it is found by; null: the words of its key and its value.
    """

    type: Literal["item"] = "item"
    namespace: tuple[str, ...]
    key: str
    value: Json
    created_at: datetime
    updated_at: datetime
    index: ItemIndex | None = None


@final
@frozen(kw_only=True)
class ExportEnd:
    """The last line of an export: the counts."""

    type: Literal["end"] = "end"
    conversations: int = 0
    messages: int = 0
    memories: int = 0
    items: int = 0


Record: TypeAlias = (
    ExportHeader
    | ConversationRecord
    | MessageRecord
    | DeletedRecord
    | SummaryRecord
    | ForkRecord
    | MemoryRecord
    | ItemRecord
    | ExportEnd
)


@final
@frozen
class RejectedRecord:
    """A record that cannot be imported, with the *reason*."""

    reason: str


_KINDS: Final[Mapping[str, type[Record]]] = {
    kind.__annotations__["type"].__args__[0]: kind for kind in get_args(Record)
}


def line_of(record: Record) -> str:
    """Return *record* as a line without its newline; the value of an item may hold NaN, as Python writes it."""
    return readable(json.dumps(unstructure(record), ensure_ascii=False))


def records_in(lines: Iterable[bytes]) -> Iterator[Record | RejectedRecord | None]:
    """Yield the record of each line, or None for an empty line."""
    for line in lines:
        if len(line) > LONGEST_LINE:
            yield RejectedRecord("longer than 64 MiB")
        else:
            yield _record(line) if line.strip() else None


def _record(line: bytes) -> Record | RejectedRecord:
    try:
        data: object = json.loads(line)
    except (ValueError, RecursionError) as error:
        return _rejected(f"not JSON: {error}")
    if not isinstance(data, dict):
        return _rejected("not a JSON object")
    members = cast("dict[str, object]", data)
    kind = members.get("type")
    if not isinstance(kind, str) or kind not in _KINDS:
        return _rejected(f"not a record of an export: type must be one of {', '.join(_KINDS)}")
    read = structure(members, _KINDS[kind])
    return read.unwrap() if isinstance(read, Success) else RejectedRecord(str(read.failure()))


def _rejected(problem: str) -> RejectedRecord:
    return RejectedRecord(str(DataValidationError((Problem("$", problem),))))
