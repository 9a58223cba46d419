"""Writes share a transaction, reads a snapshot, each fails alone, and nobody is told of a commit that failed."""

import asyncio
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from chatmemory import AuditQuery, Failure, Namespace, Outcome, PageQuery, Success
from chatmemory.access.principal import Granted, Principal, acting_as
from chatmemory.laws.kit.samples import START
from chatmemory.laws.memories.memory_witness import remembered
from chatmemory_layers.sqlite.engine.database import open_database
from chatmemory_layers.sqlite.engine.jobs import EditionWatch, Job, Jobs, commit_group, read_group
from chatmemory_layers.sqlite.engine.transaction import KeptRows, Transaction
from chatmemory_layers.sqlite.engine.worker_connection import WorkerConnection, run_on
from chatmemory_layers.sqlite.messages.message_repository import SqliteMessageRepository
from tests.patience import PATIENCE_SECONDS
from tests.unit.said import batch, problem_of
from tests.unit.sqlite.desktop_files import change
from tests.unit.sqlite.stores import file_settings, open_memories, open_repository


class Forgetful(sqlite3.Connection):
    """A connection that finds no memory, as often as is said, for the statements that are named."""

    forgets: list[str]

    def execute(self, statement: str, *arguments: Any) -> sqlite3.Cursor:
        if statement in self.forgets:
            self.forgets.remove(statement)
            raise MemoryError
        return super().execute(statement, *arguments)


@pytest.fixture
def forgetful(connection: sqlite3.Connection, tmp_path: Path) -> Iterator[Forgetful]:
    """A connection to the same file."""
    second = sqlite3.connect(tmp_path / "numbers.db", isolation_level=None, factory=Forgetful)
    second.forgets = []
    yield second
    second.close()


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(tmp_path / "numbers.db", isolation_level=None)
    connection.execute("CREATE TABLE number (value INTEGER CHECK (value > 0))")
    yield connection
    connection.close()


def insert(transaction: Transaction, value: int) -> Outcome[int, str]:
    transaction.execute("INSERT INTO number VALUES (?)", (value,))
    if value == 13:
        raise LookupError("thirteen")
    return Success(value)


async def job(value: int) -> Job:
    return ("insert", insert, (value,), {}, asyncio.get_running_loop().create_future())


def committed(connection: sqlite3.Connection, group: Sequence[Job]) -> list[Any]:
    return commit_group(connection, group, KeptRows(), EditionWatch(connection))


def numbers(connection: sqlite3.Connection) -> list[int]:
    return [value for (value,) in connection.execute("SELECT value FROM number ORDER BY rowid").fetchall()]


async def test_one_that_fails_fails_alone(connection: sqlite3.Connection) -> None:
    group = [await job(1), await job(-1), await job(13), await job(2)]
    one, refused, defect, two = committed(connection, group)
    assert (one, two) == (Success(1), Success(2))
    assert problem_of(refused) == "unexpected"
    assert isinstance(defect, LookupError)
    assert numbers(connection) == [1, 2]


async def test_what_is_held_is_written_once_for_the_whole_group(connection: sqlite3.Connection) -> None:
    class Sum:
        saves = 0
        value = 0

        def save(self, transaction: Transaction) -> None:
            type(self).saves += 1
            transaction.execute("INSERT INTO number VALUES (?)", (self.value,))

    def add(transaction: Transaction, value: int) -> Outcome[None, str]:
        held = transaction.held.setdefault((Sum, "sum"), Sum())
        transaction.changed[held] = None
        assert isinstance(held, Sum)
        held.value += value
        return Success(None)

    future = asyncio.get_running_loop().create_future()
    committed(connection, [("add", add, (value,), {}, future) for value in (1, 2, 3)])
    assert (Sum.saves, numbers(connection)) == (1, [6])


async def test_a_commit_that_fails_is_acknowledged_to_nobody(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("CREATE TABLE parent (id INTEGER PRIMARY KEY)")
    connection.execute("CREATE TABLE child (id INTEGER REFERENCES parent DEFERRABLE INITIALLY DEFERRED)")

    def orphan(transaction: Transaction, value: int) -> Outcome[int, str]:
        transaction.execute("INSERT INTO child VALUES (?)", (value,))  # noticed at COMMIT
        return Success(value)

    future = asyncio.get_running_loop().create_future()
    answers = committed(connection, [await job(1), ("orphan", orphan, (7,), {}, future)])
    assert [problem_of(answer) for answer in answers] == ["unexpected", "unexpected"]
    assert numbers(connection) == []
    assert committed(connection, [await job(2)]) == [Success(2)]


async def test_a_begin_or_a_commit_without_memory_fails_its_group_and_no_other(forgetful: Forgetful) -> None:
    """What a commit leaves open is undone at the latest by the next group."""
    for number, (forgets, expected) in enumerate(
        (
            (["BEGIN IMMEDIATE"], "no_memory"),
            (["COMMIT"], "outcome_unknown"),
            (["COMMIT", "ROLLBACK"], "outcome_unknown"),
        )
    ):
        forgetful.forgets = forgets
        answers = committed(forgetful, [await job(7), await job(8)])
        assert [problem_of(answer) for answer in answers] == [expected] * 2
        assert committed(forgetful, [await job(number + 1)]) == [Success(number + 1)]
    assert numbers(forgetful) == [1, 2, 3]


async def test_a_snapshot_that_finds_no_memory_is_over_for_the_next_group(forgetful: Forgetful) -> None:
    def count(connection: sqlite3.Connection) -> int:
        return len(numbers(connection))

    forgetful.forgets = ["COMMIT"]
    counting: Job = ("count", count, (), {}, asyncio.get_running_loop().create_future())
    assert problem_of(*read_group(forgetful, [counting], EditionWatch(forgetful))) == "no_memory"
    assert read_group(forgetful, [counting], EditionWatch(forgetful)) == [Success(0)]


async def test_whatever_leaves_a_group_is_told_to_all_of_it_and_the_next_one_is_done(tmp_path: Path) -> None:
    async def told(escapes: BaseException) -> list[object]:
        groups: list[int] = []

        def escape_once(_: sqlite3.Connection, group: Sequence[Job]) -> list[Any]:
            groups.append(len(group))
            if len(groups) == 1:
                raise escapes
            return [Success("done") for _ in group]

        jobs = Jobs(
            await WorkerConnection.opened(lambda: sqlite3.connect(tmp_path / "numbers.db")), escape_once
        )
        async with asyncio.timeout(PATIENCE_SECONDS):
            futures = [jobs.submit("insert", insert, (number,), {}) for number in range(3)]
            answers = await asyncio.gather(*futures, return_exceptions=True)
            assert not any(future.cancelled() for future in futures)
            assert await jobs.submit("insert", insert, (3,), {}) == Success("done")
            await jobs.close()
        failed = [answer for answer in answers if not isinstance(answer, Success)]
        assert len(failed) == groups[0]
        return failed

    assert {problem_of(each) for each in await told(MemoryError())} == {"no_memory"}
    for escapes in (SystemExit(), StopIteration(), asyncio.CancelledError()):
        assert all(isinstance(each, type(escapes) | RuntimeError) for each in await told(escapes))


def noting(wanted: str, seen: list[str]) -> Callable[[sqlite3.Connection], None]:
    """Return what lets a connection note in *seen* each time that it executes *wanted*."""
    return lambda connection: connection.set_trace_callback(
        lambda statement: seen.append(statement) if statement == wanted else None
    )


async def test_many_tasks_share_commits_and_snapshots_in_their_order(tmp_path: Path) -> None:
    commits: list[str] = []
    snapshots: list[str] = []
    async with open_database(file_settings(tmp_path / "chat.db")) as database:
        await database.run_on_writer(noting("COMMIT", commits))
        await run_on(database._reads.connection, noting("BEGIN", snapshots))
        repository = SqliteMessageRepository(database)

        async def add_and_read(number: int) -> list[str]:
            await repository.append(batch("c", f"m{number}")).or_raise()
            page = await repository.page(PageQuery("c", "full")).or_raise()
            assert page is not None
            return [message.id for message in page.messages]

        async with asyncio.timeout(PATIENCE_SECONDS):
            seen = await asyncio.gather(*map(add_and_read, range(64)))
        everything = [f"m{number}" for number in range(64)]
        for number, ids in enumerate(seen):
            assert f"m{number}" in ids
            assert ids == everything[: len(ids)]
        assert await add_and_read(64) == [*everything, "m64"]
    assert 0 < len(commits) <= 9
    assert 0 < len(snapshots) <= 17


async def test_closing_finishes_what_was_submitted(tmp_path: Path) -> None:
    async with open_repository(tmp_path / "chat.db") as repository:
        adding = asyncio.gather(*(repository.append(batch("c", f"m{number}")) for number in range(100)))
        await asyncio.sleep(0)
    assert all(isinstance(outcome, Success) for outcome in await adding)


async def test_a_writer_of_another_process_is_waited_for_and_no_longer_than_said(tmp_path: Path) -> None:
    async with open_repository(tmp_path / "chat.db", busy_timeout_seconds=0.1) as repository:
        await repository.append(batch("c", "m1")).or_raise()
        other = sqlite3.connect(tmp_path / "chat.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        try:
            assert problem_of(await repository.append(batch("c", "m2"))) == "busy"
            page = await repository.page(PageQuery("c", "full")).or_raise()  # a reader does not wait
        finally:
            other.close()
        assert page is not None
        assert isinstance(await repository.append(batch("c", "m2")), Success)


async def test_an_append_reads_nothing_while_nobody_else_writes_to_the_file(tmp_path: Path) -> None:
    statements: list[str] = []
    async with open_database(file_settings(tmp_path / "chat.db")) as database:
        repository = SqliteMessageRepository(database)
        await repository.append(batch("c", "m1")).or_raise()
        await repository.append(batch("c", "m2")).or_raise()
        await database.run_on_writer(lambda connection: connection.set_trace_callback(statements.append))
        await repository.append(batch("c", "m3")).or_raise()
        assert not [each for each in statements if each.lstrip().startswith("SELECT")]

        async with open_repository(tmp_path / "chat.db") as other:
            await other.append(batch("c", "m4")).or_raise()
        appended = await repository.append(batch("c", "m5")).or_raise()
        assert appended.conversation.version == 5
        await repository.clear("c", now=START).or_raise()
        appended = await repository.append(batch("c", "m6")).or_raise()
        assert (appended.conversation.version, appended.conversation.message_count) == (7, 1)


async def test_what_a_failed_transaction_held_is_read_again(tmp_path: Path) -> None:
    async with open_database(file_settings(tmp_path / "chat.db")) as database:
        repository = SqliteMessageRepository(database)
        await repository.append(batch("c", "m1")).or_raise()

        def defect(_: Transaction) -> Outcome[None, str]:
            raise LookupError("thirteen")

        stored, failed = await asyncio.gather(
            repository.append(batch("c", "m2")).run(), database.write("fail", defect), return_exceptions=True
        )
        assert isinstance(stored, Success)
        assert isinstance(failed, LookupError)
        assert (await repository.append(batch("c", "m3")).or_raise()).conversation.version == 3


async def test_events_of_a_group_stand_in_the_order_of_its_writes(tmp_path: Path) -> None:
    async with open_repository(tmp_path / "chat.db") as repository:
        await asyncio.gather(
            repository.append(batch("c", "m1")).run(),
            repository.clear("c", now=START).run(),
            repository.append(batch("c", "m2")).run(),
            repository.append(batch("c", "m2")).run(),  # repeated within the group
            repository.append(batch("c", "m3", "m2")).run(),
        )
        page = await repository.log.changes_page(None, limit=9).or_raise()
        assert [(event.action, event.version) for event in page.events] == [
            ("added", 1),
            ("cleared", 2),
            ("added", 3),
            ("added", 4),
        ]


def read(connection: sqlite3.Connection, number: int) -> int:
    if number == 0:
        connection.execute("SELECT value FROM lost")
    (value,) = connection.execute("SELECT value FROM number WHERE value = ?", (number,)).fetchone()
    return int(value)


async def test_a_group_reads_one_snapshot_and_a_read_fails_alone(connection: sqlite3.Connection) -> None:
    connection.executemany("INSERT INTO number VALUES (?)", [(1,), (2,)])
    loop = asyncio.get_running_loop()
    statements: list[str] = []
    connection.set_trace_callback(statements.append)

    def answers(*wanted: int) -> list[object]:
        jobs: list[Job] = [("read", read, (number,), {}, loop.create_future()) for number in wanted]
        return read_group(connection, jobs, EditionWatch(connection))

    assert answers(1, 2) == [Success(1), Success(2)]
    assert statements.count("BEGIN") == statements.count("COMMIT") == 1
    one, refused, defect, two = answers(1, 0, 3, 2)
    assert (one, two) == (Success(1), Success(2))
    assert problem_of(refused) == "unexpected"
    assert isinstance(defect, TypeError)
    assert not connection.in_transaction


MEI = Namespace("mei")
PHONE = Principal(name="phone", namespace=MEI, granted=(Granted(MEI),))

# Of one target alone, so that others of the same group show what becomes of them.
REFUSE_EVENTS = """
CREATE TRIGGER no_event BEFORE INSERT ON event WHEN NEW.target_id = 'lost'
BEGIN SELECT RAISE(ABORT, 'no room for events'); END
"""


@pytest.mark.usefixtures("everybody")
async def test_what_has_no_event_is_not_stored(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    async with open_repository(path) as repository, open_memories(path) as memories:
        change(path, REFUSE_EVENTS)
        with acting_as(PHONE):
            appends = [repository.append(batch(name, "m1")).run() for name in ("a", "lost", "b")]
            outcomes = await asyncio.gather(*appends)
            drafts = (remembered("kept", namespace=MEI), remembered("lost", namespace=MEI))
            everything = (*outcomes, await memories.store(drafts))
        refused = [isinstance(one, Failure) and "no room" in str(one.failure()) for one in everything]
        assert refused == [False, True, False, True]
        assert await repository.conversation("lost").or_raise() is None
        assert await memories.get(MEI, "kept").or_raise() is None
        targets = [entry.target for entry in await repository.log.acted(AuditQuery()).or_raise()]
        assert sorted(targets) == ["a", "b"]
