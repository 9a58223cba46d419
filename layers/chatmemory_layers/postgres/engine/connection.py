"""``Connection`` and ``Pool``: types for the parts of asyncpg that the backend uses; ``connect`` and ``open_pool`` open them.

asyncpg itself is untyped.  ``planned_once`` keeps the server from planning a large statement again for each call,
``PLANNED_EACH_TIME`` makes it do so.
"""

import asyncio
import re
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from typing import Any, Final, Protocol, TypeAlias, cast

from chatmemory.effect import EffectFailed
from chatmemory.errors import RepositoryError
from chatmemory.extra import needs_extra
from chatmemory.settings.memory_settings import PostgresSettings
from chatmemory_layers.forked import PROCESS
from chatmemory_layers.postgres.engine.postgres_problem import DRIVER_ERRORS
from chatmemory_layers.postgres.engine.real_arrays import take_real_arrays

with needs_extra("postgres"):
    import asyncpg  # pyright: ignore[reportMissingTypeStubs]  it has none

_ARRAY: Final = re.compile(r"\$(\d+)((?:::[a-z ]+\[\])+)")  # a parameter that is cast to an array

Row: TypeAlias = Mapping[str, Any]
"""Values by column name."""


PLANNED_EACH_TIME: Final = "(SELECT count(*) FROM generate_series(1, 1000000000000) WHERE $1 IS NULL) = 0"
"""A condition that is always true, for a statement whose plan depends on its arguments, and whose ``$1`` is never NULL.

The server makes a plan for each call, as long as the plan for any arguments seems to cost more.  With this condition it does:
only a plan for given arguments shows that nothing is counted.
"""


class Connection(Protocol):
    """Defines a session with the server.  One task uses it at a time."""

    async def execute(
        self,
        statement: str,
        /,
        *arguments: object,
        timeout: float | None = None,  # noqa: ASYNC109  asyncpg's own
    ) -> str:
        """Run one statement, or several if there are no *arguments* for ``$1``, ``$2``, ...; return the status of the last one.

        *timeout*: seconds until the statement is cancelled; None: the default of the connection.
        """
        ...

    async def fetch(self, statement: str, /, *arguments: object) -> Sequence[Row]:
        """Run one statement and return its rows."""
        ...

    def terminate(self) -> None:
        """Close the socket without telling the server."""
        ...


class Pool(Protocol):
    """Defines a pool of connections, which many tasks share."""

    async def acquire(self, *, timeout: float) -> Connection:  # noqa: ASYNC109  asyncpg's own
        """Wait up to *timeout* seconds for a connection; its release later waits as long at most."""
        ...

    async def release(self, connection: Connection, /) -> None:
        """Return a connection to the pool, which drops it if it is unusable."""
        ...

    def get_size(self) -> int:
        """Return the number of open connections."""
        ...

    def get_idle_size(self) -> int:
        """Return the number of open connections that no task uses."""
        ...

    def get_max_size(self) -> int:
        """Return the largest number of connections that the pool opens."""
        ...

    async def close(self) -> None:
        """Wait until every connection is returned, and close them all."""
        ...

    def terminate(self) -> None:
        """Close every connection without telling the server."""
        ...


async def connect(dsn: str, *, seconds: float = 60.0, statement_seconds: float | None = None) -> Connection:
    """Open a connection outside of any pool, which the caller terminates; no statement is cached, for a PgBouncer before it.

    It waits *seconds* for the server; each statement may take *statement_seconds*, None: without limit.

    Raises:
        asyncpg.PostgresError: or another of ``DRIVER_ERRORS``.
        ValueError: asyncpg does not understand the address.
    """
    connection: Connection = await cast("Any", asyncpg).connect(
        dsn, statement_cache_size=0, timeout=seconds, command_timeout=statement_seconds
    )
    return connection


async def open_pool(dsn: str, settings: PostgresSettings, pools: AsyncExitStack) -> Pool:
    """Return a pool of connections to *dsn*, which *pools* closes; a connection is opened when it is needed.

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
        init=take_real_arrays,
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


def planned_once(statement: str) -> str:
    """Return *statement* with its array parameters in subqueries, where the planner does not see their lengths.

    A plan for arrays of one element looks cheaper than the generic plan, so that the server would plan each call of a
    single write again; that takes longer than the write.
    """
    return _ARRAY.sub(r"(SELECT $\1\2)", statement)
