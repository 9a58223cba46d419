"""``store``: stores a batch of memories, all or none, in a transaction of their user.

It reads the facts by one statement, lets ``chatmemory.longterm.changes`` decide on each draft, and writes the new memories
by another one.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeAlias, final
from uuid import UUID

import asyncpg  # pyright: ignore[reportMissingTypeStubs]  it has none
from attrs import frozen

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Failure, Outcome, Success
from chatmemory.embedding.space import EmbeddingSpace
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
from chatmemory_layers.postgres.events.noted_events import columns_of
from chatmemory_layers.postgres.memories.memory_history import keep_pasts
from chatmemory_layers.postgres.memories.memory_row import (
    INSERT_MEMORIES,
    IS_VALUE,
    MemoryRow,
    drafts_of,
    row_of,
    space_keys,
)
from chatmemory_layers.sql.columns import from_us, to_us

# ruff: noqa: S608  conditions of memory_row.py are put into statements, never values

# Each condition has an index.  Of one query with all of them the planner reads every memory of the user until the server has
# statistics of a new store.
_CURRENT: Final = " UNION ".join(
    f"""
SELECT 'current', user_key, memory_id, app_type, NULL, key, NULL, dedup_key, created_at_us, attribute, role, source, path, pinned
FROM atomic_memory WHERE user_key = ANY ($1::uuid[]) AND superseded_at_us IS NULL AND {condition}
"""
    for condition in (
        "memory_id = ANY ($5::text[])",
        f"key = ANY ($6::text[]) AND {IS_VALUE}",
        "dedup_key = ANY (ARRAY(SELECT decode(wanted, 'hex') FROM unnest($7::text[]) AS wanted))",
        "attribute = ANY ($8::text[])",
    )
)
_FACTS: Final = f"""
SELECT 'taken' AS kind, user_key, memory_id, app_type, content, key, value, NULL::bytea AS dedup_key, NULL::bigint AS at_us,
    NULL AS attribute, NULL AS role, NULL AS source, NULL AS path, NULL::boolean AS flag
FROM atomic_memory WHERE user_key = ANY ($1::uuid[]) AND memory_id = ANY ($2::text[])
UNION ALL
SELECT 'gone', user_key, memory_id, session_id, evidence, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM memory_event WHERE user_key = ANY ($1::uuid[]) AND action = 'forgotten' AND reason IS NULL
    AND (memory_id = ANY ($2::text[]) OR session_id = ANY ($3::text[]) OR (session_id IS NULL AND $4))
UNION ALL
({_CURRENT})
UNION ALL
SELECT 'space', NULL, NULL, NULL, model, NULL, NULL, NULL, dim, NULL, NULL, NULL, space_key::text, NULL
FROM memory_space WHERE model = ANY ($9::text[])
"""
# Creates the rows of new users as well, whose salt the hashes of the words in their memories need, and sets changed_us, which
# makes what was read before out of date, see store_groups.py and memory_search.py.
SELECT_FACTS: Final = f"""
WITH changed AS (
    INSERT INTO memory_user (user_key, user_name, term_salt, changed_us)
    SELECT user_key, user_name, salt, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
    FROM unnest($1::uuid[], $10::text[], $11::bigint[]) AS wanted (user_key, user_name, salt)
    ON CONFLICT (user_key) DO UPDATE SET changed_us = greatest(memory_user.changed_us + 1, excluded.changed_us)
)
{_FACTS}
"""
# Reads also when the memories of each user last changed, for a write that takes no lock before.
SELECT_FACTS_OF_USERS: Final = f"""
{_FACTS}
UNION ALL
SELECT 'user', wanted.user_key, NULL, NULL, NULL, NULL, NULL, NULL, changed_us, NULL, NULL, NULL, NULL,
    known.user_key IS NOT NULL
FROM unnest($1::uuid[]) AS wanted (user_key) LEFT JOIN LATERAL (
    SELECT user_key, changed_us FROM memory_user WHERE memory_user.user_key = wanted.user_key LIMIT 1
) AS known ON TRUE
"""
END_REPLACED: Final = """
UPDATE atomic_memory SET superseded_at_us = ended.at_us, superseded_by = ended.successor
FROM unnest($1::uuid[], $2::text[], $3::bigint[], $4::text[]) AS ended (user_key, memory_id, at_us, successor)
WHERE atomic_memory.user_key = ended.user_key AND atomic_memory.memory_id = ended.memory_id
"""

ID_TAKEN: Final = "atomic_memory_user_key_memory_id_key"


Drafts: TypeAlias = tuple[MemoryDraft, ...]


@final
@frozen
class Facts:
    """What decides on drafts.

    Attributes:
        changed_us: when the memories of the user last changed; None: a new user, or not read.
        taken: the memories that have an id of the drafts.
        current: the memories, true now, that the drafts may repeat or replace.
        forgotten: what must not be stored again.
        spaces: the numbers of the known spaces.
    """

    changed_us: int | None
    taken: Mapping[MemoryName, tuple[Namespace, str, str | None, str | None]]
    current: Sequence[CurrentRow]
    forgotten: Forgotten
    spaces: Mapping[EmbeddingSpace, int]


async def store(
    connection: Connection, drafts: Drafts
) -> Outcome[tuple[SaveOutcome, ...], MemoryConflictError | MemoryNotFoundError]:
    """Store *drafts*, all or none.  Each draft is compared with the stored memories and with the drafts before it."""
    users = users_of(drafts)
    salts = [term_salt(key) for key in users]
    rows = await connection.fetch(SELECT_FACTS, *facts_wanted(users, drafts), [*users.values()], salts)
    facts = facts_of(users, rows)
    decision = decide_store(drafts, facts.taken, facts.current, facts.forgotten)
    if not isinstance(decision, StoreDecision):
        return Failure(decision)
    wanted = {draft.space for draft in drafts if draft.space is not None}
    spaces = facts.spaces if wanted <= facts.spaces.keys() else await space_keys(connection, wanted)
    new, ends = rows_of(decision, spaces)
    if ends:  # before the new ones are written: ending a memory frees its dedup key
        rows_of_ends = [(user_key(end.namespace.user), end.memory_id, to_us(end.at), end.by) for end in ends]
        await connection.execute(END_REPLACED, *map(list, zip(*rows_of_ends, strict=True)))
    if new:
        try:
            await connection.execute(
                INSERT_MEMORIES, *drafts_of(new.values()), *columns_of([*decision.changes])
            )
        except asyncpg.UniqueViolationError as error:
            if getattr(error, "constraint_name", None) != ID_TAKEN:
                raise
            # Stored meanwhile for a user who is not locked here, see PostgresMemoryRepository.store; the server does not name the id.
            return Failure(MemoryConflictError(tuple([memory_id for _, memory_id in new])))
        await keep_pasts(connection, new, [step.draft for step in decision.steps])
    return Success(decision.answer)


def users_of(drafts: Iterable[MemoryDraft]) -> dict[UUID, str]:
    """Return the users to whom *drafts* belong, by their keys, in the order in which their rows are locked."""
    return dict(sorted((user_key(user), user) for user in {draft.namespace.user for draft in drafts}))


def facts_wanted(users: Iterable[UUID], drafts: Sequence[MemoryDraft]) -> tuple[object, ...]:
    """Return the parameters of ``_FACTS`` for *drafts*, which belong to *users*."""
    sessions = {draft.session_id for draft in drafts if draft.provenance.message_ids}
    return (
        [*users],
        [draft.id for draft in drafts],
        [each for each in sessions if each is not None],
        None in sessions,
        [draft.replaces for draft in drafts if draft.replaces is not None],
        [draft.value_key for draft in drafts if draft.value_key is not None],
        [draft.dedup_key.hex() for draft in drafts if draft.dedup_key is not None],
        [draft.attribute for draft in drafts if draft.attribute is not None],
        [*{draft.space.model for draft in drafts if draft.space is not None}],
    )


def facts_of(users: Mapping[UUID, str], rows: Iterable[Row]) -> Facts:
    """Return the facts about *users* in rows of ``_FACTS``; a fact takes the columns that it needs."""
    changed_us: int | None = None
    taken: dict[MemoryName, tuple[Namespace, str, str | None, str | None]] = {}
    current: list[CurrentRow] = []
    names: set[MemoryName] = set()
    gone: set[Source] = set()
    spaces: dict[EmbeddingSpace, int] = {}
    for row in rows:
        memory_id, content, user = row["memory_id"], row["content"], users.get(row["user_key"], "")
        match row["kind"]:
            case "user":
                changed_us = row["at_us"] if row["flag"] else None
            case "taken":
                taken[user, memory_id] = Namespace(user, row["app_type"]), content, row["key"], row["value"]
            case "gone":
                names.add((user, memory_id))
                gone |= sources(user, row["app_type"], json.loads(content) if content else ())
            case "space":
                spaces[EmbeddingSpace(content, row["at_us"])] = int(row["path"])
            case _:
                current.append(
                    CurrentRow(
                        memory_id,
                        Namespace(user, row["app_type"]),
                        value_key(row["role"], row["source"], row["key"]),
                        row["dedup_key"],
                        from_us(row["at_us"]),
                        row["attribute"],
                        is_stated=is_stated(row["role"], row["source"], row["path"]),
                        pinned=row["flag"],
                    )
                )
    return Facts(changed_us, taken, current, Forgotten(names, gone), spaces)


def rows_of(
    decision: StoreDecision, spaces: Mapping[EmbeddingSpace, int]
) -> tuple[dict[MemoryName, MemoryRow], list[End]]:
    """Return the new rows, and the ends of memories that are stored already."""
    new: dict[MemoryName, MemoryRow] = {}
    ends: list[End] = []
    for step in decision.steps:
        for end in step.ends:
            name = end.namespace.user, end.memory_id
            if name in new:
                new[name] = _ended(new[name], end)
            else:
                ends.append(end)
        draft = step.draft
        row = row_of(draft, None if draft.space is None else spaces[draft.space])
        new[name_of(draft)] = row if step.over is None else _ended(row, step.over)
    return new, ends


def _ended(row: MemoryRow, end: End) -> MemoryRow:
    return row | {"superseded_at_us": to_us(end.at), "superseded_by": end.by}
