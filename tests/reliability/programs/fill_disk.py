"""``ADDRESS``: adds messages until no file may grow beyond a limit, makes room, adds one more, prints what came of it."""

# ruff: noqa: T201  printing is what it is for

import asyncio
import resource
import sys

from chatmemory import ChatMemory, Failure, NewMessage
from tests.reliability.store import open_store

DISK_BYTES = 1_000_000
MESSAGE = "满" * 10_000


async def fill(memory: ChatMemory) -> tuple[int, str]:
    """Return how many messages were acknowledged, and the problem with the next one."""
    for number in range(1000):
        match await memory.add_messages("c", [NewMessage("user", MESSAGE, id=str(number))]):
            case Failure(error):
                return number, f"{error.reason.problem} {error.retry_is_safe}"
    raise AssertionError("the disk never became full")


async def main(address: str) -> None:
    async with open_store(address) as memory:
        resource.setrlimit(resource.RLIMIT_FSIZE, (DISK_BYTES, resource.RLIM_INFINITY))
        acknowledged, problem = await fill(memory)
        print(problem)
        stored = [message.id for message in await memory.get_messages("c").or_raise()]
        print("all there" if stored == [str(number) for number in range(acknowledged)] else stored)
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        again = NewMessage("user", MESSAGE, id=str(acknowledged))
        report = await memory.add_messages("c", [again]).or_raise()
        print("stored", len(report.stored))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
