"""``store``: stores a batch of memories, all or none, in a transaction that other writes may share.

``chatmemory.longterm.changes`` decides what happens to a batch, at first as if none of it were stored.  When a unique
index refuses a draft, ``store`` reads what is stored under the names of the batch and decides again.
"""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from typing import final

from attrs import define, field

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Failure, Outcome, Success
from chatmemory.embedding.space import EmbeddingSpace
from chatmemory.errors import MemoryConflictError, MemoryNotFoundError
from chatmemory.longterm.changes import (
    NOTHING_FORGOTTEN,
    CurrentRow,
    End,
    Forgotten,
    MemoryName,
    Source,
    Step,
    StoreDecision,
    Words,
    decide_store,
    name_of,
    sources,
)
from chatmemory.longterm.memories import SaveOutcome, is_stated, value_key
from chatmemory.longterm.repository_values import MemoryDraft
from chatmemory_layers.sql.columns import US_PER_SECOND, from_us, to_us, vector_column
from chatmemory_layers.sqlite.engine.transaction import Transaction
from chatmemory_layers.sqlite.events.event_log import note, write_noted
from chatmemory_layers.sqlite.memories.code_blocks import BLOCK, keep_codes
from chatmemory_layers.sqlite.memories.memory_history import keep_past
from chatmemory_layers.sqlite.memories.memory_row import IS_VALUE, said_columns

SELECT_USER = "SELECT user_key, next_vector FROM memory_user WHERE user_name = :user_id"
INSERT_USER = "INSERT INTO memory_user (user_name) VALUES (:user_id) RETURNING user_key, next_vector"
UPDATE_USER = "UPDATE memory_user SET next_vector = :next_seq WHERE user_key = :user_key"

SELECT_SPACE = """
SELECT space_key FROM memory_space WHERE user_key = :user_key AND model = :model AND dim = :dim
"""
INSERT_SPACE = """
INSERT INTO memory_space (user_key, model, dim) VALUES (:user_key, :model, :dim) RETURNING space_key
"""

# Positional, because a dictionary per memory costs time; said_columns gives the first eight.
INSERT_MEMORY = """
INSERT INTO atomic_memory (content, key, value, category, tags, confidence, source, provenance, search_terms, memory_id,
    user_key, app_type, role, session_id, memory_type, pinned, created_at_us, timestamp, dedup_key, space_key, attribute)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT DO NOTHING
"""
INSERT_EMBEDDING = "INSERT INTO memory_embedding (memory_key, space_key, seq, vector) VALUES (?, ?, ?, ?)"
SELECT_ANY_FORGOTTEN = "SELECT 1 FROM event WHERE action = 'forgotten' AND owner_user = :user LIMIT 1"
_COLUMNS = "target_id, session_id, evidence FROM event"
_TOMBSTONE = "action = 'forgotten' AND kind = 'memory' AND reason IS NULL"
SELECT_FORGOTTEN_OF_ID = f"""
SELECT {_COLUMNS}
WHERE target_id = :memory_id AND action <> 'added' AND owner_user = :user AND {_TOMBSTONE}
"""
SELECT_FORGOTTEN_OF_SESSION = f"""
SELECT {_COLUMNS} INDEXED BY event_forgotten
WHERE owner_user = :user AND session_id IS :session_id AND evidence IS NOT NULL AND {_TOMBSTONE}
"""

SELECT_OF_ID = """
SELECT app_type, content, key, value FROM atomic_memory WHERE user_key = :user_key AND memory_id = :memory_id
"""
# The memories, valid now, that a draft may repeat or replace.
_STANDING = """
SELECT memory_id, app_type, key, dedup_key, created_at_us, attribute, role, source, json_extract(provenance, '$.path'), pinned
FROM atomic_memory
WHERE user_key = :user_key AND {which} AND superseded_at_us IS NULL
"""
SELECT_TWIN = _STANDING.format(which="app_type = :app AND dedup_key = :dedup_key")
SELECT_REPLACED = _STANDING.format(which="memory_id = :replaces")
SELECT_VALUE = _STANDING.format(which=f"key = :value_key AND app_type = :app AND {IS_VALUE}")
SELECT_OF_ATTRIBUTE = _STANDING.format(which="attribute = :attribute AND app_type = :app")
END_TRUTH = """
UPDATE atomic_memory SET superseded_at_us = :at_us, superseded_by = :successor
WHERE user_key = :user_key AND memory_id = :memory_id
"""
DELETE_INSERTED = "DELETE FROM atomic_memory WHERE id IN (SELECT value FROM json_each(:keys))"


@final
@define(eq=False)
class UserRow:
    """A user of memories while a transaction writes to them; read once and written once per transaction.

    Attributes:
        next_seq: the number of the next vector that becomes searchable.
        spaces: the keys of the embedding spaces used so far.
    """

    key: int
    next_seq: int
    saved_seq: int
    spaces: dict[EmbeddingSpace, int] = field(factory=dict[EmbeddingSpace, int])

    def take_seq(self) -> int:
        """Return the next number for a vector that becomes searchable."""
        self.next_seq += 1
        return self.next_seq - 1

    def space_key(self, transaction: Transaction, space: EmbeddingSpace) -> int:
        """Return the key of *space*, inserting it when it is new."""
        key = self.spaces.get(space)
        if key is None:
            columns = {"user_key": self.key, "model": space.model, "dim": space.dim}
            row = transaction.execute(SELECT_SPACE, columns).fetchone()
            (key,) = row or transaction.execute(INSERT_SPACE, columns).fetchone()
            self.spaces[space] = key
        return key

    def save(self, transaction: Transaction) -> None:
        """Write the row back if it changed."""
        if self.next_seq != self.saved_seq:
            if self.next_seq // BLOCK != self.saved_seq // BLOCK:
                keep_codes(
                    transaction.execute,
                    self.key,
                    next_seq=self.next_seq,
                    taken=self.next_seq - self.saved_seq,
                )
            transaction.execute(UPDATE_USER, {"user_key": self.key, "next_seq": self.next_seq})


def user_row(transaction: Transaction, user_id: str) -> UserRow:
    """Return the row of the user, the same object for every write of *transaction*."""
    held = transaction.held.get((UserRow, user_id))
    if not isinstance(held, UserRow):
        held = transaction.held[UserRow, user_id] = load_user(transaction, user_id)
        transaction.changed[held] = None
    return held


def load_user(transaction: Transaction, user_id: str) -> UserRow:
    """Read the row of the user, and insert it when the user is new."""
    user = {"user_id": user_id}
    row = transaction.execute(SELECT_USER, user).fetchone()
    key, next_seq = row or transaction.execute(INSERT_USER, user).fetchone()
    return UserRow(key, next_seq, next_seq)


def store(
    transaction: Transaction, drafts: Sequence[MemoryDraft]
) -> Outcome[tuple[SaveOutcome, ...], MemoryConflictError | MemoryNotFoundError]:
    """Store *drafts*, all or none.  Each draft is compared with the stored memories and with the drafts before it."""
    # Most batches are new and replace nothing; a unique index refuses the others.
    decision = decide_store(drafts, {}, ())
    forgotten = _forgotten(transaction, drafts)
    needs_facts = any(map(forgotten.concerns, drafts)) or any(
        draft.replaces is not None
        or draft.attribute is not None
        or (draft.key is not None and draft.value_key is not None)
        for draft in drafts
    )
    if needs_facts or not isinstance(decision, StoreDecision) or not _execute(transaction, decision.steps):
        taken = dict(_taken(transaction, drafts))
        decision = decide_store(drafts, taken, _current(transaction, drafts), forgotten)
        if not isinstance(decision, StoreDecision):
            return Failure(decision)
        if not _execute(transaction, decision.steps):
            raise sqlite3.IntegrityError("a memory of the batch exists, although none was found")
    note(transaction, decision.changes)
    return Success(decision.answer)


def _execute(transaction: Transaction, steps: Sequence[Step]) -> bool:
    """Execute *steps* and return True; undo them and return False when an id or a dedup key exists already."""
    inserted: list[int] = []
    for step in steps:
        user = user_row(transaction, step.draft.namespace.user)
        for end in step.ends:
            _end(transaction, user, end)
        key = _insert(transaction, user, step.draft)
        if key is None:
            transaction.execute(DELETE_INSERTED, {"keys": json.dumps(inserted)})
            return False
        if step.over is not None:
            _end(transaction, user, step.over)
        inserted.append(key)
    return True


def _end(transaction: Transaction, user: UserRow, end: End) -> None:
    ended = {
        "user_key": user.key,
        "memory_id": end.memory_id,
        "at_us": to_us(end.at),
        "successor": end.by,
    }
    transaction.execute(END_TRUTH, ended)


def _taken(transaction: Transaction, drafts: Sequence[MemoryDraft]) -> Iterator[tuple[MemoryName, Words]]:
    """Yield what is stored under the names of *drafts*."""
    for draft in drafts:
        user_id, memory_id = name_of(draft)
        asked = {"user_key": user_row(transaction, user_id).key, "memory_id": memory_id}
        row = transaction.execute(SELECT_OF_ID, asked).fetchone()
        if row is not None:
            app, content, key, value = row
            yield (user_id, memory_id), (Namespace(user_id, app), content, key, value)


def _current(transaction: Transaction, drafts: Sequence[MemoryDraft]) -> Iterator[CurrentRow]:
    """Yield the memories, valid now, that *drafts* may repeat or replace."""
    for draft in drafts:
        user = user_row(transaction, draft.namespace.user)
        asked = {
            "user_key": user.key,
            "app": draft.namespace.app,
            "dedup_key": draft.dedup_key,
            "replaces": draft.replaces,
            "value_key": draft.value_key,
            "attribute": draft.attribute,
        }
        for statement in (SELECT_TWIN, SELECT_REPLACED, SELECT_VALUE, SELECT_OF_ATTRIBUTE):
            for row in transaction.execute(statement, asked).fetchall():
                memory_id, app, key, dedup_key, created_at_us, attribute, role, source, path, pinned = row
                yield CurrentRow(
                    memory_id,
                    Namespace(draft.namespace.user, app),
                    value_key(role, source, key),
                    dedup_key,
                    from_us(created_at_us),
                    attribute,
                    is_stated=is_stated(role, source, path),
                    pinned=bool(pinned),
                )


def _insert(transaction: Transaction, user: UserRow, draft: MemoryDraft) -> int | None:
    """Store the row and its vector and return its key; None when its id or its dedup key exists already."""
    created_at_us = to_us(draft.created_at)
    space_key = None if draft.space is None else user.space_key(transaction, draft.space)
    columns = (
        *said_columns(draft),
        draft.terms,
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
        draft.attribute,
    )
    cursor = transaction.execute(INSERT_MEMORY, columns)
    if cursor.rowcount != 1:
        return None
    key = cursor.lastrowid
    if draft.past is not None and key is not None:
        keep_past(transaction, key, draft.past)
    if space_key is not None and draft.vector is not None:
        seq = user.take_seq() if draft.memory_type == "long_term" else None
        transaction.execute(INSERT_EMBEDDING, (key, space_key, seq, vector_column(draft.vector)))
    return key


def _forgotten(transaction: Transaction, drafts: Sequence[MemoryDraft]) -> Forgotten:
    """Return the tombstones, from the log, for the names of *drafts* and for the conversations that they come from."""
    write_noted(transaction)  # includes what an earlier write of this transaction has forgotten
    names: set[MemoryName] = set()
    gone: set[Source] = set()
    for user in {draft.namespace.user for draft in drafts}:
        if transaction.execute(SELECT_ANY_FORGOTTEN, {"user": user}).fetchone() is None:
            continue
        own = [draft for draft in drafts if draft.namespace.user == user]
        rows = [
            row
            for memory_id in {draft.id for draft in own}
            for row in transaction.execute(
                SELECT_FORGOTTEN_OF_ID, {"user": user, "memory_id": memory_id}
            ).fetchall()
        ]
        for session_id in {draft.session_id for draft in own if draft.provenance.message_ids}:
            asked = {"user": user, "session_id": session_id}
            rows += transaction.execute(SELECT_FORGOTTEN_OF_SESSION, asked).fetchall()
        for memory_id, session_id, evidence in rows:
            names.add((user, memory_id))
            gone |= sources(user, session_id, json.loads(evidence) if evidence else ())
    return Forgotten(names, gone) if names else NOTHING_FORGOTTEN
