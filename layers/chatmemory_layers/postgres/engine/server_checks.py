"""``SERVER_CHECKS``: the health checks of ``store_checks.py`` that concern the server, whatever it stores."""

from collections.abc import AsyncIterator, Callable, Mapping
from typing import Final, TypeAlias

from chatmemory.pastchats.past_chats import Severity
from chatmemory.settings.memory_settings import PostgresSettings
from chatmemory_layers.postgres.engine.connection import Connection, connect
from chatmemory_layers.postgres.engine.postgres_problem import DRIVER_ERRORS
from chatmemory_layers.postgres.engine.vector_index import is_supported

MB: Final = 1_000_000
SLOW_MS: Final = 100.0
LEAST_CALLS: Final = 10
MOST_LAG_SECONDS: Final = 10.0
MOST_BEHIND: Final = 64 * MB
MOST_OPEN_SECONDS: Final = 900.0
LEAST_BUFFERS: Final = 128 * 2**20  # the default of PostgreSQL, for a server that does little

_LATE: Final = "reads there miss what was just written: look at its disk, its network and its long queries"

_UNREACHABLE: Final[tuple[type[Exception], ...]] = (*DRIVER_ERRORS, ValueError)
"""ValueError: asyncpg does not understand the address."""

Seen: TypeAlias = tuple[Severity, str, str]
Check: TypeAlias = Callable[[Connection, PostgresSettings], AsyncIterator[Seen]]

# For each setting and value that does harm: the severity, the effect and the cure.
_HURTS: Final[Mapping[tuple[str, str], Seen]] = {
    ("fsync", "off"): (
        "error",
        "fsync is off: a crash of the machine destroys the database",
        "ALTER SYSTEM SET fsync = on",
    ),
    ("full_page_writes", "off"): (
        "error",
        "full_page_writes is off: a crash of the machine may tear pages",
        "ALTER SYSTEM SET full_page_writes = on",
    ),
    ("synchronous_commit", "off"): (
        "error",
        "synchronous_commit is off: a crash loses what was acknowledged in the last moments",
        "ALTER SYSTEM SET synchronous_commit = on, and look at ALTER ROLE and ALTER DATABASE",
    ),
    ("autovacuum", "off"): (
        "warning",
        "autovacuum is off: tables grow, and plans get old",
        "ALTER SYSTEM SET autovacuum = on",
    ),
    ("track_counts", "off"): (
        "warning",
        "track_counts is off: autovacuum does not know what to do",
        "ALTER SYSTEM SET track_counts = on",
    ),
}
_ASKED: Final = [*(name for name, _ in _HURTS), "shared_buffers", "max_connections"]

SELECT_SERVER: Final = "SELECT current_setting('server_version') AS version, current_database() AS name"
SELECT_COUNTS_STATEMENTS: Final = "SELECT to_regclass('pg_stat_statements') IS NOT NULL AS is_counted"
SELECT_SLOW: Final = """
SELECT left(regexp_replace(query, '\\s+', ' ', 'g'), 80) AS query, calls, mean_exec_time::float AS ms
FROM pg_stat_statements
WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) AND calls >= $1 AND mean_exec_time >= $2
ORDER BY total_exec_time DESC LIMIT 3
"""
SELECT_IS_REPLICA: Final = "SELECT pg_is_in_recovery() AS is_replica"
# A replica that has replayed everything does not lag, however old the last write is.
SELECT_OWN_LAG: Final = """
SELECT CASE WHEN pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() THEN 0 ELSE
    coalesce(extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp()), 0) END::float AS seconds
"""
SELECT_REPLICAS: Final = """
SELECT coalesce(nullif(application_name, ''), client_addr::text, 'replica') AS name,
    coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn), 0)::bigint AS behind,
    coalesce(extract(epoch FROM replay_lag), 0)::float AS seconds
FROM pg_stat_replication
"""
SELECT_SLOTS: Final = """
SELECT slot_name AS name, coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn), 0)::bigint AS behind
FROM pg_replication_slots WHERE NOT active
"""
SELECT_SETTINGS: Final = """
SELECT name, setting, pg_size_bytes(CASE WHEN unit = '8kB' THEN setting || ' kB' ELSE '0' END) * 8 AS bytes
FROM pg_settings WHERE name = ANY ($1::text[])
"""
SELECT_VECTOR: Final = "SELECT extversion AS version FROM pg_extension WHERE extname = 'vector'"
SELECT_OPEN: Final = """
SELECT pid, coalesce(usename, '') AS role, state, extract(epoch FROM clock_timestamp() - xact_start)::float AS seconds
FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start < clock_timestamp() - make_interval(secs => $1::float)
ORDER BY xact_start LIMIT 3
"""


async def connected(dsn: str, settings: PostgresSettings) -> Connection:
    """Connect to *dsn* for the checks, with the time limit of *settings*."""
    return await connect(dsn, seconds=settings.timeout_seconds, statement_seconds=settings.timeout_seconds)


async def _version(connection: Connection, settings: PostgresSettings) -> AsyncIterator[Seen]:
    (server,) = await connection.fetch(SELECT_SERVER)
    yield "ok", f"database {server['name']}, PostgreSQL {server['version']}", ""


async def _slow(connection: Connection, settings: PostgresSettings) -> AsyncIterator[Seen]:
    (counted,) = await connection.fetch(SELECT_COUNTS_STATEMENTS)
    if not counted["is_counted"]:
        yield (
            "ok",
            "slow statements are not counted: CREATE EXTENSION pg_stat_statements would count them",
            "",
        )
        return
    slow = await connection.fetch(SELECT_SLOW, LEAST_CALLS, SLOW_MS)
    for row in slow:
        yield (
            "warning",
            f"{row['ms']:.0f} ms on average in {row['calls']} calls: {row['query']}",
            "look at it with EXPLAIN (ANALYZE, BUFFERS); see S010, S011 and S014 first",
        )
    if not slow:
        yield "ok", f"no statement takes {SLOW_MS:.0f} ms on average", ""


async def _replication(connection: Connection, settings: PostgresSettings) -> AsyncIterator[Seen]:
    (primary,) = await connection.fetch(SELECT_IS_REPLICA)
    if primary["is_replica"]:
        yield (
            "error",
            "this server is a replica: it takes no writes",
            "give the address of the primary as dsn",
        )
        return
    told: list[Seen] = []
    for row in await connection.fetch(SELECT_REPLICAS):
        said = f"the replica {row['name']} is {row['behind'] / MB:.1f} MB and {row['seconds']:.1f} s behind"
        is_late = row["behind"] > MOST_BEHIND or row["seconds"] > MOST_LAG_SECONDS
        told.append(("warning", said, _LATE) if is_late else ("ok", said, ""))
    for row in await connection.fetch(SELECT_SLOTS):
        said = f"no replica reads the replication slot {row['name']}, which keeps {row['behind'] / MB:.1f} MB of log"
        told.append(
            ("warning", said, f"start its replica, or SELECT pg_drop_replication_slot('{row['name']}')")
        )
    if settings.reader_dsn:
        told.append(await _reader(settings))
    for seen in told or [("ok", "no replica is connected", "")]:
        yield seen


async def _reader(settings: PostgresSettings) -> Seen:
    try:
        return await _lag(await connected(settings.reader_dsn, settings))
    except _UNREACHABLE as error:
        said = f"the server of readerDsn does not answer: {str(error).partition(chr(10))[0]}"
        return (
            "error",
            said,
            "start it, or correct memory.store.postgres.readerDsn: the store does not open without it",
        )


async def _lag(reader: Connection) -> Seen:
    try:
        (found,) = await reader.fetch(SELECT_IS_REPLICA)
        if not found["is_replica"]:
            return "ok", "the server of readerDsn is no replica", ""
        (lag,) = await reader.fetch(SELECT_OWN_LAG)
    finally:
        reader.terminate()
    said = f"the server of readerDsn is {lag['seconds']:.1f} s behind"
    return ("warning", said, _LATE) if lag["seconds"] > MOST_LAG_SECONDS else ("ok", said, "")


async def _settings(connection: Connection, settings: PostgresSettings) -> AsyncIterator[Seen]:
    rows = {row["name"]: row for row in await connection.fetch(SELECT_SETTINGS, _ASKED)}
    told: list[Seen] = [
        seen
        for (name, value), seen in _HURTS.items()
        if name in rows and rows[name]["setting"] == value  # hosted servers may lack some
    ]
    if (buffers := rows["shared_buffers"]["bytes"]) < LEAST_BUFFERS:
        told.append(
            (
                "warning",
                f"shared_buffers are {buffers // 2**20} MB",
                "ALTER SYSTEM SET shared_buffers to a quarter of the memory, and restart",
            )
        )
    if (most := int(rows["max_connections"]["setting"])) < 2 * settings.pool_size:
        told.append(
            (
                "warning",
                f"max_connections is {most}, with poolSize {settings.pool_size} for each program",
                "lower poolSize, or put a PgBouncer before the server",
            )
        )
    for seen in told or [("ok", "no setting loses data or time", "")]:
        yield seen


async def _vector(connection: Connection, settings: PostgresSettings) -> AsyncIterator[Seen]:
    rows = await connection.fetch(SELECT_VECTOR)
    if not rows:
        yield (
            "warning",
            "there is no pgvector: memories are found by their words alone",
            "install it, CREATE EXTENSION vector",
        )
    elif not is_supported(rows[0]["version"]):
        yield (
            "warning",
            f"pgvector {rows[0]['version']} is not used: 0.8 is needed",
            "ALTER EXTENSION vector UPDATE",
        )
    else:
        yield "ok", f"pgvector {rows[0]['version']}", ""


async def _open(connection: Connection, settings: PostgresSettings) -> AsyncIterator[Seen]:
    rows = await connection.fetch(SELECT_OPEN, MOST_OPEN_SECONDS)
    for row in rows:
        yield (
            "warning",
            (
                f"a transaction of {row['role']} ({row['state']}) is open for {row['seconds'] / 60:.0f} minutes: "
                "vacuum and readers of the log wait for it"
            ),
            f"SELECT pg_terminate_backend({row['pid']})",
        )
    if not rows:
        yield "ok", "no transaction is open for long", ""


SERVER_CHECKS: Final[Mapping[str, Check]] = {
    "S001": _version,
    "S012": _slow,
    "S013": _replication,
    "S014": _settings,
    "S015": _vector,
    "S017": _open,
}
