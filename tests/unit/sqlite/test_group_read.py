"""Reads share a snapshot and fail alone."""

import asyncio
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from chatmemory.conversation.message_repository import PageQuery
from chatmemory.effect import Success
from chatmemory_layers.sqlite.engine.database import open_database
from chatmemory_layers.sqlite.engine.jobs import Job, read_group
from chatmemory_layers.sqlite.engine.worker_connection import run_on
from chatmemory_layers.sqlite.messages.message_repository import SqliteMessageRepository
from tests.patience import PATIENCE_SECONDS
from tests.unit.sqlite.stores import batch, file_settings, problem


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(tmp_path / "words.db", isolation_level=None)
    connection.execute("CREATE TABLE word (number INTEGER PRIMARY KEY, word TEXT)")
    connection.executemany("INSERT INTO word VALUES (?, ?)", [(1, "roof"), (2, "屋顶")])
    yield connection
    connection.close()


def read(connection: sqlite3.Connection, number: int) -> str:
    if number == 0:
        connection.execute("SELECT word FROM lost")
    (word,) = connection.execute("SELECT word FROM word WHERE number = ?", (number,)).fetchone()
    return str(word)


async def job(number: int) -> Job:
    return ("read a word", read, (number,), {}, asyncio.get_running_loop().create_future())


async def test_a_group_reads_one_snapshot(connection: sqlite3.Connection) -> None:
    statements: list[str] = []
    connection.set_trace_callback(statements.append)
    assert read_group(connection, [await job(1), await job(2)]) == [Success("roof"), Success("屋顶")]
    assert statements.count("BEGIN") == statements.count("COMMIT") == 1


async def test_a_read_that_fails_fails_alone(connection: sqlite3.Connection) -> None:
    one, refused, defect, two = read_group(connection, [await job(n) for n in (1, 0, 3, 2)])
    assert (one, two) == (Success("roof"), Success("屋顶"))
    assert problem(refused) == "unexpected"
    assert isinstance(defect, TypeError)
    assert not connection.in_transaction


async def test_reads_of_many_tasks_take_few_snapshots_and_see_what_was_acknowledged(tmp_path: Path) -> None:
    snapshots: list[str] = []
    async with open_database(file_settings(tmp_path / "chat.db")) as database:

        def count(connection: sqlite3.Connection) -> None:
            connection.set_trace_callback(
                lambda statement: snapshots.append(statement) if statement == "BEGIN" else None
            )

        await run_on(database._reads.connection, count)
        repository = SqliteMessageRepository(database)

        async def add_and_read(number: int) -> None:
            await repository.append(batch(f"m{number}")).or_raise()
            page = await repository.page(PageQuery("c", "full")).or_raise()
            assert page is not None
            assert f"m{number}" in [message.id for message in page.messages]

        async with asyncio.timeout(PATIENCE_SECONDS), asyncio.TaskGroup() as tasks:
            for number in range(64):
                tasks.create_task(add_and_read(number))
    assert 0 < len(snapshots) <= 16
