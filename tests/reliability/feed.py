"""``every_change``: all events of a store whose writer was killed."""

import anyio
import asyncpg

from chatmemory.events.event import Event
from chatmemory.events.event_log import EventLog, changes
from tests.patience import PATIENCE_SECONDS

SNAPSHOT = "pg_current_snapshot()"


async def every_change(address: str, log: EventLog) -> list[Event]:
    """Return the whole feed.

    On PostgreSQL it ends before the oldest transaction that is open anywhere on the server, in a test beside this one too:
    what has been committed by now is there as soon as all are over that had begun before.
    """
    if "://" in address:
        await transactions_are_over(address)
    return await changes(log).run_collect().or_raise()


async def transactions_are_over(dsn: str) -> None:
    """Wait for the end of every transaction of the server that writes now."""
    connection = await asyncpg.connect(dsn)
    try:
        now = await connection.fetchval(f"SELECT pg_snapshot_xmax({SNAPSHOT})::text")
        with anyio.fail_after(PATIENCE_SECONDS):
            while await connection.fetchval(f"SELECT pg_snapshot_xmin({SNAPSHOT}) < '{now}'::xid8"):  # noqa: ASYNC110  another process ends it
                await anyio.sleep(0.02)
    finally:
        await connection.close()
