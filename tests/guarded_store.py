"""A store with row-level security, as it is to be run: one role owns the tables, another serves."""

import asyncio
import atexit
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import final
from urllib.parse import urlsplit
from uuid import uuid4

from attrs import frozen

from chatmemory.settings.memory_settings import PostgresSettings
from chatmemory_layers.postgres.engine.database import open_database
from chatmemory_layers.postgres.throwaway_server import postgres_dsn, run_on_server
from tests.empty_store import empty

_free: list["GuardedStore"] = []


@final
@frozen
class GuardedStore:
    """The addresses of one database for three roles.

    Attributes:
        database: its name.
        above: a superuser, whom no policy holds back.
        owner: the owner of the tables, no superuser.
        serving: a role that may read and write the tables, and owns nothing.
    """

    database: str
    above: str
    owner: str
    serving: str


@asynccontextmanager
async def guarded_store() -> AsyncGenerator[GuardedStore]:
    """Lend a store that its owner has made with ``rowSecurity``."""
    name = f"chatmemory_{uuid4().hex[:12]}"
    try:
        yield await _made(name)
    finally:
        await _dropped(name)


@asynccontextmanager
async def empty_guarded_store() -> AsyncGenerator[GuardedStore]:
    """Lend such a store, emptied for the next test rather than dropped: for what alters no table, policy or role."""
    if _free:
        store = _free.pop()
    else:
        name = f"chatmemory_{uuid4().hex[:12]}"
        store = await _made(name)
        # Registered when the server runs, so that it is called before the server ends.
        atexit.register(lambda: asyncio.run(_dropped(name)))
    yield store
    await empty(store.database)
    _free.append(store)


async def _made(name: str) -> GuardedStore:
    owner, serving = f"{name}_owner", f"{name}_serving"
    await run_on_server(
        *(f"CREATE ROLE {role} LOGIN PASSWORD '{name}'" for role in (owner, serving)),
        f"CREATE DATABASE {name}",
    )
    above = postgres_dsn(name)
    parts = urlsplit(above)
    host = parts.netloc.rpartition("@")[2]
    as_role = [parts._replace(netloc=f"{role}:{name}@{host}").geturl() for role in (owner, serving)]
    await run_on_server(
        f"GRANT CREATE ON SCHEMA public TO {owner}",
        "DO 'BEGIN CREATE EXTENSION vector; EXCEPTION WHEN OTHERS THEN NULL; END'",  # if there is one
        database=name,
    )
    async with open_database(PostgresSettings(dsn=as_role[0], row_security=True)):
        pass
    await run_on_server(
        f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {serving}", database=name
    )
    return GuardedStore(name, above, *as_role)


async def _dropped(name: str) -> None:
    await run_on_server(
        f"DROP DATABASE IF EXISTS {name} WITH (FORCE)",
        *(f"DROP ROLE IF EXISTS {name}_{role}" for role in ("owner", "serving")),
    )
