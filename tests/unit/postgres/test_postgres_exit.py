"""A program that forgets to close its store ends all the same, says nothing of it, and has lost nothing."""

import asyncio
import sys

from chatmemory.settings.memory_settings import PostgresSettings
from chatmemory_layers.postgres.engine.database import open_database
from chatmemory_layers.postgres.messages.message_repository import PostgresMessageRepository
from tests.patience import PATIENCE_SECONDS
from tests.unit.postgres.said import stored_ids

PROGRAM = """
import asyncio, sys
from chatmemory.settings.memory_settings import PostgresSettings
from chatmemory_layers.postgres.engine.database import open_database
from chatmemory_layers.postgres.messages.message_repository import PostgresMessageRepository
from tests.unit.postgres.said import batch

async def main():
    global opening, database
    opening = open_database(PostgresSettings(dsn=sys.argv[1]))
    database = await opening.__aenter__()
    await PostgresMessageRepository(database).append(batch("c", "1")).or_raise()
    {ending}

asyncio.run(main())
"""


async def test_a_program_that_forgets_to_close_ends(dsn: str) -> None:
    for ending, said in (("pass", b""), ("raise SystemExit('over')", b"over\n")):
        program = await asyncio.create_subprocess_exec(
            *(sys.executable, "-W", "error", "-c", PROGRAM.format(ending=ending), dsn),
            stderr=asyncio.subprocess.PIPE,
        )
        _, errors = await asyncio.wait_for(program.communicate(), PATIENCE_SECONDS)
        assert errors == said
    async with open_database(PostgresSettings(dsn=dsn)) as database:
        assert await stored_ids(PostgresMessageRepository(database), "c") == ["1"]
