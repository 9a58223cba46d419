"""``FileWatch`` tells a log that was cut off from one that a checkpoint emptied while others write."""

import os
import sqlite3
from collections.abc import Generator
from contextlib import closing
from pathlib import Path

import pytest

from chatmemory_layers.sqlite.engine import file_watch
from chatmemory_layers.sqlite.engine.file_watch import CUT_OFF, FileWatch


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "chat.db"


@pytest.fixture
def connection(store: Path) -> Generator[sqlite3.Connection]:
    with closing(sqlite3.connect(store, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE messages (content TEXT)")
        write(connection)
        yield connection


def write(connection: sqlite3.Connection) -> None:
    connection.execute("INSERT INTO messages VALUES (hex(randomblob(9000)))")


def test_a_write_between_the_look_at_a_log_and_the_look_at_its_index_is_no_damage(
    store: Path, connection: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = FileWatch(store, connection)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    read = file_watch._read

    def read_after_a_write(file: os.stat_result, count: int) -> bytes | None:
        write(connection)
        return read(file, count)

    monkeypatch.setattr(file_watch, "_read", read_after_a_write)
    assert watch.trouble(connection) is None


def test_a_log_is_emptied_while_its_length_is_measured(
    store: Path, connection: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(9):
        write(connection)
    watch = FileWatch(store, connection)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    write(connection)
    stat = file_watch._stat
    looks = 0

    def stat_of_an_emptied_log(path: str) -> os.stat_result | None:
        nonlocal looks
        looks += path.endswith("-wal")
        if looks == 2:  # the first look is the check's own
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return stat(path)

    monkeypatch.setattr(file_watch, "_stat", stat_of_an_emptied_log)
    assert watch.trouble(connection) is None
    assert looks == 3


def test_a_log_that_was_cut_off_is_damage(store: Path, connection: sqlite3.Connection) -> None:
    watch = FileWatch(store, connection)
    log = Path(f"{store}-wal")
    os.truncate(log, log.stat().st_size // 2)
    trouble = watch.trouble(connection)
    assert trouble is not None
    assert trouble.problem == "damaged"
    assert trouble.detail == CUT_OFF.format("log beside the file (-wal)")
