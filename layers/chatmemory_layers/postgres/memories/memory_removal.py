"""The writes that remove memories: forget and expire.  Each runs in a transaction of the user.

No statement sees a deleted row any more.  Its bytes stay in the files of the server until they are overwritten, also after a
VACUUM, which only frees the space.  In the log and the backups of the server they stay as long as it keeps these.  To be
sure that they are gone, the owner of the tables runs ``VACUUM FULL``, which locks the tables, and then a ``CHECKPOINT``.
The tables are ``atomic_memory``, ``memory_version``, ``memory_embedding``, ``memory_use`` and ``memory_user``.
"""

from collections.abc import Sequence
from typing import Final, Never

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Outcome, Success
from chatmemory.longterm.changes import change_of_expiry, change_of_forgetting
from chatmemory.longterm.memories import ForgetReceipt
from chatmemory.longterm.repository_values import Expiry, Forgetting
from chatmemory_layers.postgres.engine.connection import Connection, Row
from chatmemory_layers.postgres.engine.row_security import act_for_the_service
from chatmemory_layers.postgres.engine.spread_keys import user_key
from chatmemory_layers.postgres.events.noted_events import note
from chatmemory_layers.postgres.memories.memory_row import OWNED, SEEN, seen_by
from chatmemory_layers.postgres.messages.message_forks import family_of
from chatmemory_layers.postgres.messages.message_reads import SELECT_OWNERS
from chatmemory_layers.postgres.messages.message_writes import SELECT_BY_IDS
from chatmemory_layers.sql.columns import to_us
from chatmemory_layers.sql.granted import may_read

# ruff: noqa: S608  conditions of memory_row.py are put into statements, never values

_FORGOTTEN: Final = f"""
SELECT memory_key, memory_id, app_type, session_id, message_ids FROM {{source}}
WHERE {SEEN} AND ($3::text IS NULL OR session_id = $3) AND ($4::text IS NULL OR $4 = ANY (message_ids))
    AND ($5::text IS NULL OR path = $5)
"""
SELECT_FORGOTTEN: Final = _FORGOTTEN.format(source="atomic_memory")
# A memory, if the app may see it, and the memories that it has superseded.
SELECT_FORGOTTEN_CHAIN: Final = f"""
WITH RECURSIVE chain AS (
    SELECT memory_id FROM atomic_memory WHERE {SEEN} AND memory_id = $6
    UNION
    SELECT older.memory_id FROM chain JOIN atomic_memory AS older ON older.superseded_by = chain.memory_id
    WHERE older.{OWNED}
)
{_FORGOTTEN.format(source="chain JOIN atomic_memory USING (memory_id)")}
"""
SELECT_EXPIRED: Final = f"""
SELECT memory_key, memory_id, app_type, session_id FROM atomic_memory
WHERE {SEEN} AND memory_type = 'short_term' AND NOT pinned
    AND ($3::text IS NULL OR session_id = $3) AND ($4::bigint IS NULL OR created_at_us < $4)
"""

DELETE_EMBEDDINGS: Final = f"""
DELETE FROM memory_embedding WHERE {OWNED} AND memory_key = ANY ($2::uuid[]) RETURNING memory_key
"""
DELETE_USES: Final = f"""
DELETE FROM memory_use WHERE {OWNED} AND memory_key = ANY ($2::uuid[])
"""
DELETE_VERSIONS: Final = f"""
DELETE FROM memory_version WHERE {OWNED} AND memory_key = ANY ($2::uuid[])
"""
DELETE_ANSWERS: Final = f"""
DELETE FROM first_answer WHERE {OWNED} AND memory_ids && $2::text[]
"""
DELETE_MEMORIES: Final = f"""
DELETE FROM atomic_memory WHERE {OWNED} AND memory_key = ANY ($2::uuid[])
"""
UPDATE_ORPHANS: Final = f"""
UPDATE atomic_memory SET superseded_by = NULL WHERE {OWNED} AND superseded_by = ANY ($2::text[])
"""
DELETE_USER: Final = f"""
DELETE FROM memory_user
WHERE {OWNED} AND NOT EXISTS (SELECT FROM atomic_memory WHERE atomic_memory.user_key = memory_user.user_key)
"""

# From the summary that covers a message to the summary that covers it in turn, and so on.
MARK_STALE: Final = """
WITH RECURSIVE source (conversation_id, message_id) AS (
    SELECT conversation_id COLLATE "C", message_id COLLATE "C"
    FROM unnest($1::text[], $2::text[]) AS source (conversation_id, message_id)
    UNION
    SELECT summarization_metadata.conversation_id, summary_message_id
    FROM source JOIN summary_coverage
        ON summary_coverage.conversation_id = source.conversation_id
        AND hashtextextended(summary_coverage.message_id, 0) = hashtextextended(source.message_id, 0)
        AND summary_coverage.message_id = source.message_id
    JOIN summarization_metadata
        ON summarization_metadata.conversation_id = source.conversation_id AND summarization_metadata.id = metadata_id
)
UPDATE summarization_metadata SET is_stale = TRUE FROM source
WHERE summarization_metadata.conversation_id = source.conversation_id
    AND hashtextextended(summary_message_id, 0) = hashtextextended(source.message_id, 0)
    AND summary_message_id = source.message_id
RETURNING summarization_metadata.conversation_id, summary_message_id
"""


async def forget(connection: Connection, forgetting: Forgetting, /) -> Outcome[ForgetReceipt, Never]:
    """Remove memories with their vectors, index entries and uses, so that no byte of the store holds their text."""
    source = (
        *seen_by(forgetting.namespace),
        forgetting.session_id,
        forgetting.message_id,
        forgetting.path,
    )
    if forgetting.memory_id is None:
        gone = await connection.fetch(SELECT_FORGOTTEN, *source)
    else:
        gone = await connection.fetch(SELECT_FORGOTTEN_CHAIN, *source, forgetting.memory_id)
    embeddings = await _remove(connection, forgetting.namespace, gone)
    changes = [
        change_of_forgetting(
            row["memory_id"],
            Namespace(forgetting.namespace.user, row["app_type"]),
            row["session_id"],
            row["message_ids"],
        )
        for row in gone
    ]
    await note(connection, changes)
    return Success(ForgetReceipt(len(gone), embeddings, await _mark_stale(connection, gone)))


async def expire(connection: Connection, expiry: Expiry) -> Outcome[int, Never]:
    """Remove short-term memories that are not pinned, whether true now or superseded."""
    namespace, before = expiry.namespace, expiry.created_before
    before_us = None if before is None else to_us(before)
    gone = await connection.fetch(SELECT_EXPIRED, *seen_by(namespace), expiry.session_id, before_us)
    await _remove(connection, namespace, gone)
    changes = [
        change_of_expiry(
            row["memory_id"],
            Namespace(namespace.user, row["app_type"]),
            session_id=row["session_id"],
            ended=expiry.session_id,
        )
        for row in gone
    ]
    await note(connection, changes)
    return Success(len(gone))


async def _remove(connection: Connection, namespace: Namespace, gone: Sequence[Row]) -> int:
    """Remove the memories *gone* with their vectors, uses and versions; return the number of vectors."""
    if not gone:
        return 0
    user, keys = user_key(namespace.user), [row["memory_key"] for row in gone]
    vectors = await connection.fetch(DELETE_EMBEDDINGS, user, keys)
    await connection.execute(DELETE_USES, user, keys)
    await connection.execute(DELETE_VERSIONS, user, keys)
    await connection.execute(DELETE_MEMORIES, user, keys)
    await connection.execute(UPDATE_ORPHANS, user, [row["memory_id"] for row in gone])
    await connection.execute(DELETE_ANSWERS, user, [row["memory_id"] for row in gone])
    await connection.execute(DELETE_USER, user)
    return len(vectors)


async def _mark_stale(connection: Connection, gone: Sequence[Row]) -> tuple[str, ...]:
    """Mark the summaries that cover the messages from which the memories *gone* came, and return the ids of the summaries.

    The writer of a memory names its source, so conversations that the principal may not see are not changed.
    """
    named = {row["session_id"] for row in gone if row["session_id"] is not None and row["message_ids"]}
    if not named:
        return ()
    seen = {
        row["conversation_id"]
        for row in await connection.fetch(SELECT_OWNERS, [*named])
        if may_read(*row.values())
    }
    sources = {name: set[str]() for name in seen}
    for row in gone:
        if row["session_id"] in seen:
            sources[row["session_id"]].update(row["message_ids"])
    if not any(sources.values()):
        return ()
    # As the service, because a principal who may read a conversation may be unable to change it.  It is the last step.
    await act_for_the_service(connection)
    stale: set[str] = set()
    for conversation_id, message_ids in sources.items():
        stale |= await _mark_in_family(connection, conversation_id, message_ids)
    return tuple(sorted(stale))


async def _mark_in_family(connection: Connection, conversation_id: str, message_ids: set[str]) -> set[str]:
    """Mark the summaries of the messages in a conversation, and in the parents and branches that have the same messages."""
    family, numbers = await family_of(connection, conversation_id), dict[str, int]()
    if len(family) > 1:
        found = await connection.fetch(SELECT_BY_IDS, conversation_id, [*message_ids])
        numbers = {row["id"]: row["seq"] for row in found}
    owners = {row["conversation_id"]: row for row in await connection.fetch(SELECT_OWNERS, [*family])}
    places = [
        (kin, id_) for kin, reach in family.items() for id_ in message_ids if numbers.get(id_, 0) <= reach
    ]
    marked = await connection.fetch(MARK_STALE, *map(list, zip(*places, strict=True)))
    return {row["summary_message_id"] for row in marked if may_read(*owners[row["conversation_id"]].values())}
