"""Opens a store and closes it, once a line arrives on stdin.

    python -m tests.reliability.programs.open_file ADDRESS

Everything is imported before, so that whoever kills it meets the opening.
"""

import asyncio
import os
import sys

from tests.reliability.store import open_store


async def main(address: str) -> None:
    os.write(sys.stdout.fileno(), b"ready\n")
    sys.stdin.readline()
    async with open_store(address):
        os.write(sys.stdout.fileno(), b"open\n")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
