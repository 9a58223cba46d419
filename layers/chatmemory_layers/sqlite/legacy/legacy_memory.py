"""Reads a row of the desktop application's ``atomic_memory`` as a memory, for any version and any content.

A row says neither who spoke nor whether anybody stated its content; so no row counts as a statement of the user.
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final, get_args

from chatmemory.embedding.space import Embedding
from chatmemory.embedding.unit_vectors import unit_vector
from chatmemory.errors import Problem
from chatmemory.input.rules import MAX_ID_CHARACTERS, clean_text, id_problem
from chatmemory.longterm.memories import MemoryType, NewMemory, Source
from chatmemory.longterm.memory_rules import MAX_TAGS
from chatmemory_layers.sql.columns import EPOCH
from chatmemory_layers.sqlite.memories.memory_row import tags_of

_END_OF_TIME: Final = datetime(9999, 12, 31, tzinfo=UTC).timestamp()
_DIGEST_CHARACTERS: Final = 16  # 64 bits: together with the number of the row, no two rows get the same id


def text_of(stored: bytes) -> str:
    """Decode a text, as ``Connection.text_factory``; bytes that are not UTF-8 become lone surrogates, not an error."""
    return stored.decode("utf-8", "surrogateescape")


def memory_of_row(row: Mapping[str, Any]) -> NewMemory:
    """Return the memory in *row*, cleaned; the rules decide later whether it is valid.

    Args:
        row: the values by column name; at least those of ``id`` and ``content``.
    """
    source_type: Source = row.get("source_type", "inferred")
    memory_type: MemoryType = row.get("memory_type", "short_term")
    session_id = _clean(row.get("session_id"))
    return NewMemory(
        content=_clean(row["content"]),
        id=memory_id(row),
        tags=_tags(_clean(row.get("tags"))),
        source=source_type if source_type in get_args(Source) else "inferred",
        session_id=None if id_problem(session_id) else session_id,
        memory_type=memory_type if memory_type in get_args(MemoryType) else "short_term",
        created_at=created_at(row) or EPOCH,
        embedding=_embedding(row),
    )


def app_of_row(row: Mapping[str, Any]) -> str:
    """Return the app that *row* comes from, as a namespace can name it."""
    return _clean(row.get("app_type"))[:MAX_ID_CHARACTERS]


def memory_id(row: Mapping[str, Any]) -> str:
    """Return the id of the memory in *row*: the same in every copy of the file, different in another file."""
    said = repr((row.get("timestamp"), row.get("create_time"), row["content"]))
    digest = sha256(said.encode()).hexdigest()
    return f"atomic-{row['id']}-{digest[:_DIGEST_CHARACTERS]}"


def created_at(row: Mapping[str, Any]) -> datetime | None:
    """Return when *row* was written: its ``timestamp``, or else its ``create_time`` in local time; None: neither is known."""
    seconds = row.get("timestamp")
    if isinstance(seconds, int | float) and 0 < seconds < _END_OF_TIME:
        return datetime.fromtimestamp(seconds, UTC)
    try:
        return datetime.fromisoformat(row.get("create_time") or "").astimezone(UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        return None


def _clean(text: object) -> str:
    """Return *text* as it can be stored; a number becomes its digits, bytes are decoded as far as they are text."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    return "" if text is None else clean_text(str(text))


def _tags(text: str) -> tuple[str, ...]:
    """Return the tags of *text* that are valid tags."""
    return tuple(tag for tag in dict.fromkeys(tags_of(text)) if id_problem(tag) is None)[:MAX_TAGS]


def _embedding(row: Mapping[str, Any]) -> Embedding | None:
    """Return the vector if it is valid and its model is known: a vector of an unknown model cannot be compared."""
    model: str = row.get("embedding_model", "")
    if id_problem(model) is not None:
        return None
    try:
        embedding = Embedding(model, json.loads(row.get("embedding") or ""))
    except (TypeError, ValueError, RecursionError):
        return None
    return None if isinstance(unit_vector("$", embedding), Problem) else embedding
