"""``migrate``: the schema, brought up to date step by step, each in one transaction of its own.

The steps stand in ``migration_steps.py``.  Tables are made where the address's ``search_path`` points.
"""

from typing import Final

from chatmemory.effect import EffectFailed
from chatmemory.errors import RepositoryError
from chatmemory_layers.postgres.engine.connection import Connection
from chatmemory_layers.postgres.engine.migration_steps import MIGRATIONS, Migration

_LOCK_KEY: Final = 0x63686174_6D656D6F  # "chatmemo": this number means us in pg_locks


CREATE_LEDGER: Final = """\
CREATE TABLE IF NOT EXISTS chatmemory_migration (
    number        BIGINT PRIMARY KEY,
    name          TEXT NOT NULL,
    checksum      TEXT NOT NULL,
    applied_at_us BIGINT NOT NULL
);
"""

UPGRADE_SECONDS: Final = 4 * 3600.0
"""How long the steps may take that bring the store of an earlier edition up to date, or whoever else takes them."""

LOCK: Final = f"SELECT pg_advisory_xact_lock({_LOCK_KEY})"
"""Lets one process at a time, until its transaction ends, change what the tables are."""

# With row-level security on, a step sees the rows that it changes only if it says so.
_BEGIN: Final = f"""
BEGIN ISOLATION LEVEL READ COMMITTED;
{LOCK};
SELECT set_config('chatmemory.principal', '*', TRUE);
{CREATE_LEDGER}
"""

_RECORD: Final = """
INSERT INTO chatmemory_migration (number, name, checksum, applied_at_us)
VALUES ($1, $2, $3, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
"""


def schema() -> str:
    """Return the statements that lead to the newest schema, as ``schemas/postgres.sql`` shows them."""
    steps = "".join(f"\n-- {step.number}: {step.name}\n\n{step.script}" for step in MIGRATIONS)
    return f"-- What chatmemory makes in a PostgreSQL database; generated from the migrations.\n\n{CREATE_LEDGER}{steps}"


async def is_behind(connection: Connection) -> bool:
    """Return whether an earlier edition has made the store, so that the missing steps may have much to rewrite.

    Raises:
        EffectFailed: with a ``RepositoryError``; the store was written by a newer version, or is none.
    """
    return 0 < len(await _applied(connection)) < len(MIGRATIONS)


async def migrate(connection: Connection) -> None:
    """Bring the store up to date.  Any number of processes may do so at once, and each may be killed at any moment.

    Whatever it raises, the connection has to be dropped: a step that did not end is still open on it.

    Raises:
        EffectFailed: with a ``RepositoryError``; the store was written by a newer version, or is none.
    """
    (server,) = await connection.fetch("SELECT current_setting('server_encoding') AS encoding")
    if server["encoding"] != "UTF8":  # others lack characters, and order ids otherwise than by code point
        detail = f"the database is {server['encoding']}, not UTF8"
        raise EffectFailed(RepositoryError("open the store", "not_a_store", detail))
    # Asked before anything is locked or created: a store that is up to date opens on a read-only server.
    applied = await _applied(connection)
    for migration in MIGRATIONS:
        if migration.number not in applied:
            await _apply(connection, migration)


async def _apply(connection: Connection, migration: Migration) -> None:
    await connection.execute(_BEGIN)
    if migration.number not in await _applied(connection):  # asked again: another process held the lock
        await connection.execute(migration.script)
        await connection.execute(_RECORD, migration.number, migration.name, migration.checksum)
    await connection.execute("COMMIT")


async def _applied(connection: Connection) -> frozenset[int]:
    """Return the numbers of the steps that the store has, once they are known to be ours."""
    (ledger,) = await connection.fetch("SELECT to_regclass('chatmemory_migration') AS oid")
    if ledger["oid"] is None:
        return frozenset()
    rows = await connection.fetch("SELECT number, checksum FROM chatmemory_migration")
    known = {migration.number: migration.checksum for migration in MIGRATIONS}
    for row in rows:
        if row["number"] not in known:
            detail = f"it has step {row['number']}, this program knows {len(MIGRATIONS)}"
            raise EffectFailed(RepositoryError("open the store", "newer_schema", detail))
        if row["checksum"] != known[row["number"]]:
            detail = f"its step {row['number']} is not the one that this program knows"
            raise EffectFailed(RepositoryError("open the store", "newer_schema", detail))
    return frozenset(row["number"] for row in rows)
