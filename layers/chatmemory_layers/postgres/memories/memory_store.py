"""``store``: stores a batch of memories, all or none, in a transaction of their user.

It reads the stored memories once, lets ``chatmemory.longterm.changes`` decide on each draft, and writes the new memories by
one statement.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID

import asyncpg  # pyright: ignore[reportMissingTypeStubs]  it has none
from attrs import evolve

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Failure, Outcome, Success
from chatmemory.errors import MemoryConflictError, MemoryNotFoundError
from chatmemory.longterm.changes import (
    CurrentRow,
    End,
    Forgotten,
    MemoryName,
    Source,
    StoreDecision,
    decide_store,
    name_of,
    sources,
)
from chatmemory.longterm.memories import SaveOutcome, is_stated, value_key
from chatmemory.longterm.repository_values import MemoryDraft
from chatmemory_layers.postgres.engine.connection import Connection, Row
from chatmemory_layers.postgres.engine.spread_keys import term_salt, user_key
from chatmemory_layers.postgres.memories.memory_history import keep_pasts
from chatmemory_layers.postgres.memories.memory_row import IS_VALUE, MemoryRow, insert_memories, space_keys
from chatmemory_layers.sql.columns import from_us, to_us

# ruff: noqa: S608  conditions of memory_row.py are put into statements, never values

# Creates the rows of new users, whose salt the hashes of the words in their memories need.
SELECT_TAKEN: Final = """
WITH made AS (
    INSERT INTO memory_user (user_key, user_name, term_salt)
    SELECT * FROM unnest($2::uuid[], $3::text[], $4::bigint[])
    ON CONFLICT DO NOTHING
)
SELECT memory_id, user_key, app_type, content, key, value, FALSE AS is_gone FROM atomic_memory
WHERE user_key = ANY ($2::uuid[]) AND memory_id = ANY ($1::text[])
UNION ALL
SELECT memory_id, user_key, session_id, evidence, NULL, NULL, TRUE FROM memory_event
WHERE user_key = ANY ($2::uuid[]) AND action = 'forgotten' AND reason IS NULL
    AND (memory_id = ANY ($1::text[]) OR session_id = ANY ($5::text[]) OR (session_id IS NULL AND $6))
"""


def select_current(columns: str, *, first: int) -> str:
    """Return a query for the memories, true now, that a draft may repeat or replace.

    Each condition has an index.  Of one query with all of them the planner reads every memory of the user until the server
    has statistics of a new store.

    Args:
        columns: what it reads.
        first: the number of the first of its parameters behind ``$1``, the users: the arrays of ids, keys, dedup keys in
            hexadecimal, and attributes.
    """
    conditions = (
        f"memory_id = ANY (${first}::text[])",
        f"key = ANY (${first + 1}::text[]) AND {IS_VALUE}",
        f"dedup_key = ANY (ARRAY(SELECT decode(wanted, 'hex') FROM unnest(${first + 2}::text[]) AS wanted))",
        f"attribute = ANY (${first + 3}::text[])",
    )
    of_users = (
        f"SELECT {columns} FROM atomic_memory WHERE user_key = ANY ($1::uuid[]) AND superseded_at_us IS NULL"
    )
    return f"({' UNION '.join(f'{of_users} AND {condition}' for condition in conditions)})"


SELECT_CURRENT: Final = select_current(
    "memory_id, user_key, app_type, key, dedup_key, created_at_us, attribute, role, source, path, pinned",
    first=2,
)
END_REPLACED: Final = """
UPDATE atomic_memory SET superseded_at_us = ended.at_us, superseded_by = ended.successor
FROM unnest($1::uuid[], $2::text[], $3::bigint[], $4::text[]) AS ended (user_key, memory_id, at_us, successor)
WHERE atomic_memory.user_key = ended.user_key AND atomic_memory.memory_id = ended.memory_id
"""

ID_TAKEN: Final = "atomic_memory_user_key_memory_id_key"


async def store(
    connection: Connection, drafts: tuple[MemoryDraft, ...]
) -> Outcome[tuple[SaveOutcome, ...], MemoryConflictError | MemoryNotFoundError]:
    """Store *drafts*, all or none.  Each draft is compared with the stored memories and with the drafts before it."""
    spaces = await space_keys(connection, [draft.space for draft in drafts if draft.space is not None])
    users = {user_key(user): user for user in {draft.namespace.user for draft in drafts}}
    made = [(key, user, term_salt(key)) for key, user in users.items()]
    ids = [draft.id for draft in drafts]
    sessions = {draft.session_id for draft in drafts if draft.provenance.message_ids}
    rows = await connection.fetch(
        SELECT_TAKEN,
        ids,
        *map(list, zip(*made, strict=True)),
        [each for each in sessions if each is not None],
        None in sessions,
    )
    taken = {
        (users[row["user_key"]], row["memory_id"]): (
            _namespace(row, users),
            row["content"],
            row["key"],
            row["value"],
        )
        for row in rows
        if not row["is_gone"]
    }
    forgotten = _forgotten([row for row in rows if row["is_gone"]], users)
    decision = decide_store(drafts, taken, await _current(connection, drafts, users), forgotten)
    if not isinstance(decision, StoreDecision):
        return Failure(decision)
    new: dict[MemoryName, MemoryRow] = {}
    ends: list[End] = []
    for step in decision.steps:
        for end in step.ends:
            name = end.namespace.user, end.memory_id
            if name in new:
                new[name] = ended(new[name], end)
            else:
                ends.append(end)
        draft = step.draft
        row = MemoryRow.of(draft, None if draft.space is None else spaces[draft.space])
        if step.over is not None:
            row = ended(row, step.over)
        new[name_of(draft)] = row
    if ends:  # before the new ones are written: ending a memory frees its dedup key
        rows_of_ends = [(user_key(end.namespace.user), end.memory_id, to_us(end.at), end.by) for end in ends]
        await connection.execute(END_REPLACED, *map(list, zip(*rows_of_ends, strict=True)))
    if new:
        try:
            await insert_memories(connection, new.values(), [*decision.changes])
        except asyncpg.UniqueViolationError as error:
            if getattr(error, "constraint_name", None) != ID_TAKEN:
                raise
            # Stored meanwhile for a user who is not locked here, see PostgresMemoryRepository.store; the server does not name the id.
            return Failure(MemoryConflictError(tuple([memory_id for _, memory_id in new])))
        await keep_pasts(connection, new, [step.draft for step in decision.steps])
    return Success(decision.answer)


def ended(row: MemoryRow, end: End) -> MemoryRow:
    """Return *row* with its *end*."""
    return evolve(row, superseded_at_us=to_us(end.at), superseded_by=end.by)


def _forgotten(tombstones: Sequence[Row], users: Mapping[UUID, str]) -> Forgotten:
    """Return what was forgotten; a row has the conversation in the column ``app_type``, and the evidence in ``content``."""
    names: set[MemoryName] = set()
    gone: set[Source] = set()
    for row in tombstones:
        user, evidence = users[row["user_key"]], row["content"]
        names.add((user, row["memory_id"]))
        gone |= sources(user, row["app_type"], json.loads(evidence) if evidence else ())
    return Forgotten(names, gone)


async def _current(
    connection: Connection, drafts: Sequence[MemoryDraft], users: Mapping[UUID, str]
) -> Sequence[CurrentRow]:
    """Return the memories, true now, that *drafts* may repeat or replace."""
    ids = [draft.replaces for draft in drafts if draft.replaces is not None]
    keys = [draft.value_key for draft in drafts if draft.value_key is not None]
    dedup_keys = [draft.dedup_key.hex() for draft in drafts if draft.dedup_key is not None]
    attributes = [draft.attribute for draft in drafts if draft.attribute is not None]
    if not (ids or keys or dedup_keys or attributes):
        return ()
    rows = await connection.fetch(SELECT_CURRENT, [*users], ids, keys, dedup_keys, attributes)
    return [
        CurrentRow(
            row["memory_id"],
            _namespace(row, users),
            value_key(row["role"], row["source"], row["key"]),
            row["dedup_key"],
            from_us(row["created_at_us"]),
            row["attribute"],
            is_stated=is_stated(row["role"], row["source"], row["path"]),
            pinned=row["pinned"],
        )
        for row in rows
    ]


def _namespace(row: Row, users: Mapping[UUID, str]) -> Namespace:
    return Namespace(users[row["user_key"]], row["app_type"])
