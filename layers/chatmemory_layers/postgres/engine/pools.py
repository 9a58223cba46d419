"""``open_pool``: opens the pool of connections to one server, for one event loop."""

import asyncio
from contextlib import AsyncExitStack, suppress
from typing import Any, cast

from chatmemory.extra import needs_extra

with needs_extra("postgres"):
    import asyncpg  # pyright: ignore[reportMissingTypeStubs]  it has none

from chatmemory.effect import EffectFailed
from chatmemory.errors import RepositoryError
from chatmemory.settings.memory_settings import PostgresSettings
from chatmemory_layers.forked import PROCESS
from chatmemory_layers.postgres.engine.connection import Pool
from chatmemory_layers.postgres.engine.postgres_problem import DRIVER_ERRORS


async def open_pool(dsn: str, settings: PostgresSettings, pools: AsyncExitStack) -> Pool:
    """Return a pool of connections to *dsn*; a connection is opened when it is needed.

    Args:
        dsn: the address of the server.
        settings: the size of the pool, the timeout and the size of the cache of statements.
        pools: closes the pool when it is closed itself.

    Raises:
        EffectFailed: with a ``RepositoryError`` if no event loop of asyncio is running.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError as error:  # trio
        refusal = RepositoryError("open the store", "wrong_loop", "asyncpg needs asyncio", cause=error)
        raise EffectFailed(refusal) from error
    pool: Any = asyncpg.create_pool(  # pyright: ignore[reportUnknownMemberType]  asyncpg brings no types
        dsn,
        min_size=0,
        max_size=settings.pool_size,
        timeout=settings.timeout_seconds,
        statement_cache_size=settings.statement_cache_size,
        reset=_leave_as_it_is,
    )
    pools.push_async_callback(_close_pool, pool, settings, PROCESS.generation)
    return cast("Pool", await pool)


async def _close_pool(pool: Pool, settings: PostgresSettings, opened_in: int) -> None:
    if PROCESS.generation != opened_in:  # the parent process still uses them
        return
    with suppress(*DRIVER_ERRORS):
        async with asyncio.timeout(settings.timeout_seconds):
            await pool.close()  # if interrupted, it drops the connections


async def _leave_as_it_is(_: object) -> None:
    """Do nothing, so that asyncpg sends no reset: no setting of this backend outlives its transaction."""
