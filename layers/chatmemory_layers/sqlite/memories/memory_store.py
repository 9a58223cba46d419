"""``store``: a batch of memories, all or none, in a transaction that others may share.

What is stored already is told by the indexes: each draft is inserted, and only where one refuses it is looked for the
reason.  A batch that is refused takes back what it has done, for the transaction goes on with the others.
"""

import json
from collections.abc import Sequence

from chatmemory.effect import Failure, Outcome, Success
from chatmemory.errors import MemoryConflictError, MemoryNotFoundError
from chatmemory.input.json_value import same_json, to_json
from chatmemory.longterm.memories import Duplicate, Stored
from chatmemory.longterm.memory_repository import MemoryDraft
from chatmemory_layers.sql.columns import US_PER_SECOND, to_us
from chatmemory_layers.sqlite.engine.jobs import Transaction
from chatmemory_layers.sqlite.memories.memory_filters import SEEN, seen_by
from chatmemory_layers.sqlite.memories.memory_row import said_columns, vector_blob
from chatmemory_layers.sqlite.memories.memory_user import UserRow, user_row

# ruff: noqa: S608  conditions of memory_filters.py are put into statements, never values

# Positional, because a dictionary per memory costs time; the first nine are those of said_columns.
INSERT_MEMORY = """
INSERT INTO atomic_memory (content, key, value, category, tags, confidence, source, provenance, search_terms, memory_id,
    user_key, app_type, role, session_id, memory_type, pinned, created_at_us, timestamp, dedup_key, space_key)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT DO NOTHING
"""
INSERT_EMBEDDING = "INSERT INTO memory_embedding (memory_key, space_key, seq, vector) VALUES (?, ?, ?, ?)"
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
        user = user_row(transaction, draft.namespace.user)
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
        transaction.execute(INSERT_EMBEDDING, (key, space_key, seq, vector_blob(draft.vector)))
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
