"""``PATH``: forks while threads write to a store, and once it is closed; each child opens it again and prints what came of it."""

# ruff: noqa: T201  printing is what it is for

import asyncio
import os
import sys
import threading
import warnings

from chatmemory import AddReport, ChatMemoryService, Effect, EffectFailed, NewMessage, Success, ThreadRuntime
from chatmemory.errors import AddError, RepositoryError
from chatmemory_layers.stacks import embedded
from tests.reliability.store import open_store

CHILDREN = 5


async def add(path: str) -> str:
    try:
        async with open_store(path) as memory:
            await memory.add_messages("c", [NewMessage("user", "of a child")]).or_raise()
    except EffectFailed as failed:
        return failed.error.problem if isinstance(failed.error, RepositoryError) else failed.tag
    return "stored"


def in_a_child(path: str) -> str:
    """Return what adding in a forked child comes to."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.write(writing, asyncio.run(add(path)).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        said = answer.read()
    os.waitpid(child, 0)
    return said


def adding(message: NewMessage) -> Effect[AddReport, AddError, ChatMemoryService]:
    return ChatMemoryService.use(lambda memory: memory.add_messages("c", [message]))


def main(path: str) -> None:
    stored: list[str] = []
    has_begun, shall_stop = threading.Event(), threading.Event()
    with ThreadRuntime(embedded(path)) as runtime:

        def write() -> None:
            while not shall_stop.is_set():
                message = NewMessage("user", "x" * 3_000, id=str(len(stored)))
                if isinstance(runtime.run_blocking(adding(message)), Success):
                    stored.append(message.id or "")
                has_begun.set()

        writer = threading.Thread(target=write)
        writer.start()
        has_begun.wait()
        print({in_a_child(path) for _ in range(CHILDREN)})
        shall_stop.set()
        writer.join()
        kept = runtime.run_blocking(ChatMemoryService.use(lambda memory: memory.count("c"))).unwrap()
    print("all there" if kept == len(stored) else f"{kept} of {len(stored)}")
    print(in_a_child(path))


if __name__ == "__main__":
    warnings.simplefilter("ignore", DeprecationWarning)  # from 3.12 on, for a fork beside threads
    main(*sys.argv[1:])
