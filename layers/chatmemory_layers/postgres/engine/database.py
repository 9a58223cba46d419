"""``Database``: the connections to one store, and the ways to use them: reads, ``write`` and ``write_together``.

A read is one statement, or several on one snapshot.  A write is one transaction of one owner, which is a conversation or a
user of memories, and waits for the earlier writes of that owner.  Writes of some kinds are committed together, see
``groups.py``.  Every call ends in bounded time, and none raises an exception of asyncpg.  The repositories define the
tables and the statements.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any, Concatenate, Final, ParamSpec, TypeAlias, TypeVar, final

from chatmemory.effect import Effect
from chatmemory.extra import needs_extra

with needs_extra("postgres"):
    import asyncpg  # pyright: ignore[reportMissingTypeStubs]  it has none

from chatmemory.effect import EffectFailed, Failure, Layer, Outcome, Success, Tag
from chatmemory.errors import RepositoryError
from chatmemory.input.first_answers import request_key, under
from chatmemory.settings.memory_settings import PostgresSettings, PostgresSettingsTag
from chatmemory_layers.forked import HOW_TO_START, PROCESS
from chatmemory_layers.postgres.engine.connection import Connection, Pool, open_pool
from chatmemory_layers.postgres.engine.groups import GroupedWork, Groups, OwnerFacts, OwnerQueues
from chatmemory_layers.postgres.engine.migrations import (
    REFUSE_IF_UPGRADED,
    UPGRADE_SECONDS,
    is_behind,
    migrate,
    newer_step,
    settle_numbers,
)
from chatmemory_layers.postgres.engine.once import once
from chatmemory_layers.postgres.engine.postgres_problem import DRIVER_ERRORS, repository_error
from chatmemory_layers.postgres.engine.row_locks import Owner, is_spread, lock_of
from chatmemory_layers.postgres.engine.row_security import ACT_FOR_THE_SERVICE, acting, guard
from chatmemory_layers.postgres.engine.vector_index import VectorIndexes, find_vectors
from chatmemory_layers.postgres.pool_metrics import PoolMetrics

A = TypeVar("A")
E = TypeVar("E")
Q = TypeVar("Q")
P = ParamSpec("P")

Read: TypeAlias = Callable[Concatenate[Connection, P], Awaitable[A]]
"""A read of one statement, because two would see two snapshots.  In ``read_snapshot`` several see the same one."""

Work: TypeAlias = Callable[Concatenate[Connection, P], Awaitable[Outcome[A, E]]]
"""A write.  Its statements are committed if it returns a success, and rolled back otherwise."""

# The server ends a slow transaction and gives the reason; the client ends one a moment later if the server is silent.
_GRACE_SECONDS: Final = 1.0

# One round trip.  READ COMMITTED, whatever the database's default: the statement that reads must see what the writer
# before has committed, so its snapshot has to be younger than the lock.  No setting outlives the transaction, as
# PgBouncer's transaction mode requires.  The last timeout frees the lock of a client that hangs.
#
# ``REFUSE_IF_UPGRADED`` reads the table of steps first.  A step locks that table before the tables that it changes, so it
# and a writer never wait for each other.
_BEGIN: Final = f"""
BEGIN ISOLATION LEVEL READ COMMITTED;
SET LOCAL lock_timeout = {{milliseconds}};
SET LOCAL statement_timeout = {{milliseconds}};
SET LOCAL idle_in_transaction_session_timeout = {{milliseconds}};
{REFUSE_IF_UPGRADED}"""
_LOCK_OWNER: Final = "SELECT pg_advisory_xact_lock({});\n"
_FIRST_ROW_ATTEMPTS: Final = 3  # where rows are locked, and two writers create the same row

# For a group behind an old PgBouncer: a statement without a name stays in its session only within a transaction.
_BEGIN_GROUP: Final = """
BEGIN ISOLATION LEVEL READ COMMITTED;
SET LOCAL statement_timeout = {milliseconds};
SET LOCAL idle_in_transaction_session_timeout = {milliseconds};
"""

# A generic plan knows neither how many memories a user has nor which filters are set, and sorts them all for one page.
_BEGIN_SNAPSHOT: Final = """
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
SET LOCAL statement_timeout = {milliseconds};
SET LOCAL plan_cache_mode = force_custom_plan;
"""
_ALL_IN_USE: Final = "all {} connections of the pool are in use"
_LEAST_SHARED: Final = 3  # with as many connections or more, one is left to reads

# A read of one statement needs a transaction only if the server must know the principal.
_BEGIN_READ: Final = "BEGIN READ ONLY;"

# The problems of statements whose tables a newer edition has changed, or whose rows it refuses.
_OF_A_NEWER_EDITION: Final = frozenset({"unexpected", "not_a_store"})


@final
class Database:
    """The connections to the primary server and to the server for reads (it may be the same), for one event loop.

    Attributes:
        vector_indexes: creates the indexes of vectors; None: the server lacks pgvector, and cannot compare vectors.
    """

    def __init__(self, primary: Pool, reader: Pool, settings: PostgresSettings) -> None:
        """Use the two pools, which belong to the running event loop."""
        self._primary = primary
        self._reader = reader
        self._dsn = settings.dsn
        self._seconds = settings.timeout_seconds
        self._milliseconds = max(1, round(self._seconds * 1000))
        self._is_guarded = settings.row_security
        self._locks_rows = False
        self._loop = asyncio.get_running_loop()
        self._is_closed = False
        self._generation = PROCESS.generation
        self.vector_indexes: VectorIndexes | None = None
        self._metrics = PoolMetrics.at_hand()
        self._is_caching = settings.statement_cache_size > 0
        self._queues = OwnerQueues()
        self._kept = OwnerFacts()
        self._groups: dict[GroupedWork[Any, Any, Any], Groups] = {}
        self._writes: set[asyncio.Task[Any]] = set()
        most = settings.pool_size - 1 if settings.pool_size >= _LEAST_SHARED else settings.pool_size
        self._writers = asyncio.Semaphore(most)

    def read(
        self, operation: str, work: Read[P, A], *args: P.args, **kwargs: P.kwargs
    ) -> Effect[A, RepositoryError]:
        """Run *work* on the reader; if this is a replica, its data may be older than the last write."""
        return Effect.from_outcome(lambda: self._read(self._reader, "", operation, work, *args, **kwargs))

    def read_primary(
        self, operation: str, work: Read[P, A], *args: P.args, **kwargs: P.kwargs
    ) -> Effect[A, RepositoryError]:
        """Run *work* on the primary server, where every write goes."""
        return Effect.from_outcome(lambda: self._read(self._primary, "", operation, work, *args, **kwargs))

    def read_snapshot(
        self, operation: str, work: Read[P, A], *args: P.args, **kwargs: P.kwargs
    ) -> Effect[A, RepositoryError]:
        """Run *work* on the reader in a transaction of one snapshot, with plans made for its arguments."""
        begin = _BEGIN_SNAPSHOT.format(milliseconds=self._milliseconds)
        return Effect.from_outcome(lambda: self._read(self._reader, begin, operation, work, *args, **kwargs))

    def write(
        self, operation: str, owner: Owner, work: Work[P, A, E], *args: P.args, **kwargs: P.kwargs
    ) -> Effect[A, E | RepositoryError]:
        """Run *work* in a transaction of *owner*, who has one at a time, and return when it is durable.

        Cancelling the caller does not stop a transaction that has begun: it happens completely, or not at all.
        """
        return Effect.from_outcome(lambda: self._write(operation, owner, work, *args, **kwargs))

    async def _write(
        self, operation: str, owner: Owner, work: Work[P, A, E], *args: P.args, **kwargs: P.kwargs
    ) -> Outcome[A, E | RepositoryError]:
        if (refusal := self._refusal(operation)) is not None:
            return refusal
        key = request_key()
        if key is not None:
            with under(None):
                outcome: Outcome[A, E | RepositoryError]
                outcome = await self._write(operation, owner, once(key, operation, work), *args, **kwargs)
            if isinstance(outcome, Success):
                key.writes += 1
            return outcome
        # Queue before taking a connection: the many writers of one owner must not hold every connection.
        try:
            async with asyncio.timeout(self._seconds):
                await self._queues.wait(owner)
        except TimeoutError as error:
            return Failure(RepositoryError(operation, "busy", "many write to the same place", cause=error))
        if self._is_closed:  # while it waited
            self._queues.leave(owner)
            return Failure(RepositoryError(operation, "closed"))
        transaction = asyncio.create_task(
            self._transaction(operation, owner, lambda connection: work(connection, *args, **kwargs))
        )
        self._writes.add(transaction)
        transaction.add_done_callback(self._writes.discard)
        # The transaction gives the turn back, not the caller: a cancelled caller leaves before its transaction has ended.
        transaction.add_done_callback(lambda _: self._queues.leave(owner))
        return await asyncio.shield(transaction)

    def write_together(
        self, owner: Owner, work: GroupedWork[Q, A, E], asked: Q
    ) -> Effect[A, E | RepositoryError]:
        """Write *asked* for *owner*, alone or in one transaction with other writes, and return when it is durable.

        Cancelling the caller before its turn withdraws the write; later the write happens completely, or not at all.
        """
        return Effect.from_outcome(lambda: self._write_together(owner, work, asked))

    async def _write_together(
        self, owner: Owner, work: GroupedWork[Q, A, E], asked: Q
    ) -> Outcome[A, E | RepositoryError]:
        if (refusal := self._refusal(work.operation)) is not None:
            return refusal
        # With row security each transaction sets its principal; a write with a request key uses other statements.
        if self._is_guarded or request_key() is not None:
            return await self._write(work.operation, owner, work.alone, asked)
        groups = self._groups.get(work)
        if groups is None:
            groups = self._groups[work] = Groups(
                work,
                kept=self._kept,
                queues=self._queues,
                together=None if self._locks_rows else self._together,
                alone=self._transaction,
                seconds=self._seconds,
                metrics=self._metrics,
            )
        outcome: Outcome[A, E | RepositoryError] = await groups.submit(owner, asked)
        return outcome

    async def prepare(self) -> None:
        """Migrate the store, and check that the reader answers.

        It takes ``timeout_seconds`` at most, unless an earlier edition has filled the store.

        Raises:
            EffectFailed: with a ``RepositoryError``, see ``migrate``.
            asyncpg.PostgresError: or another of ``DRIVER_ERRORS``; the server refuses, or does not answer.
        """
        async with self._acquired(self._primary) as connection:
            try:
                async with asyncio.timeout(self._seconds):
                    limit = UPGRADE_SECONDS if await is_behind(connection) else self._seconds
                async with asyncio.timeout(limit):
                    await migrate(connection)
                    await settle_numbers(connection)
                    await guard(connection, is_wanted=self._is_guarded)
                    has_vectors = await find_vectors(connection)
                    self._locks_rows = await is_spread(connection)
            except BaseException:
                connection.terminate()  # rolls back a step that has begun, even if the server is silent
                raise
        self.vector_indexes = VectorIndexes(self._dsn) if has_vectors else None
        if self._reader is not self._primary:
            async with self._acquired(self._reader) as connection:
                await guard(connection, is_wanted=self._is_guarded)
        if self._metrics is not None:
            self._metrics.watch(self._reader, "reader")
            self._metrics.watch(self._primary, "primary")

    async def close(self) -> None:
        """Refuse further calls, and wait for the writes that have begun; in a forked child, leave them to the parent."""
        self._is_closed = True
        if self._metrics is not None:
            self._metrics.forget(self._primary)
            self._metrics.forget(self._reader)
        if PROCESS.generation != self._generation:
            return
        if self.vector_indexes is not None:
            await self.vector_indexes.close()
        for groups in self._groups.values():
            groups.close()
        while begun := self._writes.union(*(groups.tasks for groups in self._groups.values())):
            await asyncio.wait(begun)

    def _refusal(self, operation: str) -> Failure[RepositoryError] | None:
        if PROCESS.generation != self._generation:  # parent and child would write to the same sockets
            return Failure(RepositoryError(operation, "forked", HOW_TO_START))
        try:
            here = asyncio.get_running_loop()
        except RuntimeError:  # trio
            here = None
        if here is not self._loop:
            return Failure(RepositoryError(operation, "wrong_loop"))
        return Failure(RepositoryError(operation, "closed")) if self._is_closed else None

    async def _read(
        self, pool: Pool, begin: str, operation: str, work: Read[P, A], *args: P.args, **kwargs: P.kwargs
    ) -> Outcome[A, RepositoryError]:
        """Run *work* after *begin*, which begins a transaction; without it and without row security it is one statement."""
        if (refusal := self._refusal(operation)) is not None:
            return refusal
        try:
            async with self._acquired(pool) as connection, asyncio.timeout(self._seconds):
                if self._is_guarded:
                    begin = (begin or _BEGIN_READ) + acting()
                if not begin:
                    return Success(await work(connection, *args, **kwargs))
                try:
                    await connection.execute(begin)
                    return Success(await work(connection, *args, **kwargs))
                finally:
                    await _end_with(connection, "ROLLBACK")
        except DRIVER_ERRORS as error:
            return Failure(await self._or_upgraded(repository_error(operation, error)))

    async def _transaction(
        self, operation: str, owner: Owner, work: Callable[[Connection], Awaitable[Outcome[A, E]]]
    ) -> Outcome[A, E | RepositoryError]:
        for _ in range(_FIRST_ROW_ATTEMPTS - 1 if self._locks_rows else 0):
            outcome = await self._attempt(operation, owner, work)
            if not _is_row_conflict(outcome):
                return outcome
        return await self._attempt(operation, owner, work)

    async def _attempt(
        self, operation: str, owner: Owner, work: Callable[[Connection], Awaitable[Outcome[A, E]]]
    ) -> Outcome[A, E | RepositoryError]:
        is_committing = is_over = False
        self._kept.drop(owner)
        try:
            async with self._acquired_to_write() as connection:
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
                        await _end_with(connection, "ROLLBACK")
        except DRIVER_ERRORS as error:
            return Failure(
                await self._or_upgraded(repository_error(operation, error, at_commit=is_committing))
            )

    async def _or_upgraded(self, error: RepositoryError) -> RepositoryError:
        """Return *error*, or ``upgraded`` if a newer edition has migrated the store while it was open and so caused it."""
        if error.problem in _OF_A_NEWER_EDITION:
            with suppress(*DRIVER_ERRORS):
                async with self._acquired(self._primary) as connection, asyncio.timeout(self._seconds):
                    if (newer := await newer_step(connection)) is not None:
                        return RepositoryError(error.operation, "upgraded", newer, cause=error.cause)
        return error

    async def _together(self, work: Callable[[Connection], Awaitable[A]]) -> A:
        """Run the statements of a group, each as its own transaction unless they need a common one to stay in one session."""
        async with (
            self._acquired_to_write() as connection,
            asyncio.timeout(self._seconds + _GRACE_SECONDS),
        ):
            if self._is_caching:
                return await work(connection)
            is_over = False
            try:
                await connection.execute(_BEGIN_GROUP.format(milliseconds=self._milliseconds))
                done = await work(connection)
                await connection.execute("COMMIT")
                is_over = True
                return done
            finally:
                if not is_over:
                    await _end_with(connection, "ROLLBACK")

    def _begin(self, owner: Owner) -> str:
        begin = _BEGIN.format(milliseconds=self._milliseconds)
        lock = owner.row(owner) if self._locks_rows else _LOCK_OWNER.format(lock_of(owner))
        if self._is_guarded:
            # Only the service can lock a row that the principal may not both see and change.
            lock = f"{ACT_FOR_THE_SERVICE if self._locks_rows else ''}{lock}{acting(owner)}"
        return begin + lock + owner.first

    @asynccontextmanager
    async def _acquired_to_write(self) -> AsyncGenerator[Connection]:
        """Yield a connection for a write; fewer of these are in use at once than there are, so that reads find one."""
        try:
            async with asyncio.timeout(self._seconds):
                await self._writers.acquire()
        except TimeoutError as error:
            raise asyncpg.TooManyConnectionsError(_ALL_IN_USE.format(self._primary.get_max_size())) from error
        try:
            async with self._acquired(self._primary) as connection:
                yield connection
        finally:
            self._writers.release()

    @asynccontextmanager
    async def _acquired(self, pool: Pool) -> AsyncGenerator[Connection]:
        since = self._loop.time()
        try:
            connection = await pool.acquire(timeout=self._seconds)
        except TimeoutError as error:
            if pool.get_size() < pool.get_max_size():
                raise  # the server does not answer
            raise asyncpg.TooManyConnectionsError(_ALL_IN_USE.format(pool.get_max_size())) from error
        try:
            if self._metrics is not None:
                name = "primary" if pool is self._primary else "reader"
                self._metrics.waited_for_connection(name, self._loop.time() - since)
            yield connection
        except (asyncio.CancelledError, TimeoutError):
            # If the server's answer to a new statement arrived with the cancellation, asyncpg has not told the server that
            # the statement is over, so that it still holds its snapshot.
            await _end_with(connection, "SELECT")
            raise
        finally:
            await pool.release(connection)


def _is_row_conflict(outcome: Outcome[object, object]) -> bool:
    """Return whether a transaction failed because another one has created the same row."""
    if not isinstance(outcome, Failure):
        return False
    error = outcome.failure()
    return isinstance(error, RepositoryError) and isinstance(error.cause, asyncpg.UniqueViolationError)


async def _end_with(connection: Connection, statement: str) -> None:
    """End what a connection has begun with *statement*; drop the connection when that fails or is cancelled.

    A caller may be cancelled a second time while it waits here.  The pool must not hand out a connection that is still in the
    transaction, with an old snapshot and the principal of another caller.
    """
    is_over = False
    try:
        with suppress(*DRIVER_ERRORS):
            await connection.execute(statement, timeout=_GRACE_SECONDS)
            is_over = True
    finally:
        if not is_over:
            with suppress(*DRIVER_ERRORS):  # asyncpg may have dropped it already
                connection.terminate()


class DatabaseTag(Tag[Database]):
    """The tag under which layers provide ``Database``."""


@asynccontextmanager
async def open_database(settings: PostgresSettings) -> AsyncGenerator[Database]:
    """Connect, migrate the store, yield the database, and close every connection at the end.

    Raises:
        EffectFailed: with the ``RepositoryError`` that says why the store cannot be opened.
    """
    async with AsyncExitStack() as pools:
        try:
            primary = reader = await open_pool(settings.dsn, settings, pools)
            if settings.reader_dsn:
                reader = await open_pool(settings.reader_dsn, settings, pools)
            opened = Database(primary, reader, settings)
            await opened.prepare()
        except DRIVER_ERRORS as error:
            raise EffectFailed(repository_error("open the store", error)) from error
        try:
            yield opened
        finally:
            await opened.close()


database = Layer.scoped(DatabaseTag, open_database, PostgresSettingsTag).failing_with(RepositoryError)
