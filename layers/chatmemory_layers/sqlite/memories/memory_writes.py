"""What changes a memory that is stored: retire, rewrite, mark, attach.  Each runs in a transaction that others may share.

How memories come in, are used and go stands in ``memory_store.py``, ``memory_uses.py`` and ``memory_removal.py``.
"""

from __future__ import annotations

from typing import Never

from chatmemory.effect import Failure, Outcome, Success
from chatmemory.embedding.embedder import Vector
from chatmemory.embedding.space import EmbeddingSpace
from chatmemory.errors import MemoryChangedError
from chatmemory.longterm.memories import Memory, MemoryType, Namespace
from chatmemory_layers.sql.columns import to_us
from chatmemory_layers.sql.memory_requests import Attaching, Marks, Retirement, Rewriting
from chatmemory_layers.sqlite.engine.jobs import Transaction
from chatmemory_layers.sqlite.memories.memory_filters import SEEN, seen_by
from chatmemory_layers.sqlite.memories.memory_row import memory_of, said_columns, vector_blob
from chatmemory_layers.sqlite.memories.memory_store import SELECT_TWIN, user_row

# ruff: noqa: S608  conditions of memory_filters.py are put into statements, never values

# Like a memory that is replaced, none ends before it became true.
END_KEY = """
UPDATE atomic_memory SET superseded_at_us = max(created_at_us, :at_us)
WHERE user_key = (SELECT user_key FROM memory_user WHERE user_id = :user) AND key = :key AND app_type = :app
    AND superseded_at_us IS NULL
RETURNING memory_id
"""

SELECT_SEEN = f"""
SELECT id, version, memory_type, user_key, app_type FROM atomic_memory WHERE memory_id = :memory_id AND {SEEN}
"""
UPDATE_SAID = """
UPDATE atomic_memory SET content = ?, key = ?, value = ?, category = ?, tags = ?, confidence = ?, source = ?,
    provenance = ?, search_terms = ?, dedup_key = ?, version = version + 1
WHERE id = ?
"""
UPDATE_MARKS = """
UPDATE atomic_memory SET memory_type = coalesce(:memory_type, memory_type), pinned = coalesce(:pinned, pinned)
WHERE id = :memory_key
"""
SELECT_MEMORY = "SELECT * FROM memory_record WHERE memory_key = :memory_key"

UPSERT_EMBEDDING = """
INSERT INTO memory_embedding (memory_key, space_key, seq, vector) VALUES (?, ?, ?, ?)
ON CONFLICT (memory_key) DO UPDATE SET space_key = excluded.space_key, seq = excluded.seq, vector = excluded.vector
"""
UPDATE_SEQ = "UPDATE memory_embedding SET seq = :seq WHERE memory_key = :memory_key"
DELETE_EMBEDDING = "DELETE FROM memory_embedding WHERE memory_key = :memory_key"
UPDATE_SPACE_KEY = "UPDATE atomic_memory SET space_key = :space_key WHERE id = :memory_key"


def retire(transaction: Transaction, request: Retirement) -> Outcome[bool, Never]:
    """See ``MemoryRepository.retire``."""
    end = {**seen_by(request.namespace), "key": request.key, "at_us": to_us(request.now)}
    return Success(bool(transaction.execute(END_KEY, end).fetchall()))


def rewrite(transaction: Transaction, request: Rewriting) -> Outcome[Memory | None, MemoryChangedError]:
    """See ``MemoryRepository.rewrite``."""
    draft = request.draft
    row = _seen(transaction, draft.namespace, draft.id)
    if row is None:
        return Success(None)
    key, version, memory_type, user_key, app = row
    if version != request.expected_version:
        return Failure(MemoryChangedError(draft.id, request.expected_version, version))
    twin = {"user_key": user_key, "app": app, "dedup_key": draft.dedup_key}
    holder = transaction.execute(SELECT_TWIN, twin).fetchone()
    dedup_key = draft.dedup_key if holder is None or holder[0] == draft.id else None
    transaction.execute(UPDATE_SAID, (*said_columns(draft), dedup_key, key))
    if not request.keep_vector:
        _set_vector(transaction, draft.namespace.user, key, memory_type, draft.space, draft.vector)
    return Success(_memory(transaction, draft.namespace, key))


def mark(transaction: Transaction, marks: Marks) -> Outcome[Memory | None, Never]:
    """See ``MemoryRepository.mark``."""
    row = _seen(transaction, marks.namespace, marks.memory_id)
    if row is None:
        return Success(None)
    key, *_ = row
    set_marks(transaction, marks.namespace.user, key, memory_type=marks.memory_type, pinned=marks.pinned)
    return Success(_memory(transaction, marks.namespace, key))


def set_marks(
    transaction: Transaction,
    user_id: str,
    key: int,
    *,
    memory_type: MemoryType | None = None,
    pinned: bool | None = None,
) -> None:
    """Mark the memory of *key*, and make its vector searchable, or no longer."""
    changes = {"memory_key": key, "memory_type": memory_type, "pinned": pinned}
    transaction.execute(UPDATE_MARKS, changes)
    if memory_type is not None:
        seq = user_row(transaction, user_id).take_seq() if memory_type == "long_term" else None
        transaction.execute(UPDATE_SEQ, {"memory_key": key, "seq": seq})


def attach(transaction: Transaction, request: Attaching) -> Outcome[int, Never]:
    """See ``MemoryRepository.attach``."""
    attached = 0
    for attachment in request.attachments:
        row = _seen(transaction, request.namespace, attachment.memory_id)
        if row is None:
            continue
        key, version, memory_type, *_ = row
        if version == attachment.version:
            user_id = request.namespace.user
            _set_vector(transaction, user_id, key, memory_type, request.space, attachment.vector)
            attached += 1
    return Success(attached)


def _set_vector(
    transaction: Transaction,
    user_id: str,
    key: int,
    memory_type: MemoryType,
    space: EmbeddingSpace | None,
    vector: Vector | None,
) -> None:
    """Give the memory of *key* this vector, or none."""
    space_key = None
    if space is None or vector is None:
        transaction.execute(DELETE_EMBEDDING, {"memory_key": key})
    else:
        user = user_row(transaction, user_id)
        space_key = user.space_key(transaction, space)
        seq = user.take_seq() if memory_type == "long_term" else None
        transaction.execute(UPSERT_EMBEDDING, (key, space_key, seq, vector_blob(vector)))
    transaction.execute(UPDATE_SPACE_KEY, {"memory_key": key, "space_key": space_key})


def _seen(
    transaction: Transaction, namespace: Namespace, memory_id: str
) -> tuple[int, int, MemoryType, int, str] | None:
    row: tuple[int, int, MemoryType, int, str] | None = transaction.execute(
        SELECT_SEEN, {**seen_by(namespace), "memory_id": memory_id}
    ).fetchone()
    return row


def _memory(transaction: Transaction, namespace: Namespace, key: int) -> Memory:
    return memory_of(transaction.execute(SELECT_MEMORY, {"memory_key": key}).fetchone(), namespace)
