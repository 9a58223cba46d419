"""``Database``: the connections to one store, and the ways to use them: ``read``, ``read_snapshot`` and ``write``.

A read is one statement, or several on one snapshot.  A write is one transaction of one owner, a conversation or a user
of memories, in line behind the other writers of that owner.  All end in bounded time, and no exception of asyncpg leaves
them.  ``methods.py`` makes methods of a repository from functions that run in one of these ways.  Tables and statements
are the business of the repositories.
"""

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any, Concatenate, Final, ParamSpec, TypeAlias, TypeVar, cast, final
from weakref import WeakValueDictionary

from chatmemory.extra import needs_extra

with needs_extra("postgres"):
    import asyncpg  # pyright: ignore[reportMissingTypeStubs]  it has none

from chatmemory.effect import EffectFailed, Failure, Layer, Outcome, Success, Tag
from chatmemory.errors import RepositoryError
from chatmemory.settings.memory_settings import PostgresSettings, PostgresSettingsTag
from chatmemory_layers.forked import HOW_TO_START, PROCESS
from chatmemory_layers.postgres.engine.connection import Connection, Pool
from chatmemory_layers.postgres.engine.migrations import UPGRADE_SECONDS, is_behind, migrate
from chatmemory_layers.postgres.engine.postgres_problem import DRIVER_ERRORS, repository_error
from chatmemory_layers.postgres.engine.row_security import acting, guard
from chatmemory_layers.postgres.engine.vector_index import VectorIndexes, find_vectors

A = TypeVar("A")
E = TypeVar("E")
P = ParamSpec("P")

Read: TypeAlias = Callable[Concatenate[Connection, P], Awaitable[A]]
"""A read: one statement, because two would see two snapshots; in ``read_snapshot`` they see one."""

Work: TypeAlias = Callable[Concatenate[Connection, P], Awaitable[Outcome[A, E]]]
"""A write: its statements are committed when it answers with a success, and undone otherwise."""

# The server ends a slow transaction and says why; the client ends one whose server is silent, a moment later.
_GRACE_SECONDS: Final = 1.0

# One round trip.  READ COMMITTED, whatever the database's default: the statement that reads must see what the writer
# before has committed, so its snapshot has to be younger than the lock.  No setting outlives the transaction, as
# PgBouncer's transaction mode demands.  The last timeout frees the lock of a client that stands still.
_BEGIN: Final = """
BEGIN ISOLATION LEVEL READ COMMITTED;
SET LOCAL lock_timeout = {milliseconds};
SET LOCAL statement_timeout = {milliseconds};
SET LOCAL idle_in_transaction_session_timeout = {milliseconds};
SELECT pg_advisory_xact_lock({key});
"""

# A generic plan would not know how many memories a user has, nor which filters there are: it sorts them all for a page.
_BEGIN_SNAPSHOT: Final = """
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
SET LOCAL statement_timeout = {milliseconds};
SET LOCAL plan_cache_mode = force_custom_plan;
"""
# A read of one statement is a transaction only where the server is told who reads.
_BEGIN_READ: Final = "BEGIN READ ONLY;"


@final
class Database:
    """The primary and its reader (which may be the same), for one event loop.

    Attributes:
        vector_indexes: None: the server has no pgvector, and cannot compare vectors.
    """

    def __init__(self, primary: Pool, reader: Pool, settings: PostgresSettings) -> None:
        """Belong to the running event loop."""
        self._primary = primary
        self._reader = reader
        self._dsn = settings.dsn
        self._seconds = settings.timeout_seconds
        self._milliseconds = max(1, round(self._seconds * 1000))
        self._is_guarded = settings.row_security
        self._loop = asyncio.get_running_loop()
        self._is_closed = False
        self._generation = PROCESS.generation
        self.vector_indexes: VectorIndexes | None = None
        self._lines: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._writes: set[asyncio.Task[Any]] = set()

    async def read(
        self, operation: str, work: Read[P, A], *args: P.args, **kwargs: P.kwargs
    ) -> Outcome[A, RepositoryError]:
        """Run *work* on the reader, whose answer may lag behind the last write when it is a replica."""
        return await self._read(self._reader, operation, lambda lent: work(lent, *args, **kwargs))

    async def read_primary(
        self, operation: str, work: Read[P, A], *args: P.args, **kwargs: P.kwargs
    ) -> Outcome[A, RepositoryError]:
        """Run *work* where the writes go."""
        return await self._read(self._primary, operation, lambda lent: work(lent, *args, **kwargs))

    async def read_snapshot(
        self, operation: str, work: Read[P, A], *args: P.args, **kwargs: P.kwargs
    ) -> Outcome[A, RepositoryError]:
        """Run *work* on the reader: its statements see one state of the store, and are planned for their arguments."""
        begin = _BEGIN_SNAPSHOT.format(milliseconds=self._milliseconds)
        return await self._read(
            self._reader, operation, lambda lent: work(lent, *args, **kwargs), begin=begin
        )

    async def write(
        self, operation: str, owner: str, work: Work[P, A, E], *args: P.args, **kwargs: P.kwargs
    ) -> Outcome[A, E | RepositoryError]:
        """Run *work* in a transaction of the *owner*, who has one at a time; answer once it is durable.

        A caller that is cancelled does not stop a transaction that has begun: it happens whole, or not at all.
        """
        if (refusal := self._refusal(operation)) is not None:
            return refusal
        # In line before the pool: an owner that many write to must not hold every connection.
        line = self._lines.setdefault(owner, asyncio.Lock())
        try:
            async with asyncio.timeout(self._seconds):
                await line.acquire()
        except TimeoutError as error:
            return Failure(RepositoryError(operation, "busy", "many write to the same place", cause=error))
        if self._is_closed:  # while it stood in line
            line.release()
            return Failure(RepositoryError(operation, "closed"))
        transaction = asyncio.create_task(
            self._transaction(operation, owner, lambda lent: work(lent, *args, **kwargs))
        )
        self._writes.add(transaction)
        transaction.add_done_callback(self._writes.discard)
        # Not the caller's to release: one that is cancelled leaves before its transaction has ended.
        transaction.add_done_callback(lambda _: line.release())
        return await asyncio.shield(transaction)

    async def prepare(self) -> None:
        """Bring the store up to date, and see that the reader answers.

        It takes ``timeout_seconds`` at most, unless an earlier edition has filled the store.

        Raises:
            EffectFailed: with a ``RepositoryError``, see ``migrate``; or an exception of the driver.
        """
        async with self._lend(self._primary) as connection:
            try:
                async with asyncio.timeout(self._seconds):
                    limit = UPGRADE_SECONDS if await is_behind(connection) else self._seconds
                async with asyncio.timeout(limit):
                    await migrate(connection)
                    await guard(connection, is_wanted=self._is_guarded)
                    has_vectors = await find_vectors(connection)
            except BaseException:
                connection.terminate()  # which undoes a step that has begun, even when the server is silent
                raise
        self.vector_indexes = VectorIndexes(self._dsn) if has_vectors else None
        if self._reader is not self._primary:
            async with self._lend(self._reader) as connection:
                await guard(connection, is_wanted=self._is_guarded)

    async def close(self) -> None:
        """Take no more calls, and let the writes that have begun end; in a forked child, leave them to the parent."""
        self._is_closed = True
        if PROCESS.generation != self._generation:
            return
        if self.vector_indexes is not None:
            await self.vector_indexes.close()
        if self._writes:
            await asyncio.wait(self._writes)

    def _refusal(self, operation: str) -> Failure[RepositoryError] | None:
        if PROCESS.generation != self._generation:  # both would write to the same sockets
            return Failure(RepositoryError(operation, "forked", HOW_TO_START))
        try:
            here = asyncio.get_running_loop()
        except RuntimeError:  # trio
            here = None
        if here is not self._loop:
            return Failure(RepositoryError(operation, "wrong_loop"))
        return Failure(RepositoryError(operation, "closed")) if self._is_closed else None

    async def _read(
        self, pool: Pool, operation: str, work: Callable[[Connection], Awaitable[A]], begin: str = ""
    ) -> Outcome[A, RepositoryError]:
        if (refusal := self._refusal(operation)) is not None:
            return refusal
        try:
            async with self._lend(pool) as connection, asyncio.timeout(self._seconds):
                if self._is_guarded:
                    begin = (begin or _BEGIN_READ) + acting()
                if not begin:
                    return Success(await work(connection))
                try:
                    await connection.execute(begin)
                    return Success(await work(connection))
                finally:
                    await _roll_back(connection)
        except DRIVER_ERRORS as error:
            return Failure(repository_error(operation, error))

    async def _transaction(
        self, operation: str, owner: str, work: Callable[[Connection], Awaitable[Outcome[A, E]]]
    ) -> Outcome[A, E | RepositoryError]:
        is_committing = is_over = False
        try:
            async with self._lend(self._primary) as connection:
                try:
                    async with asyncio.timeout(self._seconds + _GRACE_SECONDS):
                        await connection.execute(self._begin(owner))
                        outcome = await work(connection)
                        if isinstance(outcome, Success):
                            is_committing = True
                            await connection.execute("COMMIT")
                            is_over = True
                        return outcome
                finally:
                    if not is_over:
                        await _roll_back(connection)
        except DRIVER_ERRORS as error:
            return Failure(repository_error(operation, error, at_commit=is_committing))

    def _begin(self, owner: str) -> str:
        begin = _BEGIN.format(key=lock_of(owner), milliseconds=self._milliseconds)
        return begin + acting(owner) if self._is_guarded else begin

    @asynccontextmanager
    async def _lend(self, pool: Pool) -> AsyncGenerator[Connection]:
        try:
            connection = await pool.acquire(timeout=self._seconds)
        except TimeoutError as error:
            if pool.get_size() < pool.get_max_size():
                raise  # the server does not answer
            msg = f"all {pool.get_max_size()} connections of the pool are in use"
            raise asyncpg.TooManyConnectionsError(msg) from error
        try:
            yield connection
        finally:
            await pool.release(connection)


def lock_of(owner: str) -> str:
    """Return the number of the lock of *owner*, in digits: so no text has to be quoted into a statement."""
    return str(int.from_bytes(hashlib.blake2b(owner.encode(), digest_size=8).digest(), signed=True))


async def _roll_back(connection: Connection) -> None:
    """Leave no transaction behind; a connection that cannot do even that is dropped."""
    try:
        await connection.execute("ROLLBACK", timeout=_GRACE_SECONDS)
    except DRIVER_ERRORS:
        with suppress(*DRIVER_ERRORS):  # asyncpg may have dropped it already
            connection.terminate()


class DatabaseTag(Tag[Database]):
    """The tag under which layers provide ``Database``."""


@asynccontextmanager
async def open_database(settings: PostgresSettings) -> AsyncGenerator[Database]:
    """Connect, bring the store up to date, lend it, and leave no connection open.

    Raises:
        EffectFailed: with the ``RepositoryError`` that says why it cannot be opened.
    """
    async with AsyncExitStack() as pools:
        try:
            primary = reader = await _open_pool(settings.dsn, settings, pools)
            if settings.reader_dsn:
                reader = await _open_pool(settings.reader_dsn, settings, pools)
            opened = Database(primary, reader, settings)
            await opened.prepare()
        except DRIVER_ERRORS as error:
            raise EffectFailed(repository_error("open the store", error)) from error
        try:
            yield opened
        finally:
            await opened.close()


async def _open_pool(dsn: str, settings: PostgresSettings, pools: AsyncExitStack) -> Pool:
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
    if PROCESS.generation != opened_in:  # the parent uses its connections
        return
    with suppress(*DRIVER_ERRORS):
        async with asyncio.timeout(settings.timeout_seconds):
            await pool.close()  # which drops the connections when it is interrupted


async def _leave_as_it_is(_: object) -> None:
    """Save the round trip with which asyncpg resets a session: nothing here outlives its transaction."""


database = Layer.scoped(DatabaseTag, open_database, PostgresSettingsTag).failing_with(RepositoryError)
