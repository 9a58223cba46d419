"""A program whose open store is migrated by a newer edition is refused, and told why; before that both editions go on."""

import sqlite3
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Protocol

import pytest

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
from tests.unit.postgres.beside import run_in
from tests.unit.sqlite.desktop_files import change, fetched

NOW: Final = datetime(2026, 1, 1, tzinfo=UTC)
MEI: Final = Namespace("mei")

Operations = dict[str, Callable[[], Effect[Any, Any]]]


class Beside(Protocol):
    """Another program that has the store open."""

    async def run(self, statement: str) -> None:
        """Run *statement*, which is no step."""

    async def upgrade(self, statement: str) -> None:
        """Take *statement* as one more step, as a newer edition does."""

    async def messages(self) -> int:
        """Count the messages of all conversations."""


class BesideSqlite(Beside):
    def __init__(self, place: Path) -> None:
        self.place = place

    async def run(self, statement: str) -> None:
        change(self.place, statement)

    async def upgrade(self, statement: str) -> None:
        later = sqlite_steps.Migration(len(sqlite_steps.MIGRATIONS) + 1, "later", (statement,))
        with closing(sqlite3.connect(self.place, isolation_level=None)) as connection:
            sqlite_steps.migrate(connection, (*sqlite_steps.MIGRATIONS, later))

    async def messages(self) -> int:
        return int(fetched(self.place, "SELECT count(*) FROM chat_message")[0][0])


class BesidePostgres(Beside):
    def __init__(self, dsn: str) -> None:
        self.dsn = dsn

    async def run(self, statement: str) -> None:
        await run_in(self.dsn, statement)

    async def upgrade(self, statement: str) -> None:
        await self.run(statement)
        number = len(postgres_steps.MIGRATIONS) + 1
        await self.run(f"INSERT INTO chatmemory_migration VALUES ({number}, 'later, chatmemory 9.1', 'x', 0)")

    async def messages(self) -> int:
        return int((await run_in(self.dsn, "SELECT count(*) FROM chat_message"))[0][0])


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
async def opened(backend: str, folder: Path) -> AsyncGenerator[tuple[ManagedRuntime[Any], Beside]]:
    """Open a new store, and lend another program that has it open, too."""
    if backend == "sqlite":
        async with ManagedRuntime(stacks.embedded(folder / "store.db")) as runtime:
            yield runtime, BesideSqlite(folder / "store.db")
        return
    async with fresh_database() as dsn, ManagedRuntime(stacks.postgres(dsn)) as runtime:
        yield runtime, BesidePostgres(dsn)


async def problems(operations: Operations) -> list[str]:
    """Do the operations, and return the text of each failure."""
    outcomes = [await operation() for operation in operations.values()]
    return [str(outcome.failure()) for outcome in outcomes if isinstance(outcome, Failure)]


@pytest.mark.parametrize("backend", ["sqlite", "postgres"])
async def test_a_store_that_a_newer_edition_upgrades_refuses_older_programs_that_have_it_open(
    backend: str, tmp_path: Path
) -> None:
    async with opened(backend, tmp_path) as (runtime, other):
        assert await problems(await every_operation(runtime, "0")) == []
        await other.run("CREATE TABLE notes (a TEXT)")  # a table of somebody else stops nobody
        assert await problems(await every_operation(runtime, "1")) == []
        await other.upgrade("CREATE TABLE later (a TEXT)")  # which no statement of ours would notice
        operations = await every_operation(runtime, "2")
        if backend == "postgres":
            reads = {
                name: operations.pop(name) for name in ("read", "list", "recall", "list memories", "search")
            }
            assert await problems(reads) == []  # while the tables that they read stay as they are
        told = await problems(operations)
        assert len(told) == len(operations)
        for text in told:
            assert ": upgraded (step " in text
            assert "(later, chatmemory " in text
            assert "restart with the version that took this step" in text
        assert await other.messages() == 5, "3 of these are in forks"
