"""What is opened, what is refused untouched, and what becomes of a store whose disk turns against it."""

# ruff: noqa: ASYNC221, ASYNC240  nothing else runs while a test looks at its files

import json
import os
import resource
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Generator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import pytest
from attrs import evolve

from chatmemory_layers.sqlite.engine.database import open_database
from chatmemory_layers.sqlite.engine.worker_connection import run_on
from tests.unit.sqlite.desktop_files import add_rows, desktop_file
from tests.unit.sqlite.stores import batch, create_store, file_settings, open_repository, refusal

PROJECT = Path(__file__).parents[3]
NOBODY = 65534


async def test_a_new_file_belongs_to_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "聊 天 #1?.db"
    async with open_repository(path) as repository:
        await repository.append(batch("m1")).or_raise()
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


async def test_a_file_that_was_cut_off_is_damaged_and_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    await create_store(path, *(f"m{number}" for number in range(500)))
    whole = path.read_bytes()
    for kept in (0.3, 0.7, 0.99):
        before = whole[: int(len(whole) * kept)]
        path.write_bytes(before)
        assert (await refusal(path)).problem == "damaged"
        assert path.read_bytes() == before


READ_AND_CLOSE = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
connection.execute("SELECT count(*) FROM chat_message").fetchone()
connection.close()  # the last one to do so deletes the log
"""


async def test_opening_a_file_twice_keeps_the_locks_of_the_first(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    async with open_repository(path) as repository:
        await repository.append(batch("m1")).or_raise()
        async with open_repository(path):
            pass
        subprocess.run([sys.executable, "-c", READ_AND_CLOSE, str(path)], check=True)
        assert (tmp_path / "chat.db-wal").exists()


READ_AND_WRITE = """
import asyncio, json, os, sys
import urllib.parse  # which pathlib imports when it first makes an address
from pathlib import Path
from chatmemory.conversation.message_repository import PageQuery
from chatmemory.effect import Success
from tests.unit.sqlite.desktop_files import add_rows, desktop_file
from tests.unit.sqlite.stores import batch, open_repository, refusal

async def main():
    path = Path(sys.argv[1])
    if sys.argv[2] == "refusal":
        return (await refusal(path)).problem
    if sys.argv[2] == "reason":
        return (await refusal(path)).detail
    async with open_repository(path) as repository:
        page = (await repository.page(PageQuery("c", "full"))).unwrap()
        added = await repository.append(batch("m2"))
        return [[message.id for message in page.messages], added.failure().problem]

os.setuid(int(sys.argv[3]))  # after the imports: nobody may not read the interpreter's folder
print(json.dumps(asyncio.run(main())))
"""


def as_nobody(path: Path, what: str = "use") -> object:
    """Run the program above as a user whom file modes bind; root may write everywhere."""
    command = [sys.executable, "-W", "error", "-c", READ_AND_WRITE, str(path), what, str(NOBODY)]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def open_folder(tmp_path_factory: pytest.TempPathFactory) -> Generator[Path]:
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    folder = Path(f"/tmp/chatmemory-{os.getpid()}")
    folder.mkdir(mode=0o755)
    yield folder
    shutil.rmtree(folder)


async def test_a_store_that_may_not_be_read_is_refused_for_that_reason(open_folder: Path) -> None:
    path = open_folder / "chat.db"
    await create_store(path)
    path.chmod(0o600)
    assert as_nobody(path, "refusal") == "unavailable"
    assert as_nobody(path, "reason") == f"{path}: permission denied"


async def test_a_file_of_the_desktop_application_that_cannot_be_written_is_refused(open_folder: Path) -> None:
    path = desktop_file(open_folder / "desktop.db")
    before = path.read_bytes()
    path.chmod(0o444)
    assert as_nobody(path, "refusal") == "read_only"
    path.chmod(0o666)
    assert as_nobody(path, "refusal") == "read_only"  # there is no room for the copy
    assert path.read_bytes() == before
    assert [*open_folder.iterdir()] == [path]


async def test_a_store_with_new_rows_of_the_application_can_be_read_where_it_cannot_be_written(
    open_folder: Path,
) -> None:
    path = desktop_file(open_folder / "desktop.db")
    await create_store(path)
    with closing(sqlite3.connect(path)) as connection:
        add_rows(connection, [1])
        connection.commit()
    path.chmod(0o444)
    assert as_nobody(path) == [["m1"], "read_only"]


@contextmanager
def largest_file(size: int) -> Generator[None]:
    """Let no file grow beyond *size* bytes, as a full disk does."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)


async def test_a_file_of_the_desktop_application_stays_as_it_is_when_there_is_no_room_for_its_copy(
    tmp_path: Path,
) -> None:
    path = desktop_file(tmp_path / "desktop.db", rows=500)
    before = path.read_bytes()
    with largest_file(len(before) // 2):
        assert (await refusal(path)).problem == "full"
    assert path.read_bytes() == before
    assert [*tmp_path.iterdir()] == [path]
