"""``listed_messages``: finds and reads lists of messages in JSON: bare, in an object, in a list of objects, or one per line.

Formats that are only a list of messages share this walk; each format defines its messages itself.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias, final

from attrs import frozen

from chatmemory.input.json_value import EMPTY, Json, JsonObject, json_items, json_object
from chatmemory.pastchats.formats.histories import HistoryIssue
from chatmemory.pastchats.formats.history_format import Head, HistoryReader
from chatmemory.pastchats.formats.reading.history_head import read_head
from chatmemory.pastchats.formats.reading.json_lines import json_lines
from chatmemory.pastchats.formats.reading.json_walk import ANY, END, Walked, WalkPath, walk

Pattern: TypeAlias = tuple[str, ...]
"""The path of the lists of messages in a document, in the form that ``walk`` takes."""

IsMessage: TypeAlias = Callable[[Json], bool]

ID_FIELDS: Final = (
    *("conversation_id", "conversationId", "conv_id", "session_id", "sessionId", "thread_id", "threadId"),
    *(
        "chat_id",
        "chatId",
        "dialog_id",
        "dialogue_id",
        "custom_id",
        "conversation_hash",
        "prompt_id",
        "uuid",
        "id",
    ),
)
"""The names of the id of a conversation, the most reliable first."""

_NOTED: Final = frozenset(
    {
        *ID_FIELDS,
        *("title", "name", "topic", "model", "model_name", "source", "category", "language", "lang"),
        *("created_at", "createdAt", "create_time", "timestamp", "date", "system", "system_prompt"),
    }
)
_MAX_NOTED_CHARACTERS: Final = 100_000
_MAX_DEPTH: Final = 3
_TRIED: Final = 10
"""The number of members of a container that are examined, because the first conversations may be empty."""


@final
@frozen
class Holder:
    """The object or file that holds a list of messages; *fields* are its other members, without containers.

    *place* is the position in the file, ``#L3`` or ``#3``; "" for the whole file.
    """

    place: str
    fields: JsonObject

    def conversation_id(self, format_name: str, path: str) -> str:
        """Return the id under which the conversation is stored: the id in the history, or its place.

        A plain number counts rows, so it is unique only within the file and is ignored.
        """
        for name in ID_FIELDS:
            value = self.fields.get(name)
            if isinstance(value, str) and value.strip() and not value.strip().isdecimal():
                return f"{format_name}:{value.strip()}"
        return f"{format_name}:{path}{self.place}"


def pattern_of(
    document: Json, keys: Sequence[str], is_message: IsMessage, *, depth: int = 0
) -> Pattern | None:
    """Return the path of the first list of messages in *document*; None when there is none.

    *keys* are the names of such lists, the most reliable first; under other names, the path has ``ANY``.
    """
    if isinstance(document, list):
        members = json_items(document)[:_TRIED]
        if any(isinstance(member, dict) and is_message(member) for member in members):
            return ()
        below = _first_below(members, keys, is_message, depth=depth)
        return None if below is None else (ANY, *below)
    if not isinstance(document, dict):
        return None
    fields = json_object(document)
    for key in keys:
        if key in fields:
            below = _first_below([fields[key]], keys, is_message, depth=depth)
            if below is not None:
                return (key, *below)
    others = [value for key, value in fields.items() if key not in keys and isinstance(value, dict)]
    below = _first_below(others[:_TRIED], keys, is_message, depth=depth)
    return None if below is None else (ANY, *below)


def _first_below(
    members: Sequence[Json], keys: Sequence[str], is_message: IsMessage, *, depth: int
) -> Pattern | None:
    if depth == _MAX_DEPTH:
        return None
    for member in members:
        if isinstance(member, list | dict):
            pattern = pattern_of(member, keys, is_message, depth=depth + 1)
            if pattern is not None:
                return pattern
    return None


def looked_at(head: Head) -> Json:
    """Return the part of *head* that shows the shape of the file: the document, or the list of its records."""
    return list(head.records[:_TRIED]) if head.shape == "json_lines" else head.document


def listed_messages(
    reader: HistoryReader, keys: Sequence[str], is_message: IsMessage
) -> Iterator[tuple[Json, Holder] | HistoryIssue]:
    """Yield the members of every list of messages in *reader*, each with the object that holds the list."""
    head = read_head(reader)
    if head.is_only_lines:
        yield from _in_lines(reader, keys, is_message)
        return
    pattern = pattern_of(head.document, keys, is_message)
    if pattern is None:
        yield HistoryIssue("not_a_transcript", reader.path, "no list of messages")
        return
    ahead = None if _is_named_first(head.document, pattern) else walk(reader, *_prefixes(pattern))
    yield from _in_document(reader, pattern, ahead)


def _in_lines(
    reader: HistoryReader, keys: Sequence[str], is_message: IsMessage
) -> Iterator[tuple[Json, Holder] | HistoryIssue]:
    whole = Holder("", EMPTY)
    for line in json_lines(reader):
        if isinstance(line, HistoryIssue):
            yield line
        elif is_message(line.value):
            yield line.value, whole
        else:
            pattern = pattern_of(line.value, keys, is_message)
            if pattern is None:
                yield line.value, whole
            else:
                yield from _within(line.value, pattern, Holder(f"#L{line.line}", EMPTY))


def _within(value: Json, pattern: Pattern, holder: Holder) -> Iterator[tuple[Json, Holder]]:
    """Yield the messages of a JSON value that has been read whole."""
    if not pattern:
        for member in json_items(value):
            yield member, holder
    elif isinstance(value, list):
        for index, member in enumerate(json_items(value)):
            yield from _within(member, pattern[1:], Holder(f"{holder.place}#{index + 1}", EMPTY))
    else:
        fields = json_object(value)
        below = Holder(holder.place, _noted(fields))
        for key in fields if pattern[0] == ANY else (pattern[0],):
            yield from _within(fields.get(key), pattern[1:], below)


def _in_document(
    reader: HistoryReader, pattern: Pattern, ahead: Iterator[Walked | HistoryIssue] | None
) -> Iterator[tuple[Json, Holder] | HistoryIssue]:
    depth = len(pattern)
    holder_depth = depth - 1 if pattern and pattern[-1] != ANY else depth
    holder, holder_path = Holder("", EMPTY), None
    fields: dict[str, Json] = {}
    for walked in walk(reader, *_prefixes(pattern)):
        if isinstance(walked, HistoryIssue):
            yield walked
            continue
        path, value = walked
        if value is END:
            continue
        here = path[:holder_depth]
        if here != holder_path and len(path) > holder_depth:
            fields = {} if ahead is None else _fields_of(here, ahead)
            holder, holder_path = Holder(_place(here, pattern), fields), here
        if len(path) == depth + 1 and (depth or isinstance(path[0], int)):
            yield value, holder
        elif len(path) == holder_depth + 1:
            fields.update(_noted({str(path[-1]): value}))


def _fields_of(holder: WalkPath, ahead: Iterator[Walked | HistoryIssue]) -> dict[str, Json]:
    """Return the fields beside the messages of *holder*, of which some come after them, such as its id.

    *ahead* is a second walk, which goes on to the end of the conversation.
    """
    found: dict[str, Json] = {}
    for walked in ahead:
        if isinstance(walked, HistoryIssue):
            continue  # the other walk reports it
        path, value = walked
        if value is END:
            if path == holder:
                break
        elif path[:-1] == holder:
            found.update(_noted({str(path[-1]): value}))
    return found


def _is_named_first(document: Json, pattern: Pattern) -> bool:
    """Return whether nothing about the conversations comes after their messages in the file."""
    if not pattern or pattern[-1] == ANY:
        return True
    value = document
    for step in pattern[:-1]:
        members = list(json_object(value).values()) if isinstance(value, dict) else json_items(value)
        value = next(iter(members), None) if step == ANY else json_object(value).get(step)
    fields = json_object(value)
    before = list(fields)[: list(fields).index(pattern[-1])] if pattern[-1] in fields else []
    return any(name in ID_FIELDS for name in before)


def _prefixes(pattern: Pattern) -> tuple[Pattern, ...]:
    return tuple(pattern[:length] for length in range(len(pattern) + 1))


def _place(path: WalkPath, pattern: Pattern) -> str:
    steps = [step for step, named in zip(path, pattern, strict=False) if named == ANY]
    return "".join(f"#{step + 1 if isinstance(step, int) else step}" for step in steps)


def _noted(fields: JsonObject) -> dict[str, Json]:
    """Return the fields that describe a conversation; in exports of Grok they are one object deeper."""
    fields = {**json_object(fields.get("conversation")), **fields}
    return {
        name: value
        for name, value in fields.items()
        if name in _NOTED
        and (
            isinstance(value, int | float) or (isinstance(value, str) and len(value) <= _MAX_NOTED_CHARACTERS)
        )
    }
