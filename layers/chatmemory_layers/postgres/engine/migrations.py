"""``migrate``: brings the schema up to date, step by step, each step in a separate transaction.

Before a step with much to copy, the rows are copied in pieces, one transaction each, so that a killed migration continues
where it stopped.  ``migration_steps.py`` has the steps.  Tables are created in the first schema of the ``search_path`` of
the address.

``settle_numbers`` keeps events in order when a store was moved to another server, for example by a dump.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import asyncpg  # pyright: ignore[reportMissingTypeStubs]  it has none

from chatmemory.effect import EffectFailed
from chatmemory.errors import RepositoryError
from chatmemory_layers.edition import edition
from chatmemory_layers.postgres.engine.connection import Connection
from chatmemory_layers.postgres.engine.migration_steps import MIGRATIONS, Migration

_LOCK_KEY: Final = 0x63686174_6D656D6F  # "chatmemo": so the lock is recognized in pg_locks
BEGIN_CHANGE: Final = f"BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_xact_lock({_LOCK_KEY});"
"""Begins a transaction in which one process at a time changes the schema."""

CREATE_LEDGER: Final = """\
CREATE TABLE IF NOT EXISTS chatmemory_migration (
    number        BIGINT PRIMARY KEY,
    name          TEXT NOT NULL,
    checksum      TEXT NOT NULL,
    applied_at_us BIGINT NOT NULL
);
"""

UPGRADE_SECONDS: Final = 4 * 3600.0
"""The time limit for migrating the store of an earlier edition, or for waiting until another process has done so."""

LATEST: Final = MIGRATIONS[-1].number

KNOWS_ALL_STEPS: Final = f"(SELECT max(number) FROM chatmemory_migration) <= {LATEST}"  # noqa: S608  made of a constant
"""The condition that this program knows all steps of the store.  A step waits for the transactions that have looked at it, and
a transaction that looks later waits for the step."""

REFUSE_IF_UPGRADED: Final = f"SELECT 1 / ({KNOWS_ALL_STEPS})::int;\n"
"""Divides by zero if the store has a step that this program does not know.  As it fails by itself, it can be sent together
with other statements."""

# With row-level security on, only the service sees the whole log, and all rows that a step changes.
_BEGIN: Final = f"""
{BEGIN_CHANGE}
SELECT set_config('chatmemory.principal', '*', TRUE);
"""
_BEGIN_STEP: Final = f"""{_BEGIN}{CREATE_LEDGER}
LOCK TABLE chatmemory_migration;
"""

_RECORD: Final = """
INSERT INTO chatmemory_migration (number, name, checksum, applied_at_us)
VALUES ($1, $2, $3, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
"""


async def migrate(connection: Connection) -> None:
    """Bring the store up to date.  Any number of processes may call it at once, and each may be killed at any moment.

    After any exception the caller must drop the connection, on which a transaction may be open.

    Raises:
        EffectFailed: with a ``RepositoryError`` if a newer version has migrated the store, or the tables are not a store.
    """
    (server,) = await connection.fetch("SELECT current_setting('server_encoding') AS encoding")
    if server["encoding"] != "UTF8":  # other encodings lack characters, and do not order ids by code point
        detail = f"the database is {server['encoding']}, not UTF8"
        raise EffectFailed(RepositoryError("open the store", "not_a_store", detail))
    # Checked before anything is locked or created, so that a store that is up to date opens on a read-only server.
    applied = await _applied(connection)
    for migration in MIGRATIONS:
        if migration.number not in applied:
            await _apply(connection, migration)


async def is_behind(connection: Connection) -> bool:
    """Return whether an earlier edition has made the store, so that the missing steps may have to rewrite many rows.

    Raises:
        EffectFailed: with a ``RepositoryError`` if a newer version has migrated the store, or the tables are not a store.
    """
    return 0 < len(await _applied(connection)) < len(MIGRATIONS)


async def newer_step(connection: Connection) -> str | None:
    """Describe the first step of the open store that this program does not know; None: it knows them all."""
    return _newer_step(
        await connection.fetch("SELECT number, name, checksum FROM chatmemory_migration ORDER BY number")
    )


def schema() -> str:
    """Return the statements of all steps, the content of ``schemas/postgres.sql``."""
    steps = "".join(f"\n-- {step.number}: {step.name}\n\n{step.script}" for step in MIGRATIONS)
    return f"-- What chatmemory makes in a PostgreSQL database; generated from the migrations.\n\n{CREATE_LEDGER}{steps}"


async def _apply(connection: Connection, migration: Migration) -> None:
    is_applied = False
    while not is_applied:
        await connection.execute(_BEGIN_STEP)
        is_applied = migration.number in await _applied(connection)  # another process may have held the lock
        if not is_applied and (migration.piece is None or not await migration.piece(connection)):
            await connection.execute(migration.script)
            name = f"{migration.name}, {edition()}"
            await connection.execute(_RECORD, migration.number, name, migration.checksum)
            is_applied = True
        await connection.execute("COMMIT")


async def _applied(connection: Connection) -> frozenset[int]:
    """Return the numbers of the steps that the store has gone through, after checking that this program knows them."""
    (ledger,) = await connection.fetch("SELECT to_regclass('chatmemory_migration') AS oid")
    if ledger["oid"] is None:
        return frozenset()
    rows = await connection.fetch("SELECT number, name, checksum FROM chatmemory_migration ORDER BY number")
    if (newer := _newer_step(rows)) is not None:
        raise EffectFailed(RepositoryError("open the store", "newer_schema", newer))
    return frozenset(row["number"] for row in rows)


def _newer_step(ledger: Sequence[Mapping[str, Any]]) -> str | None:
    known = {migration.number: migration.checksum for migration in MIGRATIONS}
    for row in ledger:
        if row["number"] not in known:
            return f"step {row['number']} ({row['name']}) was applied, this program knows {len(MIGRATIONS)}"
        if row["checksum"] != known[row["number"]]:
            return f"its step {row['number']} is not the one that this program knows"
    return None


SELECT_KNOWN: Final = """
SELECT obj_description('chatmemory_shift()'::regprocedure, 'pg_proc') AS server, chatmemory_shift() AS shift,
    has_function_privilege('pg_control_system()', 'EXECUTE') AS may_ask, pg_is_in_recovery() AS is_replica
"""
SELECT_SERVER: Final = "SELECT system_identifier::text AS server FROM pg_control_system()"
# A store that has recorded no server yet belongs to this one if no event has a number that the server has yet to reach.
SELECT_IS_AHEAD: Final = """
SELECT greatest(
    (SELECT max(transaction_id) FROM conversation_event), (SELECT max(transaction_id) FROM memory_event),
    (SELECT max(transaction_id) FROM item_event)
) >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint + chatmemory_shift() AS is_ahead
"""
UNKNOWN: Final = "unknown"
"""Recorded for a server that does not tell its identity; a move from it to another such server is not noticed."""

MOST_TRANSACTIONS: Final = 2**40
"""More transactions than a server reaches: a year of them at 30,000 a second."""


async def settle_numbers(connection: Connection) -> None:
    """Give new events larger numbers than the events of a former server.  Processes may call it concurrently.

    The log orders events by the server's transaction numbers.  On another server these may be smaller.  New events would
    then come before old ones, and a reader with a cursor of the old server would never get them.  So a store records its
    server, and adds to the numbers of a new server more than the old one can have reached; old cursors stay valid.

    After any exception the caller must drop the connection, because a transaction may be open on it.

    Raises:
        EffectFailed: with a ``RepositoryError`` if the role does not own the tables.
    """
    if await _is_known_server(connection):
        return
    try:
        await connection.execute(_BEGIN)
        if not await _is_known_server(connection):  # checked again: another process held the lock
            await _settle(connection)
        await connection.execute("COMMIT")
    except asyncpg.InsufficientPrivilegeError as error:
        detail = "it comes from another server: let the owner of its tables open it once"
        raise EffectFailed(RepositoryError("open the store", "unexpected", detail, cause=error)) from error


async def _is_known_server(connection: Connection) -> bool:
    """Return whether this is the server that the store has recorded."""
    (known,) = await connection.fetch(SELECT_KNOWN)
    if known["is_replica"] or not known["may_ask"]:
        return bool(known["is_replica"] or known["server"] == UNKNOWN)
    (asked,) = await connection.fetch(SELECT_SERVER)
    return bool(known["server"] == asked["server"])


async def _settle(connection: Connection) -> None:
    (known,) = await connection.fetch(SELECT_KNOWN)
    server = UNKNOWN
    if known["may_ask"]:
        (asked,) = await connection.fetch(SELECT_SERVER)
        server = str(int(asked["server"]))
    (log,) = await connection.fetch(SELECT_IS_AHEAD)
    if known["server"] is not None or log["is_ahead"]:
        await connection.execute(
            "CREATE OR REPLACE FUNCTION chatmemory_shift() RETURNS bigint LANGUAGE sql IMMUTABLE "
            f"RETURN {known['shift'] + MOST_TRANSACTIONS}::bigint"
        )
    await connection.execute(f"COMMENT ON FUNCTION chatmemory_shift() IS '{server}'")
