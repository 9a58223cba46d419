"""How a memory becomes columns of ``atomic_memory`` and comes back from the view ``memory_record``.

What the columns are is said in ``memory_tables.py``; which rows are read and written, in ``memory_reads.py``,
``memory_search.py``, ``memory_store.py`` and ``memory_writes.py``.
"""

import json
from collections.abc import Sequence
from typing import Any, Final, cast

from chatmemory.embedding.embedder import Vector
from chatmemory.embedding.space import EmbeddingSpace
from chatmemory.input.json_value import from_json, to_json
from chatmemory.longterm.memories import Memory, Namespace, Provenance
from chatmemory.longterm.memory_repository import MemoryDraft
from chatmemory_layers.sql.columns import from_us

_NO_PROVENANCE: Final = Provenance()


def memory_of(row: Sequence[Any], namespace: Namespace) -> Memory:
    """Make a memory of a row of the view ``memory_record`` that a reader in *namespace* sees."""
    (
        memory_id,
        app_type,
        content,
        key,
        value,
        category,
        tags,
        confidence,
        source,
        role,
        session_id,
        memory_type,
        pinned,
        provenance,
        created_at_us,
        last_used_at_us,
        use_count,
        model,
        dim,
        superseded_at_us,
        superseded_by,
        version,
        *_,
    ) = row
    return Memory(
        memory_id,
        namespace if app_type == namespace.app else Namespace(namespace.user, app_type),
        content,
        key,
        None if value is None else from_json(value),
        category,
        () if tags is None else tags_of(tags),
        confidence,
        source,
        role,
        session_id,
        memory_type,
        bool(pinned),
        _NO_PROVENANCE if provenance is None else _provenance_of(provenance),
        from_us(created_at_us),
        None if last_used_at_us is None else from_us(last_used_at_us),
        use_count,
        None if model is None else EmbeddingSpace(model, dim),
        None if superseded_at_us is None else from_us(superseded_at_us),
        superseded_by,
        version,
    )


def said_columns(draft: MemoryDraft) -> tuple[object, ...]:
    """Return what a correction changes: content, key, value, category, tags, confidence, source, provenance, terms."""
    provenance = draft.provenance
    return (
        draft.content,
        draft.key,
        to_json(draft.value),
        draft.category,
        to_json(draft.tags) if draft.tags else None,
        draft.confidence,
        draft.source,
        None if provenance == _NO_PROVENANCE else _provenance_column(provenance),
        draft.terms,
    )


def vector_blob(vector: Vector) -> bytes:
    """Return *vector* as the column holds it: float32, little endian."""
    return vector.astype("<f4", copy=False).tobytes()


def tags_of(text: str) -> tuple[str, ...]:
    """Read tags: ours are a JSON array; the desktop application's may be any text, separated by commas.

    ``memory_filters.HAS_TAGS`` reads them alike.
    """
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError):  # brackets within brackets are text, to SQLite as well
        found = None
    tags = cast("list[object]", found) if isinstance(found, list) else text.replace(", ", ",").split(",")
    return tuple([tag for tag in tags if isinstance(tag, str) and tag])


def _provenance_column(provenance: Provenance) -> str | None:
    return to_json(
        {
            "message_ids": provenance.message_ids,
            "extractor": provenance.extractor,
            "path": provenance.path,
        }
    )


def _provenance_of(text: str) -> Provenance:
    column = json.loads(text)
    return Provenance(tuple(column["message_ids"]), column["extractor"], column["path"])
