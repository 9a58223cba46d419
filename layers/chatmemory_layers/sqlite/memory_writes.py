"""What changes memories: store, retire, rewrite, mark, attach.  Each runs inside a transaction that others may share.

How they are used and removed stands in ``memory_uses.py`` and ``memory_removal.py``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Never, final

from attrs import frozen
from returns.result import Failure, Success

from chatmemory.contracts import Attachment, MemoryDraft, Vector
from chatmemory.effect import Outcome
from chatmemory.errors import MemoryChangedError, MemoryConflictError, MemoryNotFoundError
from chatmemory.memories import Duplicate, EmbeddingSpace, Memory, MemoryType, Namespace, Stored
from chatmemory_layers.columns import US_PER_SECOND, same_json, to_json, to_us
from chatmemory_layers.sqlite.group_commit import Transaction
from chatmemory_layers.sqlite.memory_filters import SEEN, seen_by
from chatmemory_layers.sqlite.memory_row import memory_of, said_columns
from chatmemory_layers.sqlite.memory_user import UserRow, load_user

# ruff: noqa: S608  conditions of memory_filters.py are put into statements, never values

# Positional, because a dictionary per memory costs time; the first nine are those of said_columns.
INSERT_MEMORY = """
INSERT INTO atomic_memory (content, key, value, category, tags, confidence, source, provenance, search_terms, memory_id,
    user_key, app_type, role, session_id, memory_type, pinned, created_at_us, timestamp, dedup_key, space_key)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT DO NOTHING
"""
SELECT_OF_ID = """
SELECT user_key, app_type, content, key, value FROM atomic_memory WHERE memory_id = :memory_id
"""
SELECT_OF_DEDUP_KEY = """
SELECT memory_id FROM atomic_memory
WHERE user_key = :user_key AND app_type = :app AND dedup_key = :dedup_key AND superseded_at_us IS NULL
"""
END_REPLACED = f"""
UPDATE atomic_memory SET superseded_at_us = max(created_at_us, :at_us), superseded_by = :successor
WHERE memory_id = :replaces AND memory_id <> :successor AND superseded_at_us IS NULL AND {SEEN}
RETURNING created_at_us, memory_id, id
"""
END_KEY = """
UPDATE atomic_memory SET superseded_at_us = max(created_at_us, :at_us), superseded_by = :successor
WHERE user_key = (SELECT user_key FROM memory_user WHERE user_id = :user) AND key = :key AND app_type = :app
    AND superseded_at_us IS NULL AND memory_id IS NOT :successor
RETURNING created_at_us, memory_id, id
"""
DELETE_INSERTED = "DELETE FROM atomic_memory WHERE id IN (SELECT value FROM json_each(:keys))"
REVIVE_ENDED = """
UPDATE atomic_memory SET superseded_at_us = NULL, superseded_by = NULL
WHERE id IN (SELECT value FROM json_each(:keys))
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

INSERT_EMBEDDING = "INSERT INTO memory_embedding (memory_key, space_key, seq, vector) VALUES (?, ?, ?, ?)"
UPSERT_EMBEDDING = """
INSERT INTO memory_embedding (memory_key, space_key, seq, vector) VALUES (?, ?, ?, ?)
ON CONFLICT (memory_key) DO UPDATE SET space_key = excluded.space_key, seq = excluded.seq, vector = excluded.vector
"""
UPDATE_SEQ = "UPDATE memory_embedding SET seq = :seq WHERE memory_key = :memory_key"
DELETE_EMBEDDING = "DELETE FROM memory_embedding WHERE memory_key = :memory_key"
UPDATE_SPACE_KEY = "UPDATE atomic_memory SET space_key = :space_key WHERE id = :memory_key"


def store(
    transaction: Transaction, drafts: Sequence[MemoryDraft]
) -> Outcome[tuple[Stored | Duplicate, ...], MemoryConflictError | MemoryNotFoundError]:
    """See ``MemoryRepository.store``."""
    outcomes: list[Stored | Duplicate] = []
    conflicts: list[str] = []
    missing: list[str] = []
    inserted: list[int] = []
    ended: list[int] = []
    for draft in drafts:
        user = transaction.hold(load_user, draft.namespace.user)
        key = _insert(transaction, user, draft)
        if key is None:
            twin = _twin(transaction, user, draft)
            if twin is None:
                conflicts.append(draft.id)
            else:
                outcomes.append(twin)
            continue
        inserted.append(key)
        replaced = _end_replaced(transaction, draft)
        if replaced is None:
            missing.append(str(draft.replaces))
            transaction.execute(DELETE_INSERTED, {"keys": json.dumps([key])})
            continue
        ended += [old_key for _, _, old_key in replaced]
        outcomes.append(Stored(draft.id, tuple([memory_id for _, memory_id, _ in replaced])))
    if not conflicts and not missing:
        return Success(tuple(outcomes))
    transaction.execute(DELETE_INSERTED, {"keys": json.dumps(inserted)})
    transaction.execute(REVIVE_ENDED, {"keys": json.dumps(ended)})
    return Failure(MemoryConflictError(tuple(conflicts)) if conflicts else MemoryNotFoundError(missing[0]))


def _insert(transaction: Transaction, user: UserRow, draft: MemoryDraft) -> int | None:
    """Store the row and its vector, unless its id or its dedup key is taken; return its key."""
    created_at_us = to_us(draft.created_at)
    space_key = None if draft.space is None else user.space_key(transaction, draft.space)
    columns = (
        *said_columns(draft),
        draft.id,
        user.key,
        draft.namespace.app,
        draft.role,
        draft.session_id,
        draft.memory_type,
        draft.pinned,
        created_at_us,
        created_at_us // US_PER_SECOND,
        draft.dedup_key,
        space_key,
    )
    cursor = transaction.execute(INSERT_MEMORY, columns)
    if cursor.rowcount != 1:
        return None
    key = cursor.lastrowid
    if space_key is not None and draft.vector is not None:
        seq = user.take_seq() if draft.memory_type == "long_term" else None
        transaction.execute(INSERT_EMBEDDING, (key, space_key, seq, _blob(draft.vector)))
    return key


def _twin(transaction: Transaction, user: UserRow, draft: MemoryDraft) -> Duplicate | None:
    """Return of what *draft* is a duplicate; None when its id is taken by something else."""
    row = transaction.execute(SELECT_OF_ID, {"memory_id": draft.id}).fetchone()
    if row is not None:
        *place_and_words, value = row
        is_same = place_and_words == [user.key, draft.namespace.app, draft.content, draft.key]
        return Duplicate(draft.id) if is_same and same_json(value, to_json(draft.value)) else None
    twin = {"user_key": user.key, "app": draft.namespace.app, "dedup_key": draft.dedup_key}
    (memory_id,) = transaction.execute(SELECT_OF_DEDUP_KEY, twin).fetchone()
    return Duplicate(memory_id)


def _end_replaced(transaction: Transaction, draft: MemoryDraft) -> list[tuple[int, str, int]] | None:
    """End the truth of what *draft* replaces: ``(created_at_us, id, key)`` of each, newest first; None: it is not there."""
    if draft.replaces is None and not draft.replaces_key:
        return []
    successor = {
        **seen_by(draft.namespace),
        "at_us": to_us(draft.created_at),
        "successor": draft.id,
        "replaces": draft.replaces,
        "key": draft.key,
    }
    ended: list[tuple[int, str, int]] = []
    if draft.replaces is not None:
        ended += transaction.execute(END_REPLACED, successor).fetchall()
        if not ended:
            return None
    if draft.replaces_key:
        ended += transaction.execute(END_KEY, successor).fetchall()
    return sorted(ended, reverse=True)


@final
@frozen
class Retirement:
    """A key whose memories are true no longer."""

    namespace: Namespace
    key: str
    now: datetime


def retire(transaction: Transaction, request: Retirement) -> Outcome[bool, Never]:
    """See ``MemoryRepository.retire``."""
    end = {
        **seen_by(request.namespace),
        "key": request.key,
        "at_us": to_us(request.now),
        "successor": None,
    }
    return Success(bool(transaction.execute(END_KEY, end).fetchall()))


@final
@frozen
class Rewriting:
    """A correction; ``keep_vector``: it says the same to the embedder."""

    draft: MemoryDraft
    expected_version: int
    keep_vector: bool


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
    holder = transaction.execute(SELECT_OF_DEDUP_KEY, twin).fetchone()
    dedup_key = draft.dedup_key if holder in {None, (draft.id,)} else None
    transaction.execute(UPDATE_SAID, (*said_columns(draft), dedup_key, key))
    if not request.keep_vector:
        _set_vector(transaction, draft.namespace.user, key, memory_type, draft.space, draft.vector)
    return Success(_memory(transaction, draft.namespace, key))


@final
@frozen
class Marks:
    """What a person says of a memory; None: as it was."""

    namespace: Namespace
    memory_id: str
    memory_type: MemoryType | None
    pinned: bool | None


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
        seq = transaction.hold(load_user, user_id).take_seq() if memory_type == "long_term" else None
        transaction.execute(UPDATE_SEQ, {"memory_key": key, "seq": seq})


@final
@frozen
class Attaching:
    """Vectors of *space* for memories of *namespace*."""

    namespace: Namespace
    space: EmbeddingSpace
    attachments: tuple[Attachment, ...]


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
        user = transaction.hold(load_user, user_id)
        space_key = user.space_key(transaction, space)
        seq = user.take_seq() if memory_type == "long_term" else None
        transaction.execute(UPSERT_EMBEDDING, (key, space_key, seq, _blob(vector)))
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


def _blob(vector: Vector) -> bytes:
    return vector.astype("<f4", copy=False).tobytes()
