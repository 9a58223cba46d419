"""A file is taken to the newest schema whole, once, and never by somebody who does not know it."""

import re
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from attrs import evolve

from chatmemory.effect import EffectFailed
from chatmemory.errors import RepositoryError
from chatmemory_layers.sqlite.migrations import MIGRATIONS, Migration, check_origin, migrate

SCHEMA = Path(__file__).parents[3] / "schemas" / "sqlite.sql"

SELECT_SCHEMA = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY tbl_name, type DESC, name"


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(tmp_path / "chat.db", isolation_level=None)) as connection:
        yield connection


def tables(connection: sqlite3.Connection) -> set[str]:
    return {
        name
        for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    }


def problem_of(connection: sqlite3.Connection) -> str:
    with pytest.raises(EffectFailed) as failed:
        check_origin(connection)
    assert isinstance(failed.value.error, RepositoryError)
    return failed.value.error.problem


def test_the_published_schema_is_that_of_a_fresh_file(connection: sqlite3.Connection) -> None:
    migrate(connection)
    statements = [sql for (sql,) in connection.execute(SELECT_SCHEMA).fetchall()]
    fresh = "".join(f"{statement};\n\n" for statement in statements).rstrip() + "\n"
    assert SCHEMA.read_text() == fresh, f"write this to {SCHEMA.name}:\n{fresh}"


def test_every_step_is_recorded_and_taken_once(connection: sqlite3.Connection) -> None:
    migrate(connection)
    migrate(connection)
    recorded = connection.execute(
        "SELECT number, name, checksum, applied_at_us > 0 FROM chatmemory_migration"
    ).fetchall()
    assert recorded == [(step.number, step.name, step.checksum, 1) for step in MIGRATIONS]


def test_a_step_that_fails_leaves_nothing_of_itself(connection: sqlite3.Connection) -> None:
    broken = Migration(2, "broken", ("CREATE TABLE half (a)", "CREATE TABLE"))
    with pytest.raises(sqlite3.OperationalError):
        migrate(connection, (*MIGRATIONS, broken))
    assert not connection.in_transaction
    assert "half" not in tables(connection)
    assert {"conversation", "chat_message"} <= tables(connection)


def test_a_later_step_is_taken_on_top(connection: sqlite3.Connection) -> None:
    migrate(connection)
    later = (*MIGRATIONS, Migration(2, "later", ("CREATE TABLE later (a)",)))
    check_origin(connection, later)
    migrate(connection, later)
    assert "later" in tables(connection)
    assert problem_of(connection) == "newer_schema"


def test_a_step_that_was_another_one_is_refused(connection: sqlite3.Connection) -> None:
    migrate(
        connection,
        (evolve(MIGRATIONS[0], name="other", statements=(*MIGRATIONS[0].statements, "CREATE TABLE x (a)")),),
    )
    assert problem_of(connection) == "newer_schema"


def test_a_database_of_another_program_is_refused(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE todo (id)")
    assert problem_of(connection) == "not_a_store"


def test_those_who_migrate_at_once_wait_for_each_other(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    sqlite3.connect(path).execute("PRAGMA journal_mode = WAL").connection.close()
    start = threading.Barrier(9)
    failures: list[sqlite3.Error] = []

    def open_and_migrate() -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            start.wait()
            try:
                migrate(connection)
            except sqlite3.Error as error:
                failures.append(error)

    threads = [threading.Thread(target=open_and_migrate) for _ in range(8)]
    with closing(sqlite3.connect(path, isolation_level=None)) as blocker:
        blocker.execute("BEGIN IMMEDIATE")
        for thread in threads:
            thread.start()
        start.wait()
        time.sleep(0.1)  # all of them have seen that the step is missing, and wait for the lock
        blocker.execute("ROLLBACK")
    for thread in threads:
        thread.join()
    assert failures == []


def test_released_steps_never_change() -> None:
    assert [(step.number, step.checksum) for step in MIGRATIONS] == [
        (1, "f55d45a5060e6b7c921bb534652d47cba64af5d475f980ce9a98a88523643439")
    ]


def test_columns_carry_their_unit() -> None:
    assert not re.findall(r"\b\w+_at INTEGER", SCHEMA.read_text())
