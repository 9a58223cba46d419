"""Whatever happens to a server, callers get a typed failure in bounded time, and nothing that was acknowledged is lost."""

import asyncio
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import asyncpg
import pytest

from chatmemory import Effect, EffectFailed, Failure, RepositoryError, Success
from chatmemory.settings.memory_settings import PostgresSettings
from chatmemory_layers import forked
from chatmemory_layers.postgres.engine.database import Database, open_database
from chatmemory_layers.postgres.engine.row_locks import Place, conversation_row
from chatmemory_layers.postgres.messages.message_repository import PostgresMessageRepository
from chatmemory_layers.postgres.throwaway_server import postgres_dsn, run_on_server
from tests.patience import PATIENCE_SECONDS
from tests.unit.postgres.beside import connected, name_of
from tests.unit.postgres.said import batch, draft, stored_ids
from tests.unit.postgres.wire import hurried, wire_to

C = Place("c", row=conversation_row)
BRIEF_MILLISECONDS = 500  # for what cannot be had however long the server waits for it


def problem_of(outcome: object) -> str:
    assert isinstance(outcome, Failure), outcome
    error = outcome.failure()
    assert isinstance(error, RepositoryError), error
    return error.problem


async def problem_of_opening(dsn: str, **settings: object) -> str:
    with pytest.raises(EffectFailed) as raised:
        async with open_database(PostgresSettings(dsn=dsn, **settings)):
            pytest.fail("it opened")
    assert isinstance(raised.value.error, RepositoryError)
    return raised.value.error.problem


async def test_a_server_or_a_database_that_is_not_there_is_unavailable(dsn: str) -> None:
    for missing in (
        "postgresql://nobody@127.0.0.1:1/none",
        "postgresql:///none?host=/tmp/there-is-no-such-folder",
        "mysql://x/y",
        postgres_dsn("no_such_database"),
    ):
        assert await problem_of_opening(missing) == "unavailable", missing
    assert await problem_of_opening(dsn, reader_dsn=postgres_dsn("no_such_database")) == "unavailable"


def guard(rules: Path) -> None:
    rules.write_text("local all guarded scram-sha-256\n" + rules.read_text())


async def until_refused(dsn: str) -> None:
    """Wait until the server has read its rules again, of which it tells nobody."""
    with suppress(asyncpg.InvalidPasswordError):
        while True:
            await (await asyncpg.connect(dsn)).close()


async def test_a_wrong_password_is_unavailable(fresh_dsn: str) -> None:
    async with connected(fresh_dsn) as connection:
        guard(Path(await connection.fetchval("SHOW hba_file")))
        await connection.execute("CREATE ROLE guarded LOGIN PASSWORD 'right'; SELECT pg_reload_conf()")
    try:
        guarded = fresh_dsn.replace("postgres:@", "guarded:wrong@")
        await until_refused(guarded)
        assert await problem_of_opening(guarded) == "unavailable"
    finally:
        await run_on_server("DROP ROLE guarded")


async def test_a_server_that_does_not_answer_is_unavailable_in_bounded_time(dsn: str) -> None:
    async with wire_to(dsn) as wire:
        wire.flows.clear()
        async with hurried(wire):
            assert await problem_of_opening(wire.dsn) == "unavailable"


async def test_a_server_that_falls_silent_while_a_store_is_made_is_unavailable_in_time(
    fresh_dsn: str,
) -> None:
    for statement in (b"pg_advisory_xact_lock", b"CREATE TABLE conversation"):
        async with wire_to(fresh_dsn) as wire:
            wire.silent_at = statement
            async with hurried(wire):
                assert await problem_of_opening(wire.dsn) == "unavailable"
            assert not wire.flows.is_set()
    async with open_database(PostgresSettings(dsn=fresh_dsn)):
        pass


async def test_a_read_only_server_is_read_and_refuses_writes(own_dsn: str) -> None:
    async with open_database(PostgresSettings(dsn=own_dsn)) as database:
        await PostgresMessageRepository(database).append(batch("c", "1")).or_raise()
    await run_on_server(f"ALTER DATABASE {name_of(own_dsn)} SET default_transaction_read_only = on")
    async with open_database(PostgresSettings(dsn=own_dsn)) as database:
        repository = PostgresMessageRepository(database)
        assert await stored_ids(repository, "c") == ["1"]
        assert problem_of(await repository.append(batch("c", "2"))) == "read_only"


REFUSALS = {"53100": "full", "40P01": "busy", "XX001": "damaged", "53200": "no_memory", "0A000": "unexpected"}


async def test_what_the_server_refuses_is_named_and_leaves_nothing(
    dsn: str, repository: PostgresMessageRepository, caplog: pytest.LogCaptureFixture
) -> None:
    named: dict[str, str] = {}
    for state in REFUSALS:
        refuse = f"BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '{state}'; END"
        await run_on_server(
            f"CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ {refuse} $$",
            "CREATE TRIGGER refuse BEFORE INSERT ON conversation EXECUTE FUNCTION refuse()",
            database=name_of(dsn),
        )
        outcome = await repository.append(batch(state, "1", "2"))
        named[state] = problem_of(outcome)
        assert outcome.failure().cause is not None
        await run_on_server("DROP FUNCTION refuse CASCADE", database=name_of(dsn))
        assert (await repository.append(batch(state, "1", "2")).or_raise()).stored == ("1", "2")
    assert named == REFUSALS
    assert not caplog.records


async def test_a_refused_commit_did_not_happen(dsn: str, repository: PostgresMessageRepository) -> None:
    await run_on_server(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '53100'; END $$",
        "CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON chat_message DEFERRABLE INITIALLY DEFERRED "
        "FOR EACH ROW EXECUTE FUNCTION refuse()",
        database=name_of(dsn),
    )
    assert problem_of(await repository.append(batch("c", "1"))) == "full"
    assert await stored_ids(repository, "c") == []
    await run_on_server("DROP FUNCTION refuse CASCADE", database=name_of(dsn))


async def test_a_connection_lost_in_the_commit_but_not_before_makes_the_outcome_unknown(dsn: str) -> None:
    async with wire_to(dsn) as wire, open_database(PostgresSettings(dsn=wire.dsn)) as database:
        repository = PostgresMessageRepository(database)
        wire.cut_behind = b"FROM conversation WHERE"
        assert problem_of(await repository.append(batch("c", "0"))) == "unavailable"
        assert (await repository.append(batch("c", "0")).or_raise()).stored == ("0",)
        for words, ids in (
            (b"last words", ("1", "2")),
            (b"COMMIT\0", ("0", "3")),
        ):  # not that of READ COMMITTED
            wire.cut_behind = words
            said = batch("c", *(draft(id_, "last words" if id_ in "12" else "你好") for id_ in ids))
            outcome = await repository.append(said)
            assert problem_of(outcome) == "outcome_unknown"
            assert outcome.failure().retry_is_safe
            again = await repository.append(said).or_raise()
            assert (again.stored, again.duplicates) == ((), ids)


async def test_a_server_that_falls_silent_ends_in_bounded_time(dsn: str) -> None:
    async with wire_to(dsn) as wire, open_database(PostgresSettings(dsn=wire.dsn, pool_size=1)) as database:
        repository = PostgresMessageRepository(database)
        await repository.append(batch("c", "1")).or_raise()
        asks: tuple[tuple[Effect[object, object], str], ...] = (
            (repository.conversation("c"), "unavailable"),
            (repository.append(batch("c", "2")), "outcome_unknown"),  # it may have been written, unheard
        )
        for ask, problem in asks:
            wire.flows.clear()
            async with hurried(wire):
                assert problem_of(await ask) == problem
            wire.flows.set()
            assert (await repository.append(batch("c", f"3 {problem}")).or_raise()).stored


async def test_sessions_that_are_ended_are_replaced(dsn: str, repository: PostgresMessageRepository) -> None:
    await repository.append(batch("c", "1")).or_raise()
    await run_on_server(
        f"SELECT pg_terminate_backend(pid, {int(1_000 * PATIENCE_SECONDS)}) FROM pg_stat_activity WHERE datname = "
        f"'{name_of(dsn)}' AND pid <> pg_backend_pid()"
    )
    assert (await repository.append(batch("c", "2")).or_raise()).stored == ("2",)


async def test_a_lock_that_is_not_given_in_time_is_busy_and_who_stands_still_loses_it_in_time(
    dsn: str, repository: PostgresMessageRepository
) -> None:
    async with connected(dsn) as other, open_database(PostgresSettings(dsn=dsn)) as impatient:
        impatient._milliseconds = BRIEF_MILLISECONDS
        await other.execute(repository.database._begin(C))
        outcome = await PostgresMessageRepository(impatient).append(batch("c", "1"))
        assert problem_of(outcome) == "busy"
        await other.execute("ROLLBACK")
        await other.execute(impatient._begin(C))
        assert (await repository.append(batch("c", "1")).or_raise()).stored == ("1",)
        other.terminate()  # as the server has done, whose word of it may still be on its way


async def test_a_pool_without_a_free_connection_is_busy(dsn: str) -> None:
    async with open_database(PostgresSettings(dsn=dsn, pool_size=1)) as database:
        connection = await database._primary.acquire()
        async with hurried():
            outcome = await PostgresMessageRepository(database).append(batch("c", "1"))
        assert problem_of(outcome) == "busy"
        assert "all 1 connections" in str(outcome.failure())
        await database._primary.release(connection)


async def test_a_store_that_came_along_through_a_fork_leaves_the_sockets_to_the_parent(
    repository: PostgresMessageRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as child:
        child.setattr(forked.PROCESS, "generation", 1)
        child.setattr(forked.PROCESS, "opened", set())
        assert problem_of(await repository.conversation("c")) == "forked"
        assert problem_of(await repository.append(batch("c", "1"))) == "forked"
    assert isinstance(await repository.append(batch("c", "1")), Success)


async def test_an_open_store_tells_trio_that_it_belongs_to_another_loop(
    repository: PostgresMessageRepository,
) -> None:
    async def ask() -> object:
        return await repository.conversation("c")

    outcome = await asyncio.to_thread(anyio.run, ask, backend="trio")
    assert problem_of(outcome) == "wrong_loop"


def test_trio_is_told_that_asyncpg_needs_asyncio() -> None:
    async def open_it() -> str:
        return await problem_of_opening("postgresql:///none")

    assert anyio.run(open_it, backend="trio") == "wrong_loop"


async def test_a_closed_store_says_so_and_what_had_begun_is_finished_whoever_left(dsn: str) -> None:
    async with connected(dsn) as other:
        async with open_database(PostgresSettings(dsn=dsn, pool_size=2)) as database:
            repository = PostgresMessageRepository(database)
            await other.execute(database._begin(C))
            await leave(repository.append(batch("c", "begun")))
            begun = [asyncio.create_task(repository.append(batch(f"{n}", "1")).or_raise()) for n in range(20)]
            await asyncio.wait(begun, return_when=asyncio.FIRST_COMPLETED)
            in_line = [asyncio.ensure_future(repository.append(batch("c", f"{n}"))) for n in range(20)]
            await some_turns()
            closing = asyncio.create_task(database.close())
            await some_turns()
            assert not closing.done()
            await other.execute("COMMIT")
            await closing
        assert problem_of(await repository.append(batch("c", "x"))) == "closed"
        assert problem_of(await repository.conversation("c")) == "closed"
        await asyncio.gather(*begun)
        assert {problem_of(outcome) for outcome in await asyncio.gather(*in_line)} == {"closed"}
    async with open_database(PostgresSettings(dsn=dsn)) as database:
        assert await stored_ids(PostgresMessageRepository(database), "c") == ["begun"]


async def test_reads_cancelled_twice_leave_clean_connections(
    dsn: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The second time while the transaction is rolled back: its snapshot is not lent to whoever comes next."""

    async def look(connection: Any) -> int:
        await connection.fetch("SELECT count(*) FROM conversation")
        return (await connection.fetch("SELECT count(*) AS count FROM generate_series(1, 100)"))[0]["count"]

    async with open_database(PostgresSettings(dsn=dsn, pool_size=1)) as database:
        repository = PostgresMessageRepository(database)
        for turns in range(60):
            reading = asyncio.create_task(database.read_snapshot("look", look))
            await asyncio.sleep(turns % 20 * 0.0002)
            reading.cancel()
            for _ in range(turns // 20 * 2):
                await asyncio.sleep(0)
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
            await no_transaction_stays_open(database)
            assert isinstance(await repository.append(batch("c", f"{turns}")), Success)
    assert not caplog.records


async def some_turns() -> None:
    """Let every task go on until it waits for the server or for a lock."""
    for _ in range(50):
        await asyncio.sleep(0)


async def leave(ask: Effect[object, object]) -> None:
    """Cancel a write once its transaction has begun."""
    caller = asyncio.create_task(ask.or_raise())
    await some_turns()
    caller.cancel()
    await asyncio.wait([caller])
    assert caller.cancelled()


async def test_a_write_whose_caller_left_lands_before_the_next(dsn: str) -> None:
    async with wire_to(dsn) as wire, open_database(PostgresSettings(dsn=wire.dsn, pool_size=2)) as database:
        repository = PostgresMessageRepository(database)
        quick = await database._primary.acquire()
        wire.flows.clear()
        await leave(repository.append(batch("c", "left")))  # has to connect first
        await database._primary.release(quick)
        next_ = asyncio.create_task(repository.append(batch("c", "next")).or_raise())
        await some_turns()
        wire.flows.set()
        await next_
        assert await stored_ids(repository, "c") == ["left", "next"]


async def test_writes_whose_callers_left_hold_one_connection(dsn: str) -> None:
    async with open_database(PostgresSettings(dsn=dsn, pool_size=2)) as database, connected(dsn) as other:
        repository = PostgresMessageRepository(database)
        await other.execute(database._begin(C))
        for number in range(2):
            await leave(repository.append(batch("c", f"{number}")))
        async with asyncio.timeout(PATIENCE_SECONDS):
            assert (await repository.append(batch("elsewhere", "1")).or_raise()).stored == ("1",)


async def no_transaction_stays_open(database: Database) -> None:
    """Wait for the server to notice that a dropped connection is gone, which ends its transaction."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while await database.read_primary("look", open_transactions) != Success(0):  # noqa: ASYNC110  the server tells nobody
            await asyncio.sleep(0.01)


async def open_transactions(connection: Any) -> int:
    query = "SELECT count(*) AS n FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in%'"
    return (await connection.fetch(query))[0]["n"]


PROGRAM = """
import asyncio, sys
from chatmemory.settings.memory_settings import PostgresSettings
from chatmemory_layers.postgres.engine.database import open_database
from chatmemory_layers.postgres.messages.message_repository import PostgresMessageRepository
from tests.unit.postgres.said import batch

async def main():
    global opening, database
    opening = open_database(PostgresSettings(dsn=sys.argv[1]))
    database = await opening.__aenter__()
    await PostgresMessageRepository(database).append(batch("c", "1")).or_raise()
    {ending}

asyncio.run(main())
"""


async def test_a_program_that_forgets_to_close_ends(dsn: str) -> None:
    for ending, said in (("pass", b""), ("raise SystemExit('over')", b"over\n")):
        program = await asyncio.create_subprocess_exec(
            *(sys.executable, "-W", "error", "-c", PROGRAM.format(ending=ending), dsn),
            stderr=asyncio.subprocess.PIPE,
        )
        _, errors = await asyncio.wait_for(program.communicate(), PATIENCE_SECONDS)
        assert errors == said
    async with open_database(PostgresSettings(dsn=dsn)) as database:
        assert await stored_ids(PostgresMessageRepository(database), "c") == ["1"]
