"""What a test has beside the store that it looks at: a connection of its own, and a process that opens it and is killed."""

import asyncio
import random
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, Final

import asyncpg

OPENS_A_STORE: Final = (
    "import asyncio, sys; from chatmemory.settings.memory_settings import PostgresSettings;"
    "from chatmemory_layers.postgres.engine.database import open_database;"
    "print('ready', flush=True); asyncio.run(open_database(PostgresSettings(dsn=sys.argv[1])).__aenter__())"
)


def name_of(dsn: str) -> str:
    """Return the name of the database."""
    return dsn.partition("?")[0].rpartition("/")[2]


@asynccontextmanager
async def connected(dsn: str) -> AsyncGenerator[Any]:
    connection = await asyncpg.connect(dsn)
    try:
        yield connection
    finally:
        await connection.close()


async def open_and_be_killed(dsn: str, *, most_seconds: float) -> None:
    """Open the store in another process, and kill that process within *most_seconds*, wherever it is by then."""
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        OPENS_A_STORE,
        dsn,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert child.stdout is not None
    await child.stdout.readline()
    await asyncio.sleep(random.uniform(0, most_seconds))
    if child.returncode is None:
        child.kill()
    await child.wait()
