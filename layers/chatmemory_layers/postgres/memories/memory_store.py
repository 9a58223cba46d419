"""``store``: a batch of memories, all or none, in a transaction of their user.

What is stored already is read once, what becomes of each draft is decided in ``chatmemory.longterm.changes``, and
what is new is written at once.
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
from chatmemory.longterm.changes import End, StandingMemory, StoreDecision, decide_store, name_of
from chatmemory.longterm.forgotten import Forgotten, MemoryName, Source, sources
from chatmemory.longterm.memories import SaveOutcome, is_stated
from chatmemory.longterm.repository_values import MemoryDraft
from chatmemory_layers.postgres.engine.connection import Connection, Row
from chatmemory_layers.postgres.engine.spread_keys import term_salt, user_key
from chatmemory_layers.postgres.memories.memory_row import MemoryRow, insert_memories, space_keys
from chatmemory_layers.sql.columns import from_us, to_us

# Users who are new are made on the way: the words of their memories are hashed with the salt that stands in their row.
SELECT_TAKEN: Final = """
WITH made AS (
    INSERT INTO memory_user (user_key, user_id, term_salt)
    SELECT * FROM unnest($2::text[]::uuid[], $3::text[], $4::text[]::bigint[])
    ON CONFLICT DO NOTHING
)
SELECT memory_id, user_key, app_type, content, key, value, FALSE AS is_gone FROM atomic_memory
WHERE user_key = ANY ($2::text[]::uuid[]) AND memory_id = ANY ($1::text[])
UNION ALL
SELECT memory_id, user_key, session_id, evidence, NULL, NULL, TRUE FROM memory_event
WHERE user_key = ANY ($2::text[]::uuid[]) AND action = 'forgotten' AND reason IS NULL
    AND (memory_id = ANY ($1::text[]) OR session_id = ANY ($5::text[]) OR (session_id IS NULL AND $6))
"""
# The memories, true now, that a draft may repeat or replace.
SELECT_STANDING: Final = """
SELECT memory_id, user_key, app_type, key, dedup_key, created_at_us, attribute, role, source, path, pinned FROM atomic_memory
WHERE user_key = ANY ($1::text[]::uuid[]) AND superseded_at_us IS NULL AND (
    memory_id = ANY ($2::text[]) OR key = ANY ($3::text[]) OR attribute = ANY ($5::text[])
    OR dedup_key = ANY (ARRAY(SELECT decode(wanted, 'hex') FROM unnest($4::text[]) AS wanted))
)
"""
END_REPLACED: Final = """
UPDATE atomic_memory SET superseded_at_us = ended.at_us, superseded_by = ended.successor
FROM unnest($1::text[]::uuid[], $2::text[], $3::text[]::bigint[], $4::text[]) AS ended (user_key, memory_id, at_us, successor)
WHERE atomic_memory.user_key = ended.user_key AND atomic_memory.memory_id = ended.memory_id
"""

ID_TAKEN: Final = "atomic_memory_user_key_memory_id_key"


async def store(
    connection: Connection, drafts: tuple[MemoryDraft, ...]
) -> Outcome[tuple[SaveOutcome, ...], MemoryConflictError | MemoryNotFoundError]:
    """See ``MemoryRepository.store``."""
    spaces = await space_keys(connection, [draft.space for draft in drafts if draft.space is not None])
    users = {user_key(user): user for user in {draft.namespace.user for draft in drafts}}
    made = [(str(key), user, str(term_salt(key))) for key, user in users.items()]
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
    decision = decide_store(drafts, taken, await _standing(connection, drafts, users), forgotten)
    if not isinstance(decision, StoreDecision):
        return Failure(decision)
    new: dict[MemoryName, MemoryRow] = {}
    ended: list[End] = []
    for step in decision.steps:
        for end in step.ends:
            name = end.namespace.user, end.memory_id
            if name in new:
                row = new[name]
                new[name] = evolve(row, superseded_at_us=to_us(end.at), superseded_by=end.by)
            else:
                ended.append(end)
        draft = step.draft
        row = MemoryRow.of(draft, None if draft.space is None else spaces[draft.space])
        if step.over is not None:
            row = evolve(row, superseded_at_us=to_us(step.over.at), superseded_by=step.over.by)
        new[name_of(draft)] = row
    if ended:  # before the new ones come: a dedup key is free when the truth of its memory has ended
        ends = [
            (str(user_key(end.namespace.user)), end.memory_id, str(to_us(end.at)), end.by) for end in ended
        ]
        await connection.execute(END_REPLACED, *map(list, zip(*ends, strict=True)))
    if new:
        try:
            await insert_memories(connection, new.values(), [*decision.changes])
        except asyncpg.UniqueViolationError as error:
            if getattr(error, "constraint_name", None) != ID_TAKEN:
                raise
            # Just now, by a user that has no lock here, see PostgresMemoryRepository.store; the server does not say which id.
            return Failure(MemoryConflictError(tuple([memory_id for _, memory_id in new])))
    return Success(decision.answer)


def _forgotten(tombstones: Sequence[Row], users: Mapping[UUID, str]) -> Forgotten:
    """Read what was forgotten: the conversation in the column of the app, the evidence in that of the content."""
    names: set[MemoryName] = set()
    gone: set[Source] = set()
    for row in tombstones:
        user, evidence = users[row["user_key"]], row["content"]
        names.add((user, row["memory_id"]))
        gone |= sources(user, row["app_type"], json.loads(evidence) if evidence else ())
    return Forgotten(names, gone)


async def _standing(
    connection: Connection, drafts: Sequence[MemoryDraft], users: Mapping[UUID, str]
) -> Sequence[StandingMemory]:
    """Read the memories, true now, that *drafts* may repeat or replace."""
    ids = [draft.replaces for draft in drafts if draft.replaces is not None]
    keys = [draft.key for draft in drafts if draft.replaces_key and draft.key is not None]
    dedup_keys = [draft.dedup_key.hex() for draft in drafts if draft.dedup_key is not None]
    attributes = [draft.attribute for draft in drafts if draft.attribute is not None]
    if not (ids or keys or dedup_keys or attributes):
        return ()
    rows = await connection.fetch(SELECT_STANDING, [*map(str, users)], ids, keys, dedup_keys, attributes)
    return [
        StandingMemory(
            row["memory_id"],
            _namespace(row, users),
            row["key"],
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
