"""``ADDRESS``: reads a store and writes to it as a user who may only read it, and prints what came of each."""

# ruff: noqa: T201  printing is what it is for

import asyncio
import os
import sys

import anyio.lowlevel

from chatmemory import EffectFailed, NewMessage
from tests.reliability.store import open_store

NOBODY = 65534


async def main(address: str) -> None:
    await anyio.lowlevel.checkpoint()  # loads what that user may not read
    if os.geteuid() == 0:
        os.setuid(NOBODY)  # here, for that user may not even read this program
    try:
        async with open_store(address) as memory:
            print("read", len(await memory.get_messages("c").or_raise()))
            refused = await memory.add_messages("c", [NewMessage("user", "x")])
            print("write", refused.failure().reason.problem)
    except EffectFailed as failed:
        print("open", failed.error.problem)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
