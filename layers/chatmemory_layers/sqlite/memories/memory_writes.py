"""Changes a stored memory: retire, rewrite, mark, use, attach.  Each runs in a transaction that other writes may share.

``memory_store.py`` adds memories, ``memory_removal.py`` deletes them.
"""

from __future__ import annotations

from datetime import datetime
from typing import Never

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Failure, Outcome, Success
from chatmemory.embedding.embedder import Vector
from chatmemory.embedding.space import EmbeddingSpace
from chatmemory.errors import MemoryChangedError, MemoryNotFoundError
from chatmemory.events.event import USE, Change
from chatmemory.longterm.changes import changed_by, changes_of_mark, changes_of_restore
from chatmemory.longterm.memories import Memory, MemoryType, UseReport
from chatmemory.longterm.repository_values import Attachment, Mark, MemoryDraft, Use
from chatmemory_layers.sql.columns import from_us, to_us, vector_column
from chatmemory_layers.sqlite.engine.transaction import Transaction
from chatmemory_layers.sqlite.events.event_log import note
from chatmemory_layers.sqlite.memories.memory_history import keep_content
from chatmemory_layers.sqlite.memories.memory_row import (
    IS_VALUE,
    SEEN,
    memory_of,
    said_columns,
    seen_by,
)
from chatmemory_layers.sqlite.memories.memory_store import SELECT_TWIN, user_row

# ruff: noqa: S608  conditions of memory_row.py are put into statements, never values

# As with a memory that is replaced, none ends before it became valid.
END_VALUE = f"""
UPDATE atomic_memory SET superseded_at_us = max(created_at_us, :at_us), superseded_by = :successor
WHERE user_key = (SELECT user_key FROM memory_user WHERE user_name = :user) AND key = :key AND app_type = :app
    AND {IS_VALUE} AND superseded_at_us IS NULL
RETURNING memory_id, superseded_at_us
"""

END_OTHER = """
UPDATE atomic_memory SET superseded_at_us = max(created_at_us, :at_us), superseded_by = :successor
WHERE id = :memory_key AND superseded_at_us IS NULL
RETURNING memory_id, app_type
"""
# Two memories that are valid at once never have the same dedup key, which says that they are the same.
RESTORE = """
UPDATE atomic_memory SET superseded_at_us = NULL, superseded_by = NULL, dedup_key = CASE WHEN EXISTS (
    SELECT 1 FROM atomic_memory AS twin
    WHERE twin.user_key = atomic_memory.user_key AND twin.app_type = atomic_memory.app_type
        AND twin.dedup_key = atomic_memory.dedup_key AND twin.superseded_at_us IS NULL
) THEN NULL ELSE dedup_key END
WHERE id = :memory_key AND superseded_at_us IS NOT NULL
RETURNING memory_id, app_type
"""

SELECT_SEEN = f"""
SELECT id, version, memory_type, user_key, app_type FROM atomic_memory WHERE memory_id = :memory_id AND {SEEN}
"""
UPDATE_SAID = """
UPDATE atomic_memory SET content = ?, key = ?, value = ?, category = ?, tags = ?, confidence = ?, source = ?,
    provenance = ?, search_terms = ?, dedup_key = ?, attribute = ?, version = version + 1
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

COUNT_USE = f"""
UPDATE atomic_memory SET use_count = use_count + 1, last_used_at_us = :now_us, last_use_id = :use_id
WHERE memory_id = :memory_id AND last_use_id IS NOT :use_id AND {SEEN}
RETURNING id, app_type, memory_type = 'short_term' AND source = 'user_stated' AND role = 'user'
"""
INSERT_USE = """
INSERT INTO memory_use (memory_key, session_id) VALUES (:memory_key, :session_id) ON CONFLICT DO NOTHING
"""
COUNT_SESSIONS = "SELECT count(*) FROM memory_use WHERE memory_key = :memory_key"


def retire(
    transaction: Transaction, namespace: Namespace, key: str, *, now: datetime
) -> Outcome[bool, Never]:
    """Mark the value of this key in exactly this namespace as no longer true."""
    ended = _end_value(transaction, namespace, key, now, successor=None)
    note(
        transaction,
        [Change("retired", "memory", id_, namespace, said_at=from_us(at_us)) for id_, at_us in ended],
    )
    return Success(bool(ended))


def _end_value(
    transaction: Transaction, namespace: Namespace, key: str, now: datetime, *, successor: str | None
) -> list[tuple[str, int]]:
    """End the value of *key* in exactly this namespace; return its id and the time of its end, in microseconds."""
    end = {**seen_by(namespace), "key": key, "at_us": to_us(now), "successor": successor}
    return transaction.execute(END_VALUE, end).fetchall()


def restore(
    transaction: Transaction,
    namespace: Namespace,
    memory_id: str,
    *,
    instead_of: str | None = None,
    now: datetime,
) -> Outcome[Memory, MemoryNotFoundError]:
    """Make a memory true again, from its ``created_at`` on, as if it had never stopped being true."""
    ids = [memory_id] if instead_of is None or instead_of == memory_id else [memory_id, instead_of]
    rows = [_seen(transaction, namespace, each) for each in ids]
    for each, row in zip(ids, rows, strict=True):
        if row is None:
            return Failure(MemoryNotFoundError(each))
    (key, *_), *others = [row for row in rows if row is not None]
    ended: list[tuple[str, str]] = []
    for other, *_ in others:
        end = {"memory_key": other, "at_us": to_us(now), "successor": memory_id}
        ended = transaction.execute(END_OTHER, end).fetchall()
    before = _memory(transaction, namespace, key)
    owner = before.namespace
    if before.superseded_at is not None and before.value_key is not None:
        values = _end_value(transaction, owner, before.value_key, now, successor=memory_id)
        ended += [(other, owner.app) for other, _ in values]
    restored: list[tuple[str, str]] = transaction.execute(RESTORE, {"memory_key": key}).fetchall()
    names = ([(each, Namespace(namespace.user, app)) for each, app in found] for found in (restored, ended))
    note(transaction, changes_of_restore(*names, by=memory_id, now=now))
    return Success(_memory(transaction, namespace, key))


def rewrite(
    transaction: Transaction, draft: MemoryDraft, *, expected_version: int, keep_vector: bool = False
) -> Outcome[Memory | None, MemoryChangedError]:
    """Replace the content of a memory with the content of *draft*, and increase its version by one."""
    row = _seen(transaction, draft.namespace, draft.id)
    if row is None:
        return Success(None)
    key, version, memory_type, user_key, app = row
    if version != expected_version:
        return Failure(MemoryChangedError(draft.id, expected_version, version))
    twin = {"user_key": user_key, "app": app, "dedup_key": draft.dedup_key}
    holder = transaction.execute(SELECT_TWIN, twin).fetchone()
    dedup_key = draft.dedup_key if holder is None or holder[0] == draft.id else None
    keep_content(transaction, key)
    transaction.execute(UPDATE_SAID, (*said_columns(draft), draft.terms, dedup_key, draft.attribute, key))
    if not keep_vector:
        _set_vector(transaction, draft.namespace.user, key, memory_type, draft.space, draft.vector)
    rewritten = _memory(transaction, draft.namespace, key)
    note(transaction, [changed_by(draft, rewritten)])
    return Success(rewritten)


def mark(transaction: Transaction, mark: Mark) -> Outcome[Memory | None, Never]:
    """Change the type of a memory, or pin or unpin it."""
    namespace = mark.namespace
    row = _seen(transaction, namespace, mark.memory_id)
    if row is None:
        return Success(None)
    key, *_ = row
    before = _memory(transaction, namespace, key)
    if not (changes := changes_of_mark(mark, before)):
        return Success(before)
    _set_marks(transaction, namespace.user, key, memory_type=mark.memory_type, pinned=mark.pinned)
    note(transaction, changes)
    return Success(_memory(transaction, namespace, key))


def record_use(transaction: Transaction, use: Use) -> Outcome[UseReport, Never]:
    """Count one use of each memory that the namespace sees, and set ``last_accessed``."""
    used = 0
    promoted: list[str] = []
    user = use.namespace.user
    parameters = {**seen_by(use.namespace), "use_id": use.use_id, "now_us": to_us(use.now)}
    for memory_id in use.memory_ids:
        # All rows are fetched: an UPDATE with RETURNING that is left half-read holds up the commit.
        for key, app, can_be_promoted in transaction.execute(
            COUNT_USE, {**parameters, "memory_id": memory_id}
        ).fetchall():
            used += 1
            if use.session_id is not None:
                transaction.execute(INSERT_USE, {"memory_key": key, "session_id": use.session_id})
            if can_be_promoted and _is_due(transaction, key, use.promote_after):
                _set_marks(transaction, user, key, memory_type="long_term")
                promoted.append(memory_id)
                owner = Namespace(user, app)
                note(transaction, [Change("promoted", "memory", memory_id, owner, reason=USE)])
    return Success(UseReport(used, tuple(promoted)))


def _set_marks(
    transaction: Transaction,
    user_id: str,
    key: int,
    *,
    memory_type: MemoryType | None = None,
    pinned: bool | None = None,
) -> None:
    """Mark the memory *key*, and make its vector searchable or not, to match its type."""
    changes = {"memory_key": key, "memory_type": memory_type, "pinned": pinned}
    transaction.execute(UPDATE_MARKS, changes)
    if memory_type is not None:
        seq = user_row(transaction, user_id).take_seq() if memory_type == "long_term" else None
        transaction.execute(UPDATE_SEQ, {"memory_key": key, "seq": seq})


def attach(
    transaction: Transaction,
    namespace: Namespace,
    space: EmbeddingSpace,
    attachments: tuple[Attachment, ...],
) -> Outcome[int, Never]:
    """Store a vector of *space* for each memory, replacing any other vector."""
    attached = 0
    for attachment in attachments:
        row = _seen(transaction, namespace, attachment.memory_id)
        if row is None:
            continue
        key, version, memory_type, *_ = row
        if version == attachment.version:
            _set_vector(transaction, namespace.user, key, memory_type, space, attachment.vector)
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
    """Store this vector for the memory *key*; None deletes its vector."""
    space_key = None
    if space is None or vector is None:
        transaction.execute(DELETE_EMBEDDING, {"memory_key": key})
    else:
        user = user_row(transaction, user_id)
        space_key = user.space_key(transaction, space)
        seq = user.take_seq() if memory_type == "long_term" else None
        transaction.execute(UPSERT_EMBEDDING, (key, space_key, seq, vector_column(vector)))
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


def _is_due(transaction: Transaction, key: int, promote_after: int | None) -> bool:
    if promote_after is None:
        return False
    (sessions,) = transaction.execute(COUNT_SESSIONS, {"memory_key": key}).fetchone()
    return bool(sessions >= promote_after)
