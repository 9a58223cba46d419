"""``settle_numbers``: keeps events in order when a store was moved to another server, for example by a dump.

The log orders events by the server's transaction numbers.  On another server these may be smaller.  New events would then
come before old ones, and a reader with a cursor of the old server would never get them.  So a store records its server, and
adds to the numbers of a new server more than the old one can have reached; old cursors stay valid.
"""

from typing import Final

import asyncpg  # pyright: ignore[reportMissingTypeStubs]  it has none

from chatmemory.effect import EffectFailed
from chatmemory.errors import RepositoryError
from chatmemory_layers.postgres.engine.connection import Connection
from chatmemory_layers.postgres.engine.migrations import LOCK

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

# With row-level security on, only the service sees the whole log.
_BEGIN: Final = f"""
BEGIN ISOLATION LEVEL READ COMMITTED;
{LOCK};
SELECT set_config('chatmemory.principal', '*', TRUE);
"""
UNKNOWN: Final = "unknown"
"""Recorded for a server that does not tell its identity; a move from it to another such server is not noticed."""

MOST_TRANSACTIONS: Final = 2**40
"""More transactions than a server reaches: a year of them at 30,000 a second."""


async def settle_numbers(connection: Connection) -> None:
    """Give new events larger numbers than the events of a former server.  Processes may call it concurrently.

    After any exception the caller must drop the connection, because a transaction may be open on it.

    Raises:
        EffectFailed: with a ``RepositoryError`` if the role does not own the tables.
    """
    if await _is_at_home(connection):
        return
    try:
        await connection.execute(_BEGIN)
        if not await _is_at_home(connection):  # checked again: another process held the lock
            await _settle(connection)
        await connection.execute("COMMIT")
    except asyncpg.InsufficientPrivilegeError as error:
        detail = "it comes from another server: let the owner of its tables open it once"
        raise EffectFailed(RepositoryError("open the store", "unexpected", detail, cause=error)) from error


async def _is_at_home(connection: Connection) -> bool:
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
