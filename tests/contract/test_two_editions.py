"""A program whose open store is migrated by a newer edition is refused, and told why; before that both editions go on."""

import sqlite3
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from chatmemory import (
    ChatMemoryService,
    Effect,
    Failure,
    ItemName,
    ItemPut,
    ItemRepositoryTag,
    ItemSearch,
    LongTermMemoryService,
    ManagedRuntime,
    Namespace,
    NewMemory,
    NewMessage,
)
from chatmemory_layers import stacks
from chatmemory_layers.postgres.engine import migration_steps as postgres_steps
from chatmemory_layers.postgres.throwaway_server import fresh_database
from chatmemory_layers.sqlite.engine import migrations as sqlite_steps
from tests.unit.postgres.beside import connected

NOW: Final = datetime(2026, 1, 1, tzinfo=UTC)
MEI: Final = Namespace("mei")

Migrate = Callable[..., Awaitable[None]]
Operations = Mapping[str, Callable[[], Effect[Any, Any]]]


async def every_operation(runtime: ManagedRuntime[Any], mark: str) -> Operations:
    """Return reads and writes of conversations, memories and items."""
    chat = await runtime.service(ChatMemoryService)
    memory = await runtime.service(LongTermMemoryService)
    items = await runtime.service(ItemRepositoryTag)
    name = ItemName(("mei",), mark)
    return {
        "add": lambda: chat.add_messages("c", [NewMessage("user", "hello", f"m{mark}")]),
        "read": lambda: chat.get_messages("c"),
        "list": chat.list_conversations,
        "fork": lambda: chat.fork("c", f"c{mark}"),
        "remember": lambda: memory.remember(MEI, [NewMemory(f"I like tea {mark}", id=f"i{mark}")]),
        "recall": lambda: memory.recall(MEI, "tea"),
        "list memories": lambda: memory.list(MEI),
        "forget": lambda: memory.forget(MEI, f"i{mark}"),
        "put": lambda: items.write((ItemPut(name, "v"),), now=NOW),
        "search": lambda: items.search(ItemSearch((), limit=5), now=NOW),
        "delete": lambda: items.write((ItemPut(name, None),), now=NOW),
    }


@asynccontextmanager
async def opened(backend: str, folder: Path) -> AsyncGenerator[tuple[ManagedRuntime[Any], Migrate]]:
    """Open a store, and lend with it what takes one more step on it, as a newer edition does."""
    if backend == "sqlite":
        place = folder / "store.db"

        async def take_in_sqlite(*statements: str, is_known: bool = False) -> None:
            with closing(sqlite3.connect(place, isolation_level=None)) as connection:
                if is_known:
                    connection.execute(statements[0])
                    return
                later = sqlite_steps.Migration(len(sqlite_steps.MIGRATIONS) + 1, "later", statements)
                sqlite_steps.migrate(connection, (*sqlite_steps.MIGRATIONS, later))

        async with ManagedRuntime(stacks.embedded(place)) as runtime:
            yield runtime, take_in_sqlite
        return
    async with fresh_database() as dsn:

        async def take_in_postgres(*statements: str, is_known: bool = False) -> None:
            number = len(postgres_steps.MIGRATIONS) + 1
            async with connected(dsn) as connection:
                for statement in statements:
                    await connection.execute(statement)
                if not is_known:
                    await connection.execute(
                        "INSERT INTO chatmemory_migration VALUES ($1, 'later, chatmemory 9.1', 'x', 0)",
                        number,
                    )

        async with ManagedRuntime(stacks.postgres(dsn)) as runtime:
            yield runtime, take_in_postgres


async def problems(operations: Operations, *names: str) -> list[str]:
    """Do the operations of these names, or all, and return the text of each failure."""
    outcomes = [await operations[name]() for name in names or operations]
    return [str(outcome.failure()) for outcome in outcomes if isinstance(outcome, Failure)]


async def test_a_file_that_a_newer_edition_migrates_refuses_every_operation_and_keeps_what_it_has(
    tmp_path: Path,
) -> None:
    async with opened("sqlite", tmp_path) as (runtime, take):
        assert await problems(await every_operation(runtime, "0")) == []
        await take("CREATE TABLE notes (a TEXT)", is_known=True)  # a table of somebody else stops nobody
        assert await problems(await every_operation(runtime, "1")) == []
        await take("CREATE TABLE later (a)")  # which no statement of ours would notice
        operations = await every_operation(runtime, "2")
        told = await problems(operations)
        assert len(told) == len(operations)
        for text in told:
            assert "newer schema" in text
            assert f"step {len(sqlite_steps.MIGRATIONS) + 1} (later, chatmemory " in text
            assert "update chatmemory" in text
    with closing(sqlite3.connect(tmp_path / "store.db")) as connection:
        assert connection.execute("SELECT count(*) FROM chat_message").fetchone() == (5,)  # 3 are of forks


async def test_writes_that_a_newer_edition_refuses_and_tables_that_it_has_changed_are_told_as_newer(
    tmp_path: Path,
) -> None:
    async with opened("postgres", tmp_path) as (runtime, take):
        assert await problems(await every_operation(runtime, "0")) == []
        await take("CREATE TABLE notes (a TEXT)", is_known=True)  # a table of somebody else stops nobody
        assert await problems(await every_operation(runtime, "1")) == []
        await take(
            "ALTER TABLE conversation ADD CONSTRAINT restart_with_the_newer CHECK (edition > 1) NOT VALID",
            "ALTER TABLE memory_user RENAME COLUMN user_id TO user_name",
            "ALTER TABLE stored_item RENAME TO item",
        )
        refused = ("add", "fork", "remember", "put", "search", "delete")
        told = await problems(await every_operation(runtime, "2"), *refused)
        assert len(told) == len(refused)
        for text in told:
            assert "newer schema" in text
            assert f"step {len(postgres_steps.MIGRATIONS) + 1} (later, chatmemory 9.1)" in text
