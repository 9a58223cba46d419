"""Which file is opened or refused untouched, what is let go of, and which changes of a log are no damage."""

# ruff: noqa: ASYNC221, ASYNC240  nothing else runs while a test looks at its files

import asyncio
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Final

import pytest
from attrs import evolve

from chatmemory.effect import EffectFailed
from chatmemory.settings.memory_settings import SqliteSettings
from chatmemory_layers.sqlite.engine import database, file_watch
from chatmemory_layers.sqlite.engine.database import open_database, store_file
from chatmemory_layers.sqlite.engine.file_watch import FileWatch
from chatmemory_layers.sqlite.engine.worker_connection import WorkerConnection, run_on
from tests.forked import run_forked
from tests.patience import PATIENCE_SECONDS
from tests.unit.said import batch
from tests.unit.sqlite.desktop_files import change, desktop_file
from tests.unit.sqlite.stores import create_store, file_settings, open_repository, refusal


async def test_a_new_file_belongs_to_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "聊 天 #1?.db"
    async with open_repository(path) as repository:
        await repository.append(batch("c", "m1")).or_raise()
        modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
    assert modes == dict.fromkeys((path.name, path.name + "-wal", path.name + "-shm"), 0o600)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


async def test_the_file_is_set_up_as_the_settings_say(tmp_path: Path) -> None:
    def pragma(name: str, connection: sqlite3.Connection) -> object:
        return connection.execute(f"PRAGMA {name}").fetchone()[0]

    (tmp_path / "chat.db").touch()  # an empty file becomes a store, too
    for durability, synchronous in (("full", 2), ("process", 1)):
        settings = evolve(file_settings(tmp_path / "chat.db"), durability=durability)
        async with open_database(settings) as database:
            writer, reader = database._writes.connection, database._reads.connection
            assert await run_on(writer, partial(pragma, "journal_mode")) == "wal"
            assert await run_on(writer, partial(pragma, "synchronous")) == synchronous
            assert await run_on(reader, partial(pragma, "query_only")) == 1


async def test_a_sqlite_that_is_too_old_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 34, 1))
    assert "3.35.0 is needed" in str(await refusal(tmp_path / "chat.db"))
    assert [*tmp_path.iterdir()] == []


READ_AND_CLOSE = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
connection.execute("SELECT count(*) FROM chat_message").fetchone()
connection.close()  # the last one to do so deletes the log
"""


async def test_opening_a_file_twice_keeps_the_locks_of_the_first(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    async with open_repository(path) as repository:
        await repository.append(batch("c", "m1")).or_raise()
        async with open_repository(path):
            pass
        subprocess.run([sys.executable, "-c", READ_AND_CLOSE, str(path)], check=True)
        assert (tmp_path / "chat.db-wal").exists()


@pytest.fixture
def open_folder() -> Generator[Path]:
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    folder = Path(f"/tmp/chatmemory-{os.getpid()}")
    folder.mkdir(mode=0o755)
    yield folder
    shutil.rmtree(folder)


def as_nobody(path: Path) -> list[str]:
    """Read and write as a user whom file modes bind, and return what came of it; root may write everywhere."""
    command = (sys.executable, "-m", "tests.reliability.programs.read_only_store", path)
    return run_forked(*command).stdout.splitlines()


async def test_who_may_not_write_a_file_reads_it_or_is_refused(open_folder: Path) -> None:
    unreadable = open_folder / "chat.db"
    await create_store(unreadable)
    unreadable.chmod(0o600)
    assert as_nobody(unreadable) == ["open unavailable"]
    path = desktop_file(open_folder / "desktop.db")
    before = path.read_bytes()
    for mode in (0o444, 0o666):  # it cannot be changed; there is no room for the copy
        path.chmod(mode)
        assert as_nobody(path) == ["open read_only"]
    assert path.read_bytes() == before
    assert {*open_folder.iterdir()} == {unreadable, path}
    # A store with new rows of the application can be read all the same.
    await create_store(path)
    change(path, "INSERT INTO atomic_memory (timestamp, content) VALUES (1, '新的')")
    for mode, folder_mode in ((0o444, 0o755), (0o444, 0o555), (0o666, 0o555)):
        path.chmod(mode)
        open_folder.chmod(folder_mode)
        assert as_nobody(path) == ["read 1", "write read_only"]
    assert as_nobody(open_folder / "another.db") == ["open read_only"]


PLACES: Final = {
    "~/记忆.db": "home/记忆.db",
    "~": "home",
    "a/../b.db": "here/a/../b.db",
    "~ann/b.db": "here/~ann/b.db",  # one's own home folder alone has a short name
    "a/~/b.db": "here/a/~/b.db",
    ".": "here",
}


def test_a_path_is_below_the_home_folder_or_this_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    found = {written: store_file(SqliteSettings(path=written)) for written in PLACES}
    assert found == {written: tmp_path / place for written, place in PLACES.items()}
    for written in ("", ":memory:"):
        with pytest.raises(EffectFailed, match="no file is named"):
            store_file(SqliteSettings(path=written))


def open_files(folder: Path) -> list[str]:
    targets: list[str] = []
    for link in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # a thread closed it meanwhile
            targets.append(str(link.readlink()))
    return [target for target in targets if target.startswith(str(folder))]


async def test_a_preparation_that_fails_leaves_nothing_open(tmp_path: Path) -> None:
    threads = threading.active_count()

    def fail(*_: object, **__: object) -> None:
        raise LookupError

    with pytest.raises(LookupError):
        await WorkerConnection.opened(fail)
    for step in ("prepare", "FileWatch", "connect_reader"):
        with pytest.MonkeyPatch.context() as broken:
            broken.setattr(database, step, fail)
            with pytest.raises(LookupError):
                await open_repository(tmp_path / "chat.db").__aenter__()
        async with asyncio.timeout(PATIENCE_SECONDS):
            while threading.active_count() > threads or open_files(tmp_path):  # noqa: ASYNC110  threads set no event
                await asyncio.sleep(0.005)


@pytest.fixture
def connection(tmp_path: Path) -> Generator[sqlite3.Connection]:
    with closing(sqlite3.connect(tmp_path / "chat.db", isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE messages (content TEXT)")
        write(connection)
        yield connection


def write(connection: sqlite3.Connection) -> None:
    connection.execute("INSERT INTO messages VALUES (hex(randomblob(9000)))")


def test_a_write_between_the_look_at_a_log_and_the_look_at_its_index_is_no_damage(
    tmp_path: Path, connection: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = FileWatch(tmp_path / "chat.db", connection)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    read = file_watch._read

    def read_after_a_write(file: os.stat_result, count: int) -> bytes | None:
        write(connection)
        return read(file, count)

    monkeypatch.setattr(file_watch, "_read", read_after_a_write)
    assert watch.problem(connection) is None


def test_a_log_is_emptied_while_its_length_is_measured(
    tmp_path: Path, connection: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(9):
        write(connection)
    watch = FileWatch(tmp_path / "chat.db", connection)
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
    assert watch.problem(connection) is None
    assert looks == 3
