"""``ADDRESS WRITERS BATCHES``: adds numbered batches through whatever happens to the server, each until it is acknowledged.

Each of WRITERS, with commas between, writes to a conversation of its own and to one of all, from a line on stdin on.  It
prints how often which problem was met; an error that is not typed, or that may not be repeated, ends it.
"""

import asyncio
import json
import os
import sys
from collections import Counter
from typing import Any

from chatmemory import ChatMemory, ChatMemoryService, GenericMemoryError, ManagedRuntime
from chatmemory.effect import Success
from chatmemory.errors import RepositoryError
from chatmemory.settings.memory_settings import MemorySettings, PostgresSettings, Settings, StoreSettings
from chatmemory_layers.stacks import configured
from tests.reliability.numbered import numbered_batch

SHARED = "shared"
PAUSE_SECONDS = 0.05  # between two attempts
TIMEOUT_SECONDS = 5.0  # some writers meet it while the server is away


async def main(address: str, writers: str, batches: str) -> None:
    met: Counter[str] = Counter()

    async def add(memory: ChatMemory, conversation_id: str, writer: str, number: int) -> None:
        while True:
            outcome = await memory.add_messages(conversation_id, numbered_batch(writer, number))
            if isinstance(outcome, Success):
                return
            error = outcome.failure()
            assert isinstance(error, GenericMemoryError), error
            assert isinstance(error.reason, RepositoryError), error
            assert error.retry_is_safe, error
            met[error.reason.problem] += 1
            await asyncio.sleep(PAUSE_SECONDS)

    async def write(memory: ChatMemory, writer: str) -> None:
        for number in range(int(batches)):
            for conversation_id in (writer, SHARED):
                await add(memory, conversation_id, writer, number)

    # No statement cache: a PgBouncer older than 1.21 knows nothing of prepared statements.
    uncached: Any = {"statement_cache_size": 0, "pool_size": 8, "timeout_seconds": TIMEOUT_SECONDS}
    store = StoreSettings(backend="postgres", postgres=PostgresSettings(dsn=address, **uncached))
    async with ManagedRuntime(configured(Settings(memory=MemorySettings(store=store)))) as runtime:
        memory = await runtime.service(ChatMemoryService)
        os.write(sys.stdout.fileno(), b"ready\n")
        await asyncio.to_thread(sys.stdin.readline)
        await asyncio.gather(*(write(memory, writer) for writer in writers.split(",")))
    os.write(sys.stdout.fileno(), json.dumps(met).encode())


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
