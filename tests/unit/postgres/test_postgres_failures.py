"""Whatever happens to a server, callers get a typed failure in bounded time, and nothing that was acknowledged is lost."""

import asyncio
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import asyncpg
import pytest

from chatmemory import Effect, Success
from chatmemory.laws.kit.samples import said
from chatmemory.settings.memory_settings import PostgresSettings
from chatmemory_layers import forked
from chatmemory_layers.postgres.engine.database import open_database
from chatmemory_layers.postgres.engine.row_locks import Owner, conversation_row
from chatmemory_layers.postgres.messages.message_repository import PostgresMessageRepository
from chatmemory_layers.postgres.throwaway_server import postgres_dsn, run_on_server
from tests.patience import PATIENCE_SECONDS
from tests.unit.postgres.beside import connected, name_of, open_messages, refusal_of
from tests.unit.postgres.wire import hurried, wire_to
from tests.unit.said import batch, problem_of, stored_ids

C = Owner("c", row=conversation_row)
BRIEF_MILLISECONDS = 500  # for what cannot be had however long the server waits for it


async def test_a_database_that_is_not_there_is_unavailable(dsn: str) -> None:
    for missing in ("mysql://x/y", postgres_dsn("no_such_database")):
        assert (await refusal_of(missing)).problem == "unavailable", missing
    assert (await refusal_of(dsn, reader_dsn=postgres_dsn("no_such_database"))).problem == "unavailable"


async def test_a_wrong_password_is_unavailable(fresh_dsn: str) -> None:
    async with connected(fresh_dsn) as connection:
        rules = Path(await connection.fetchval("SHOW hba_file"))
        rules.write_text("local all guarded scram-sha-256\n" + rules.read_text())  # noqa: ASYNC240  a small file
        await connection.execute("CREATE ROLE guarded LOGIN PASSWORD 'right'; SELECT pg_reload_conf()")
    try:
        guarded = fresh_dsn.replace("postgres:@", "guarded:wrong@")
        with suppress(asyncpg.InvalidPasswordError):
            while True:  # until the server has read its rules again, of which it tells nobody
                await (await asyncpg.connect(guarded)).close()
        assert (await refusal_of(guarded)).problem == "unavailable"
    finally:
        await run_on_server("DROP ROLE guarded")


async def test_a_server_that_falls_silent_at_the_opening_is_unavailable_in_time(
    fresh_dsn: str,
) -> None:
    for statement in (b"", b"pg_advisory_xact_lock", b"CREATE TABLE conversation"):  # b"": at once
        async with wire_to(fresh_dsn) as wire:
            wire.silent_at = statement
            async with hurried(wire):
                assert (await refusal_of(wire.dsn)).problem == "unavailable"
            assert not wire.flows.is_set()
    async with open_database(PostgresSettings(dsn=fresh_dsn)):
        pass


async def test_a_read_only_server_is_read_and_refuses_writes(own_dsn: str) -> None:
    async with open_messages(own_dsn) as repository:
        await repository.append(batch("c", "1")).or_raise()
    await run_on_server(f"ALTER DATABASE {name_of(own_dsn)} SET default_transaction_read_only = on")
    async with open_messages(own_dsn) as repository:
        assert await stored_ids(repository, "c") == ["1"]
        assert problem_of(await repository.append(batch("c", "2"))) == "read_only"


AT_THE_INSERT = "CREATE TRIGGER refuse BEFORE INSERT ON conversation EXECUTE FUNCTION refuse()"
AT_THE_COMMIT = """
CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON chat_message DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION refuse()
"""
REFUSALS = (
    ("53100", "full", AT_THE_INSERT),
    ("53100", "full", AT_THE_COMMIT),
    ("40P01", "busy", AT_THE_INSERT),
    ("XX001", "damaged", AT_THE_INSERT),
    ("53200", "no_memory", AT_THE_INSERT),
    ("0A000", "unexpected", AT_THE_INSERT),
)


async def test_what_the_server_refuses_is_named_and_leaves_nothing(
    dsn: str, repository: PostgresMessageRepository, caplog: pytest.LogCaptureFixture
) -> None:
    for number, (state, problem, trigger) in enumerate(REFUSALS):
        refuse = f"BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '{state}'; END"
        function = f"CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ {refuse} $$"
        await run_on_server(function, trigger, database=name_of(dsn))
        outcome = await repository.append(batch(f"c{number}", "1", "2"))
        assert problem_of(outcome) == problem
        assert outcome.failure().cause is not None
        await run_on_server("DROP FUNCTION refuse CASCADE", database=name_of(dsn))
        assert (await repository.append(batch(f"c{number}", "1", "2")).or_raise()).stored == ("1", "2")
    assert not caplog.records


async def test_a_connection_lost_in_the_commit_but_not_before_makes_the_outcome_unknown(dsn: str) -> None:
    async with wire_to(dsn) as wire, open_messages(wire.dsn) as repository:
        wire.cut_behind = b"FROM conversation WHERE"
        assert problem_of(await repository.append(batch("c", "0"))) == "unavailable"
        assert (await repository.append(batch("c", "0")).or_raise()).stored == ("0",)
        # With "\0" it is not the COMMITTED of READ COMMITTED.
        for words, ids in ((b"last words", ("1", "2")), (b"COMMIT\0", ("0", "3"))):
            wire.cut_behind = words
            appending = batch("c", *(said(id_, "last words" if id_ in "12" else "你好") for id_ in ids))
            outcome = await repository.append(appending)
            assert problem_of(outcome) == "outcome_unknown"
            assert outcome.failure().retry_is_safe
            again = await repository.append(appending).or_raise()
            assert (again.stored, again.duplicates) == ((), ids)


async def test_a_server_that_falls_silent_ends_in_bounded_time(dsn: str) -> None:
    async with wire_to(dsn) as wire, open_messages(wire.dsn, pool_size=1) as repository:
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


async def test_trio_is_told_that_the_loop_is_wrong(
    repository: PostgresMessageRepository,
) -> None:
    async def ask() -> tuple[str, str]:
        return (await refusal_of("postgresql:///none")).problem, problem_of(
            await repository.conversation("c")
        )

    assert await asyncio.to_thread(anyio.run, ask, backend="trio") == ("wrong_loop", "wrong_loop")


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
    async with open_messages(dsn) as repository:
        assert await stored_ids(repository, "c") == ["begun"]


async def test_reads_cancelled_twice_leave_clean_connections(
    dsn: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The second time while the transaction is rolled back: its snapshot is not lent to whoever comes next."""

    async def look(connection: Any) -> int:
        await connection.fetch("SELECT count(*) FROM conversation")
        return (await connection.fetch("SELECT count(*) AS count FROM generate_series(1, 100)"))[0]["count"]

    idle = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in%'"
    async with open_messages(dsn, pool_size=1) as repository, connected(dsn) as other:
        for turns in range(60):
            reading = asyncio.create_task(repository.database.read_snapshot("look", look).run())
            await asyncio.sleep(turns % 20 * 0.0002)
            reading.cancel()
            for _ in range(turns // 20 * 2):
                await asyncio.sleep(0)
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
            async with asyncio.timeout(PATIENCE_SECONDS):  # until the server knows that a connection is gone
                while await other.fetch(idle):  # noqa: ASYNC110  it tells nobody
                    await asyncio.sleep(0.01)
            assert isinstance(await repository.append(batch("c", f"{turns}")), Success)
    assert not caplog.records


async def test_a_read_cancelled_while_its_answer_arrives_leaves_no_transaction_open(dsn: str) -> None:
    async def look(connection: Any) -> Any:
        loop, reading = asyncio.get_running_loop(), asyncio.current_task()
        assert reading is not None
        # In the next turn of the loop the answer is there, and is read right after the cancellation.
        loop.call_soon(lambda: (time.sleep(0.05), loop.call_soon(reading.cancel)))
        return await connection.fetch("SELECT count(*) FROM conversation")

    async with open_messages(dsn, pool_size=1) as repository:
        reading = asyncio.create_task(repository.database.read("look", look).run())
        await asyncio.wait([reading])
        assert reading.cancelled()
        again = repository.database.read_snapshot("look again", lambda lent: lent.fetch("SELECT 1"))
        assert isinstance(await again, Success)


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
    async with open_messages(dsn, pool_size=2) as repository, connected(dsn) as other:
        await other.execute(repository.database._begin(C))
        for number in range(2):
            await leave(repository.append(batch("c", f"{number}")))
        async with asyncio.timeout(PATIENCE_SECONDS):
            assert (await repository.append(batch("elsewhere", "1")).or_raise()).stored == ("1",)


PROGRAM = """
import asyncio, sys
from chatmemory.settings.memory_settings import PostgresSettings
from chatmemory_layers.postgres.engine.database import open_database
from chatmemory_layers.postgres.messages.message_repository import PostgresMessageRepository
from tests.unit.said import batch

async def main():
    global opening, database
    opening = open_database(PostgresSettings(dsn=sys.argv[1]))
    database = await opening.__aenter__()
    await PostgresMessageRepository(database).append(batch("c", "1")).or_raise()
    {ending}

asyncio.run(main())
"""


async def test_a_program_that_forgets_to_close_ends(dsn: str) -> None:
    for ending, told in (("pass", b""), ("raise SystemExit('over')", b"over\n")):
        program = await asyncio.create_subprocess_exec(
            *(sys.executable, "-W", "error", "-c", PROGRAM.format(ending=ending), dsn),
            stderr=asyncio.subprocess.PIPE,
        )
        _, errors = await asyncio.wait_for(program.communicate(), PATIENCE_SECONDS)
        assert errors == told
    async with open_messages(dsn) as repository:
        assert await stored_ids(repository, "c") == ["1"]
