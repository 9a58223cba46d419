"""``empty_store``: an empty store of ours on PostgreSQL, emptied for the next test rather than dropped.

Making a database and its tables takes most of the time of a short test.  What alters tables takes a ``copied_store``, which
is a tenth of that work, and what makes a store by itself a ``fresh_database``.  With ``ROW_LOCKS=1`` the stores pass for distributed ones, whose writers lock rows.
"""

import asyncio
import atexit
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from uuid import uuid4

from chatmemory.settings.memory_settings import PostgresSettings
from chatmemory_layers.postgres.engine.database import open_database
from chatmemory_layers.postgres.throwaway_server import postgres_dsn, run_on_server
from tests.fake_citus import spread_in_name

LOCKS_ROWS = os.environ.get("ROW_LOCKS") == "1"

END_SESSIONS = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
"""
EMPTY = """
DO $$
DECLARE stored regclass;
BEGIN
    FOR stored IN SELECT oid FROM pg_class
        WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> 'chatmemory_migration'
    LOOP
        EXECUTE format('DELETE FROM %s', stored);
    END LOOP;
    PERFORM setval(oid, 1, false) FROM pg_class WHERE relkind = 'S' AND relnamespace = 'public'::regnamespace;
END
$$
"""

_free: list[str] = []
_templates: list[str] = []


@asynccontextmanager
async def empty_store() -> AsyncGenerator[str]:
    """Lend the address of a database whose tables are there and empty."""
    name = _free.pop() if _free else await _made()
    yield postgres_dsn(name)
    await empty(name)
    _free.append(name)


@asynccontextmanager
async def copied_store() -> AsyncGenerator[str]:
    """Lend the address of an empty store that nobody else has, and drop it afterwards."""
    if not _templates:
        _templates.append(await _made())
    name = f"chatmemory_copy_{uuid4().hex[:12]}"
    await run_on_server(f"CREATE DATABASE {name} TEMPLATE {_templates[0]}")
    try:
        yield postgres_dsn(name)
    finally:
        await run_on_server(f"DROP DATABASE {name} WITH (FORCE)")


async def empty(database: str) -> None:
    """End all sessions in *database*, and delete every row of its store."""
    await run_on_server(END_SESSIONS, EMPTY, database=database)


async def _made() -> str:
    name = f"chatmemory_store_{uuid4().hex[:12]}"
    await run_on_server(f"CREATE DATABASE {name}")
    atexit.register(lambda: asyncio.run(run_on_server(f"DROP DATABASE {name} WITH (FORCE)")))
    async with open_database(PostgresSettings(dsn=postgres_dsn(name))):
        pass
    if LOCKS_ROWS:
        await spread_in_name(postgres_dsn(name))
    return name
