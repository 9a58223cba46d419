"""A store with row-level security, as it is to be run: one role owns the tables, another serves."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import final
from urllib.parse import urlsplit
from uuid import uuid4

from attrs import frozen

from chatmemory.settings.memory_settings import PostgresSettings
from chatmemory_layers.postgres.engine.database import open_database
from chatmemory_layers.postgres.throwaway_server import fresh_database, run_on_server


@final
@frozen
class GuardedStore:
    """The addresses of one database for three roles.

    Attributes:
        above: a superuser, whom no policy holds back.
        owner: the owner of the tables, no superuser.
        serving: a role that may read and write the tables, and owns nothing.
    """

    above: str
    owner: str
    serving: str


@asynccontextmanager
async def guarded_store() -> AsyncGenerator[GuardedStore]:
    """Lend a store that its owner has made with ``rowSecurity``."""
    name = f"chatmemory_{uuid4().hex[:12]}"
    owner, serving = f"{name}_owner", f"{name}_serving"
    await run_on_server(*(f"CREATE ROLE {role} LOGIN PASSWORD '{name}'" for role in (owner, serving)))
    try:
        async with fresh_database() as above:
            parts = urlsplit(above)
            host = parts.netloc.rpartition("@")[2]
            as_role = [parts._replace(netloc=f"{role}:{name}@{host}").geturl() for role in (owner, serving)]
            database = parts.path[1:]
            await run_on_server(
                f"GRANT CREATE ON SCHEMA public TO {owner}",
                "DO 'BEGIN CREATE EXTENSION vector; EXCEPTION WHEN OTHERS THEN NULL; END'",  # if there is one
                database=database,
            )
            async with open_database(PostgresSettings(dsn=as_role[0], row_security=True)):
                pass
            await run_on_server(
                f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {serving}",
                database=database,
            )
            yield GuardedStore(above, *as_role)
    finally:
        await run_on_server(*(f"DROP ROLE {role}" for role in (owner, serving)))
