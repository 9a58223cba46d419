"""A store is made and brought up to date by any number of processes at once, and never touched by the wrong one."""

import asyncio
from pathlib import Path

import asyncpg
import pytest

from chatmemory.settings.memory_settings import PostgresSettings
from chatmemory_layers.edition import edition
from chatmemory_layers.postgres.engine import migrations
from chatmemory_layers.postgres.engine.database import open_database
from chatmemory_layers.postgres.engine.migration_steps import MIGRATIONS, Migration
from chatmemory_layers.postgres.engine.vector_index import find_vectors
from chatmemory_layers.postgres.messages.message_repository import PostgresMessageRepository
from chatmemory_layers.postgres.messages.shared_branches import copy_for_a_branch
from chatmemory_layers.postgres.throwaway_server import fresh_database, run_on_server
from tests import shared_branches
from tests.patience import PATIENCE_SECONDS
from tests.unit.postgres.beside import connected, name_of, open_messages, refusal_of, run_in
from tests.unit.said import batch, stored_ids

LATER = MIGRATIONS[-1].number + 1
SCHEMA = Path(__file__).parents[3] / "schemas" / "postgres.sql"

COLUMNS = """
SELECT table_name, column_name, data_type, is_nullable, collation_name
FROM information_schema.columns WHERE table_schema = 'public' ORDER BY table_name, ordinal_position
"""
WAITS = "SELECT count(*) > 0 FROM pg_locks WHERE relation = 'chatmemory_migration'::regclass AND NOT granted"
INDEXES = "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY indexname"


async def shape_of(dsn: str) -> list[tuple[object, ...]]:
    async with connected(dsn) as connection:
        return [tuple(row) for query in (COLUMNS, INDEXES) for row in await connection.fetch(query)]


async def test_the_schema_that_is_shown_is_the_one_that_is_made(fresh_dsn: str) -> None:
    async with open_database(PostgresSettings(dsn=fresh_dsn)):
        made = await shape_of(fresh_dsn)
    async with fresh_database() as other:
        async with connected(other) as connection:
            await connection.execute(SCHEMA.read_text())
            assert await find_vectors(connection)  # arrays, where there is no pgvector
        assert await shape_of(other) == made
    assert {row[0] for row in made} > {"conversation", "chat_message", "chatmemory_migration"}
    assert SCHEMA.read_text() == migrations.schema()


async def test_processes_that_open_at_once_wait_for_each_other(fresh_dsn: str) -> None:
    async def open_and_add(number: int) -> None:
        async with open_messages(fresh_dsn, pool_size=1) as repository:
            await repository.append(batch("c", f"{number}")).or_raise()
            assert repository.database.vector_indexes is not None

    await asyncio.gather(*map(open_and_add, range(8)))
    rows = await run_in(fresh_dsn, "SELECT number, name, checksum FROM chatmemory_migration")
    assert [tuple(row) for row in rows] == [
        (step.number, f"{step.name}, {edition()}", step.checksum) for step in MIGRATIONS
    ]


async def test_a_new_step_keeps_what_a_store_holds_and_may_take_long(
    fresh_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_messages(fresh_dsn) as repository:
        await repository.append(batch("c", "1", "2")).or_raise()
    step = Migration(LATER, "a note", "ALTER TABLE conversation ADD COLUMN note TEXT; SELECT pg_sleep(2.5);")
    monkeypatch.setattr(migrations, "MIGRATIONS", (*MIGRATIONS, step))
    async with open_messages(fresh_dsn, timeout_seconds=2) as repository:
        assert await stored_ids(repository, "c") == ["1", "2"]
    assert ("conversation", "note", "text", "YES", None) in await shape_of(fresh_dsn)
    monkeypatch.undo()
    refusal = await refusal_of(fresh_dsn)
    assert refusal.problem == "newer_schema"
    assert f"step {step.number}" in refusal.detail


async def test_a_step_waits_for_the_writes_that_may_not_know_of_it(
    fresh_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_database(PostgresSettings(dsn=fresh_dsn)):
        pass
    monkeypatch.setattr(migrations, "MIGRATIONS", (*MIGRATIONS, Migration(LATER, "nothing", "SELECT")))
    async with connected(fresh_dsn) as writer, connected(fresh_dsn) as upgrader:
        await writer.execute(f"BEGIN; {migrations.REFUSE_IF_UPGRADED}")
        upgrade = asyncio.create_task(migrations.migrate(upgrader))
        async with asyncio.timeout(PATIENCE_SECONDS), connected(fresh_dsn) as other:
            while not await other.fetchval(WAITS):  # noqa: ASYNC110  the server tells nobody
                await asyncio.sleep(0.01)  # between two looks
        await writer.execute("COMMIT")
        await upgrade
        with pytest.raises(asyncpg.DivisionByZeroError):
            await writer.execute(migrations.REFUSE_IF_UPGRADED)


async def test_branches_that_showed_their_parents_get_messages_of_their_own_also_after_a_kill(
    fresh_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with connected(fresh_dsn) as connection:
        with monkeypatch.context() as patched:
            patched.setattr(migrations, "MIGRATIONS", MIGRATIONS[:19])
            await migrations.migrate(connection)
        for id_, version, last, _, parent, seq, at in shared_branches.CONVERSATIONS:
            await connection.execute(
                "INSERT INTO conversation (conversation_id, version, next_seq, rewritten_at_version, message_count,"
                " view_count, view_tokens, open_count, deleted_count, created_at_us, updated_at_us, parent_id, shared_seq,"
                " shared_version, forked_from, forked_at_seq, forked_at_version, edition)"
                " VALUES ($1, $2, $3, 0, 9, 9, 9, 9, 0, 0, 0, $4, $5, $6, $4, $5, $6, 1)",
                *(id_, version, last + 1, parent, seq, at),
            )
        await connection.executemany(
            "INSERT INTO chat_message (conversation_id, seq, place, id, role, covered_by, covered_at_version, content,"
            " sent_at_us, tokens, version, stored_at_us) VALUES ($1, $2, $3, $4, $5, $6, $7, 'x', 0, 1, $2, 0)",
            shared_branches.MESSAGES,
        )
        await connection.execute(
            "INSERT INTO summarization_metadata VALUES ('parent', 'm', 's', 0, 0, 'x', FALSE, 0, FALSE, 5);"
            "INSERT INTO summary_coverage VALUES ('parent', '1', 'm', 0), ('parent', '2', 'm', 1)"
        )
        assert await copy_for_a_branch(connection)  # a process that was killed then
    async with open_database(PostgresSettings(dsn=fresh_dsn)) as database:
        await shared_branches.expect_branches_of_their_own(PostgresMessageRepository(database))


async def test_a_step_that_fails_leaves_nothing_and_a_store_whose_steps_were_others_is_refused(
    fresh_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_database(PostgresSettings(dsn=fresh_dsn)):
        before = await shape_of(fresh_dsn)
    broken = Migration(LATER, "half", "ALTER TABLE conversation ADD COLUMN note TEXT; SELECT 1 / 0;")
    with monkeypatch.context() as patched:
        patched.setattr(migrations, "MIGRATIONS", (*MIGRATIONS, broken))
        assert (await refusal_of(fresh_dsn)).problem == "unexpected"
    assert await shape_of(fresh_dsn) == before
    await run_in(fresh_dsn, "UPDATE chatmemory_migration SET checksum = 'another'")
    assert (await refusal_of(fresh_dsn)).problem == "newer_schema"


async def test_tables_of_others_stay_untouched_and_a_search_path_avoids_them(fresh_dsn: str) -> None:
    await run_in(fresh_dsn, "CREATE SCHEMA memory; CREATE TABLE chat_message (text TEXT)")
    before = await shape_of(fresh_dsn)
    assert (await refusal_of(fresh_dsn)).problem == "not_a_store"
    assert await shape_of(fresh_dsn) == before
    async with open_messages(f"{fresh_dsn}&search_path=memory") as repository:
        await repository.append(batch("c", "1")).or_raise()
        assert await stored_ids(repository, "c") == ["1"]


async def test_a_database_that_cannot_hold_every_text_is_refused() -> None:
    await run_on_server("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    try:
        async with fresh_database() as fresh_dsn:
            refusal = await refusal_of(fresh_dsn.replace(name_of(fresh_dsn), "latin"))
        assert refusal.problem == "not_a_store"
        assert "UTF8" in refusal.detail
    finally:
        await run_on_server("DROP DATABASE latin WITH (FORCE)")
