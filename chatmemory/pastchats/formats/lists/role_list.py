"""Generic lists of messages: objects with a role and a text under any names, bare, in an object, or line by line."""

from collections.abc import Iterator
from typing import Final

from chatmemory.input.json_value import (
    Json,
    JsonObject,
    first_said,
    first_text,
    json_items,
    json_object,
    json_text,
)
from chatmemory.pastchats.formats.histories import HistoryIssue, Parsed, UnknownRecord
from chatmemory.pastchats.formats.history_format import Claim, FileFormat, Head, HistoryReader
from chatmemory.pastchats.formats.reading.role_names import role_of
from chatmemory.pastchats.formats.shapes.listed_turns import content_in, listed_turns, note_calls
from chatmemory.pastchats.formats.shapes.message_lists import Holder, listed_messages, looked_at, pattern_of

_LISTS: Final = (
    *("messages", "conversation", "conversations", "history", "chat", "chats", "turns", "dialog", "dialogue"),
    *("chat_history", "items", "data", "log", "transcript", "entries", "sessions", "threads"),
    *("responses", "chunks", "contents"),
)
_ROLE_FIELDS: Final = ("role", "from", "sender", "author", "speaker", "sender_type", "type", "who", "user")
_TEXT_FIELDS: Final = ("content", "text", "value", "message", "body", "parts", "blocks", "msg", "utterance")
_PLAIN_TEXTS: Final = ('"content"', '"text"', '"parts"')
_ID_FIELDS: Final = ("id", "message_id", "messageId", "uuid", "msg_id")


def _claim(head: Head) -> Claim | None:
    """Claim lists with known role names; the confidence is low, because more specific formats know such lists better."""
    pattern = pattern_of(looked_at(head), _LISTS, _is_message)
    if pattern is None:
        return None
    seen = sorted(_names(looked_at(head), pattern))
    roles = {role_of(name) for name in seen}
    if "user" in roles and "assistant" in roles:
        return Claim(55, f"messages of {', '.join(seen)}")
    has_text = any(name in head.text for name in _PLAIN_TEXTS)
    if roles & {"user", "assistant"} and '"role"' in head.text and has_text:
        return Claim(50, f"messages of {', '.join(seen)} alone")
    return None


def _parse(reader: HistoryReader) -> Iterator[Parsed]:
    for found in listed_messages(reader, _LISTS, _is_message):
        if isinstance(found, HistoryIssue):
            yield found
        else:
            yield from _turns(_unwrapped(found[0]), found[1], reader.path)


def _turns(message: JsonObject, holder: Holder, path: str) -> Iterator[Parsed]:
    text = _text_field(message)
    field = _role_field(message) or next((name for name in _ROLE_FIELDS if _named(message.get(name))), "")
    if not text or not field:
        yield UnknownRecord(json_text(message.get("type")) or "no message")
        return
    name = _named(message.get(field))
    # A name that is not a role is the name of a person.
    role = role_of(name) or "user"
    parts = content_in(message.get(text))
    note_calls(parts, message)
    yield from listed_turns(
        parts,
        message,
        holder,
        conversation_id=holder.conversation_id("role_list", path),
        role=role,
        kind="thinking" if message.get("isThought") is True else None,
        native_id=first_text(message, *_ID_FIELDS),
        speaker=_speaker(message, name),
    )


def _unwrapped(value: Json) -> JsonObject:
    """Return the message in *value*; Grok, Pi and Droid nest it one object deeper."""
    record = json_object(value)
    message = json_object(record.get("message"))
    # The fields around the message are its id and its time.
    return json_object(record.get("response")) or ({**record, **message} if "role" in message else record)


def _role_field(message: JsonObject) -> str:
    """Return the field of *message* that holds a role; "" when there is none."""
    return next((name for name in _ROLE_FIELDS if name in message and role_of(_named(message[name]))), "")


def _text_field(message: JsonObject) -> str:
    """Return the field of *message* that holds its text, preferring one that is not empty; "" when there is none."""
    found = [name for name in _TEXT_FIELDS if isinstance(message.get(name), str | list | dict)]
    return next((name for name in found if message[name]), found[0] if found else "")


def _named(value: Json) -> str:
    """Return the name in *value*: a text, or an object such as ``{"role": "user"}``."""
    if isinstance(value, str):
        return value.strip()
    fields = json_object(value)
    if "login" in fields:
        return ""  # an account, whose type is not a role
    return first_said(*(fields.get(name) for name in ("role", "type", "name", "username"))).strip()


def _speaker(message: JsonObject, name: str) -> str | None:
    """Return the name of the speaker, when it says more than the role; else None."""
    if role_of(name) is None:
        return name or None
    said = json_text(message.get("name"))
    return said if said and role_of(said) is None else None


def _is_message(value: Json) -> bool:
    message = _unwrapped(value)
    return bool(_role_field(message) and _text_field(message))


def _names(document: Json, pattern: tuple[str, ...]) -> set[str]:
    """Return the names of roles in the head."""
    if not pattern:
        messages = map(_unwrapped, json_items(document))
        return {_named(message[field]).casefold() for message in messages if (field := _role_field(message))}
    if isinstance(document, list):
        return set[str]().union(*(_names(member, pattern[1:]) for member in json_items(document)))
    fields = json_object(document)
    members = fields.values() if pattern[0] == "*" else [fields.get(pattern[0])]
    return set[str]().union(*(_names(member, pattern[1:]) for member in members))


role_list: Final = FileFormat("role_list", _claim, _parse)
