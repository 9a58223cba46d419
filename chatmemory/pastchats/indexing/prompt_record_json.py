"""Writes a stored turn as one line of JSON and reads it back without loss, for export and import.

``exported`` writes one turn after the other, without holding all of them.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final, cast, get_args

from chatmemory.effect import Effect, EffectFailed
from chatmemory.effect.outcome import Failure, Outcome, Success
from chatmemory.errors import GenericMemoryError, RepositoryError
from chatmemory.input.choices import Role
from chatmemory.input.json_value import Json, JsonObject
from chatmemory.pastchats.indexing.cleaning import Cleaning
from chatmemory.pastchats.indexing.prompt_drafts import PromptDraft
from chatmemory.pastchats.prompt import PromptFilter, TurnKind
from chatmemory.pastchats.prompt_repository import PromptRecord, PromptRepository

KIND: Final = "chatmemory.pastchats.prompt"
VERSION: Final = 1

_TEXTS: Final = ("source", "project", "format", "conversation_id", "session", "content", "search_terms")
_HASHES: Final = ("content_hash", "text_hash")
_HASH_DIGITS: Final = 64
_ROLES: Final = frozenset(get_args(Role))
_KINDS: Final = frozenset(get_args(TurnKind))


class BadRecordError(ValueError):
    """Raised for a line without a turn; the argument is the reason."""


def record_object(record: PromptRecord) -> JsonObject:
    """Return the JSON object of a turn; times are ISO 8601, everything else is unchanged."""
    draft = record.draft
    return {
        "type": KIND,
        "version": VERSION,
        **{name: cast("str", getattr(draft, name)) for name in (*_TEXTS, *_HASHES)},
        "turn_index": draft.turn_index,
        "role": draft.role,
        "kind": draft.kind,
        "speaker": draft.speaker,
        "timestamp": None if draft.timestamp is None else draft.timestamp.isoformat(),
        "metadata": draft.metadata,
        "is_superseded": draft.is_superseded,
        "created_at": record.created_at.isoformat(),
    }


def draft_of(value: Json) -> PromptDraft:
    """Read the turn of a JSON object.

    Raises:
        BadRecordError: the object is not a turn.
    """
    if not isinstance(value, Mapping) or value.get("type") != KIND:
        msg = f'not an object with "type": "{KIND}"'
        raise BadRecordError(msg)
    if value.get("version") != VERSION:
        msg = f"version {value.get('version')!r}: this program reads version {VERSION}"
        raise BadRecordError(msg)
    texts = {name: _text(value, name) for name in (*_TEXTS, *_HASHES)}
    if not texts["content"]:
        msg = "content: empty"
        raise BadRecordError(msg)
    for name in _HASHES:
        if len(texts[name]) != _HASH_DIGITS:
            msg = f"{name}: no hash"
            raise BadRecordError(msg)
    speaker = value.get("speaker")
    metadata = value.get("metadata")
    made: dict[str, Any] = {
        **texts,
        "turn_index": _number(value, "turn_index"),
        "role": _one_of(value, "role", _ROLES),
        "kind": _one_of(value, "kind", _KINDS),
        "speaker": None if speaker is None else _text(value, "speaker"),
        "timestamp": _instant(value),
        "metadata": Cleaning().metadata(metadata) if isinstance(metadata, Mapping) else {},
        "is_superseded": value.get("is_superseded") is True,
    }
    return PromptDraft(**made)


def _text(value: Mapping[str, Json], name: str) -> str:
    text = value.get(name)
    if not isinstance(text, str):
        msg = f"{name}: not a text"
        raise BadRecordError(msg)
    if "\0" in text or not _is_encodable(text):
        msg = f"{name}: holds what cannot be stored"
        raise BadRecordError(msg)
    return text


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _number(value: Mapping[str, Json], name: str) -> int:
    number = value.get(name)
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < 2**63:
        msg = f"{name}: not a number from 0"
        raise BadRecordError(msg)
    return number


def _one_of(value: Mapping[str, Json], name: str, known: frozenset[str]) -> str:
    word = value.get(name)
    if not isinstance(word, str) or word not in known:
        msg = f"{name}: not one of {', '.join(sorted(known))}"
        raise BadRecordError(msg)
    return word


def _instant(value: Mapping[str, Json]) -> datetime | None:
    written = value.get("timestamp")
    if written is None:
        return None
    try:
        instant = datetime.fromisoformat(written) if isinstance(written, str) else None
    except ValueError:
        instant = None
    if instant is None or instant.tzinfo is None:
        msg = "timestamp: not an instant with a time zone"
        raise BadRecordError(msg)
    return instant


def exported(
    repository: PromptRepository, which: PromptFilter, to: Callable[[JsonObject], None]
) -> Effect[int, GenericMemoryError]:
    """Call *to* with each turn that *which* selects, and return their number."""

    async def run() -> Outcome[int, GenericMemoryError]:
        count = 0
        records = repository.records(which)
        while True:
            try:
                record = next(records, None)
            except EffectFailed as failed:
                if isinstance(failed.error, RepositoryError):
                    return Failure(GenericMemoryError(failed.error))
                raise
            if record is None:
                return Success(count)
            to(record_object(record))
            count += 1

    return Effect.from_outcome(run)
