"""``store_checks``: the health checks of a store on PostgreSQL, which ``chatmemory doctor`` prints.  They write nothing.

==== ======================================================================
code what is checked
==== ======================================================================
S001 the server's version
S004 the steps of the schema
S005 how much is kept, and what takes the room
S006 history work that waits
S010 dead rows that vacuum has not taken yet
S011 indexes that are missing, or were left half made
S012 slow statements, where pg_stat_statements counts them
S013 replicas that lag, and slots without a reader
S014 settings that lose data or time
S015 pgvector
S016 whether the tables are spread over servers
S017 transactions that have been open for long
==== ======================================================================

A code is never reused for another check.  SQLite has the codes up to S009, too, see ``sqlite/engine/store_checks.py``.
"""

from collections.abc import AsyncIterator, Mapping
from typing import Final

from chatmemory.effect.outcome import EffectFailed
from chatmemory.errors import RepositoryError
from chatmemory.pastchats.past_chats import Finding
from chatmemory.settings.memory_settings import PostgresSettings
from chatmemory_layers.postgres.engine.connection import Connection
from chatmemory_layers.postgres.engine.distribution import distribution_of
from chatmemory_layers.postgres.engine.migration_steps import MIGRATIONS
from chatmemory_layers.postgres.engine.migrations import newer_step
from chatmemory_layers.postgres.engine.postgres_problem import DRIVER_ERRORS, repository_error
from chatmemory_layers.postgres.engine.server_checks import MB, SERVER_CHECKS, Check, Seen, connected
from chatmemory_layers.postgres.engine.spread_keys import EVERYWHERE, SPREAD_BY

TABLES: Final = (*EVERYWHERE, *SPREAD_BY)
MOST_SHOWN: Final = 3
MOST_DEAD: Final = 0.3
"""The share of dead rows to living rows above which vacuum is late; by default it runs at 0.2."""
LEAST_DEAD: Final = 10_000

INDEXES: Final = [
    "atomic_memory_attribute",
    "atomic_memory_beside",
    "atomic_memory_dedup",
    "atomic_memory_key",
    "atomic_memory_pkey",
    "atomic_memory_recallable",
    "atomic_memory_session",
    "atomic_memory_short_term",
    "atomic_memory_successor",
    "atomic_memory_terms",
    "atomic_memory_timeline",
    "atomic_memory_user_key_memory_id_key",
    "chat_message_by_id",
    "chat_message_in_view",
    "chat_message_pkey",
    "chatmemory_migration_pkey",
    "conversation_event_changes",
    "conversation_event_named",
    "conversation_event_pkey",
    "conversation_owner",
    "conversation_owner_recency",
    "conversation_pkey",
    "conversation_recency",
    "conversation_tree_pkey",
    "first_answer_expiry",
    "first_answer_pkey",
    "first_answer_words",
    "history_work_due",
    "history_work_pkey",
    "item_event_changes",
    "item_event_named",
    "item_event_pkey",
    "item_passage_pkey",
    "item_version_ended",
    "item_version_pkey",
    "memory_embedding_pkey",
    "memory_event_changes",
    "memory_event_forgotten",
    "memory_event_named",
    "memory_event_pkey",
    "memory_event_target",
    "memory_space_model_dim_key",
    "memory_space_pkey",
    "memory_use_pkey",
    "memory_user_pkey",
    "memory_version_pkey",
    "stored_item_expiry",
    "stored_item_namespace",
    "stored_item_pkey",
    "summarization_metadata_by_message",
    "summarization_metadata_pkey",
    "summary_coverage_once",
    "summary_coverage_pkey",
]
"""The indexes of the newest schema, without those of vectors and of row-level security, which not every store needs."""

SELECT_STEPS: Final = "SELECT to_regclass('chatmemory_migration') IS NOT NULL AS has_ledger"
COUNT_STEPS: Final = "SELECT count(*) AS taken FROM chatmemory_migration"
# From the statistics of the server, so that the check reads no table; a partitioned table has those of its partitions.
SELECT_SIZES: Final = """
SELECT name, coalesce(sum(n_live_tup), 0)::bigint AS living, coalesce(sum(n_dead_tup), 0)::bigint AS dead,
    coalesce(sum(pg_table_size(relid)), 0)::bigint AS table_bytes,
    coalesce(sum(pg_indexes_size(relid)), 0)::bigint AS index_bytes,
    max(greatest(last_vacuum, last_autovacuum))::text AS vacuumed
FROM unnest($1::text[]) AS name CROSS JOIN LATERAL (
    SELECT to_regclass(name) AS relid UNION SELECT relid FROM pg_partition_tree(to_regclass(name))
) AS part LEFT JOIN pg_stat_user_tables USING (relid)
GROUP BY name
ORDER BY sum(pg_total_relation_size(relid)) DESC NULLS LAST
"""
COUNT_WORK: Final = """
SELECT count(*) AS waiting,
    coalesce(extract(epoch FROM clock_timestamp()) - min(due_at_us) / 1000000.0, 0)::float AS seconds
FROM history_work
"""
SELECT_MISSING: Final = """
SELECT name FROM unnest($1::text[]) AS name WHERE to_regclass(name) IS NULL
"""
SELECT_INVALID: Final = """
SELECT indexrelid::regclass::text AS name FROM pg_index
WHERE indrelid = ANY (ARRAY(SELECT to_regclass(name) FROM unnest($1::text[]) AS name)) AND NOT indisvalid
    AND NOT EXISTS (SELECT FROM pg_stat_progress_create_index WHERE index_relid = indexrelid)
"""


async def store_checks(settings: PostgresSettings) -> tuple[Finding, ...]:
    """Run all checks of the table above, and return their findings in the order of their codes.

    Raises:
        EffectFailed: with a ``RepositoryError`` if the server cannot be reached.
    """
    try:
        connection = await connected(settings.dsn, settings)
    except DRIVER_ERRORS as error:
        raise EffectFailed(repository_error("check the store", error)) from error
    except ValueError as error:  # of asyncpg: the address
        raise EffectFailed(RepositoryError("check the store", "unavailable", str(error), error)) from error
    try:
        findings: list[Finding] = []
        for code, look in sorted([*SERVER_CHECKS.items(), *_CHECKS.items()]):
            try:
                async for severity, message, repair in look(connection, settings):
                    findings.append(Finding(code=code, severity=severity, message=message, repair=repair))
            except DRIVER_ERRORS as error:
                message = f"could not be looked at: {str(error).partition(chr(10))[0]}"
                repair = "GRANT pg_monitor to this role, or open the store once, which makes its tables"
                findings.append(Finding(code=code, severity="warning", message=message, repair=repair))
        return tuple(findings)
    finally:
        connection.terminate()


async def _steps(connection: Connection, settings: PostgresSettings) -> AsyncIterator[Seen]:
    (ledger,) = await connection.fetch(SELECT_STEPS)
    taken = 0
    if ledger["has_ledger"]:
        if (newer := await newer_step(connection)) is not None:
            yield "error", f"the store is newer than this program: {newer}", "update chatmemory"
            return
        taken = (await connection.fetch(COUNT_STEPS))[0]["taken"]
    if taken < len(MIGRATIONS):
        missing = f"{len(MIGRATIONS) - taken} steps of the schema are missing"
        yield "warning", missing, "the next command that opens the store takes them"
    else:
        yield "ok", f"the schema is at step {MIGRATIONS[-1].number}", ""


async def _kept(connection: Connection, settings: PostgresSettings) -> AsyncIterator[Seen]:
    rows = await connection.fetch(SELECT_SIZES, [*TABLES])
    living = {row["name"]: row["living"] for row in rows}
    tables, indexes = sum(row["table_bytes"] for row in rows), sum(row["index_bytes"] for row in rows)
    largest = ", ".join(
        f"{row['name']} {(row['table_bytes'] + row['index_bytes']) / MB:.1f} MB" for row in rows[:MOST_SHOWN]
    )
    yield (
        "ok",
        (
            f"about {living['conversation']} conversations with {living['chat_message']} messages, "
            f"{living['atomic_memory']} memories with {living['memory_embedding']} vectors, {living['item']} items, "
            f"{tables / MB:.1f} MB and {indexes / MB:.1f} MB of indexes; the largest: {largest}"
        ),
        "",
    )


async def _work(connection: Connection, settings: PostgresSettings) -> AsyncIterator[Seen]:
    (work,) = await connection.fetch(COUNT_WORK)
    since = f", the longest for {work['seconds']:.0f} s" if work["seconds"] > 0 else ""
    yield "ok", f"{work['waiting']} conversations wait for their history strategy{since}", ""


async def _dead(connection: Connection, settings: PostgresSettings) -> AsyncIterator[Seen]:
    rows = await connection.fetch(SELECT_SIZES, [*TABLES])
    behind = [row for row in rows if row["dead"] >= LEAST_DEAD and row["dead"] > MOST_DEAD * row["living"]]
    for row in behind:
        yield (
            "warning",
            f"{row['name']}: {row['dead']} dead rows beside {row['living']}, vacuumed {row['vacuumed'] or 'never'}",
            f"VACUUM (ANALYZE) {row['name']}; if it comes back, set autovacuum_vacuum_scale_factor = 0.02 on the table",
        )
    if not behind:
        yield "ok", "vacuum keeps up with the dead rows", ""


async def _indexes(connection: Connection, settings: PostgresSettings) -> AsyncIterator[Seen]:
    (ledger,) = await connection.fetch(SELECT_STEPS)
    if not ledger["has_ledger"]:
        yield "ok", "no indexes are there before the store is opened", ""
        return
    missing = [row["name"] for row in await connection.fetch(SELECT_MISSING, [*INDEXES])]
    invalid = [row["name"] for row in await connection.fetch(SELECT_INVALID, [*TABLES])]
    for name in missing:
        yield (
            "error",
            f"the index {name} is missing",
            "make it as schemas/postgres.sql shows it, with CONCURRENTLY",
        )
    for name in invalid:
        yield (
            "warning",
            f"the index {name} was left half made: it costs, and is not used",
            f"REINDEX INDEX CONCURRENTLY {name}",
        )
    if not missing and not invalid:
        yield "ok", f"all {len(INDEXES)} indexes are there and valid", ""


async def _spread(connection: Connection, settings: PostgresSettings) -> AsyncIterator[Seen]:
    told = await distribution_of(connection)
    done = sum(table.is_done for table in told.tables)
    if not done:
        yield "ok", "the tables are on one server", ""
    elif done < len(told.tables):
        left = ", ".join(table.name for table in told.tables if not table.is_done)
        yield (
            "error",
            f"not spread over the servers: {left}",
            "python -m chatmemory_layers.postgres.distribute DSN",
        )
    else:
        yield "ok", "the tables are spread over servers", ""


_CHECKS: Final[Mapping[str, Check]] = {
    "S004": _steps,
    "S005": _kept,
    "S006": _work,
    "S010": _dead,
    "S011": _indexes,
    "S016": _spread,
}
