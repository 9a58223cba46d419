"""A store opens and lets go without a trace, whatever happens to those who use it."""

import asyncio
import sqlite3
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from chatmemory.conversation.message_repository import PageQuery
from chatmemory_layers.sqlite.engine import database
from chatmemory_layers.sqlite.engine.worker_connection import WorkerConnection
from chatmemory_layers.sqlite.messages.message_repository import SqliteMessageRepository
from tests.patience import PATIENCE_SECONDS
from tests.unit.sqlite.stores import batch, open_repository, problem


def open_files(folder: Path) -> list[str]:
    targets: list[str] = []
    for link in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # a thread closed it meanwhile
            targets.append(str(link.readlink()))
    return [target for target in targets if target.startswith(str(folder))]


async def everything_is_released(folder: Path, threads: int) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while threading.active_count() > threads or open_files(folder):  # noqa: ASYNC110  threads set no event
            await asyncio.sleep(0.005)


async def test_cancelling_while_connecting_closes_what_was_connected(tmp_path: Path) -> None:
    threads = threading.active_count()
    loop = asyncio.get_running_loop()
    is_connected, go_on = asyncio.Event(), threading.Event()

    def connect_slowly() -> sqlite3.Connection:
        connection = sqlite3.connect(tmp_path / "slow.db")
        connection.execute("CREATE TABLE t (a)")
        loop.call_soon_threadsafe(is_connected.set)
        go_on.wait(PATIENCE_SECONDS)
        return connection

    opening = asyncio.create_task(WorkerConnection.opened(connect_slowly))
    await is_connected.wait()
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    assert open_files(tmp_path)
    go_on.set()
    await everything_is_released(tmp_path, threads)


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
        await everything_is_released(tmp_path, threads)


def test_a_store_belongs_to_one_event_loop(tmp_path: Path) -> None:
    async def use(repository: SqliteMessageRepository) -> list[str]:
        async with asyncio.timeout(PATIENCE_SECONDS):
            return [
                problem(await repository.append(batch("m2"))),
                problem(await repository.page(PageQuery("c", "full"))),
            ]

    async def main() -> None:
        async with open_repository(tmp_path / "chat.db") as repository:
            await repository.append(batch("m1")).or_raise()
            assert await asyncio.to_thread(asyncio.run, use(repository)) == ["wrong_loop", "wrong_loop"]
            await repository.append(batch("m2")).or_raise()

    asyncio.run(main())
