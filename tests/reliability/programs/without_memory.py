"""``PATH``: takes SQLite's memory from one transaction, and prints what became of its write and of the next one."""

# ruff: noqa: T201  printing is what it is for

import asyncio
import ctypes
import sqlite3
import sys
from pathlib import Path

from chatmemory import Failure
from chatmemory_layers.sqlite.engine.database import open_database
from chatmemory_layers.sqlite.messages.message_repository import SqliteMessageRepository
from tests.patience import PATIENCE_SECONDS
from tests.unit.sqlite.stores import batch, file_settings, problem


def loaded_sqlite() -> str | None:
    """Return where the library lies; None: it is a part of this Python."""
    maps = Path("/proc/self/maps").read_text("utf-8").splitlines()
    return next((line.split()[-1] for line in maps if "libsqlite3" in line), None)


def limit_memory(size: int) -> None:
    """Let SQLite have *size* bytes; 0: as many as there are."""
    limit = ctypes.CDLL(loaded_sqlite()).sqlite3_hard_heap_limit64
    limit.argtypes, limit.restype = [ctypes.c_int64], ctypes.c_int64
    limit(size)


def starve(connection: sqlite3.Connection) -> None:
    """Leave no memory to the next statement."""

    def begin(_: str) -> None:
        connection.set_trace_callback(None)
        limit_memory(1)

    connection.set_trace_callback(begin)


async def main(path: str) -> None:
    async with open_database(file_settings(Path(path))) as database:
        repository = SqliteMessageRepository(database)
        await repository.append(batch("before")).or_raise()
        await database.run_on_writer(starve)
        for id_ in ("meanwhile", "afterwards"):
            async with asyncio.timeout(PATIENCE_SECONDS):
                outcome = await repository.append(batch(id_))
            print(problem(outcome) if isinstance(outcome, Failure) else "stored")
            limit_memory(0)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
