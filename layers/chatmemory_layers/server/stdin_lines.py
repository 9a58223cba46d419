"""``StdinLines``: the lines of standard input, for a program that may have to end while no line arrives.

A thread that waits in ``readline`` keeps a program from ending, and its lock the interpreter; so it waits in ``os.read``.
"""

import asyncio
import os
import threading
from collections.abc import AsyncIterator
from typing import Final, final

BLOCK_BYTES: Final = 1 << 16
MOST_WAITING: Final = 64
"""How many lines are read in advance; then the sender has to wait."""


@final
class StdinLines:
    """An asynchronous iterator over the lines of a file *descriptor*, which must be UTF-8, once and in one event loop."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    async def __aiter__(self) -> AsyncIterator[str]:
        """Yield each line as it arrives; the last one may lack a line end."""
        loop = asyncio.get_running_loop()
        lines: asyncio.Queue[bytes | None] = asyncio.Queue(MOST_WAITING)
        threading.Thread(target=self._read, args=(loop, lines), name="stdin", daemon=True).start()
        while (line := await lines.get()) is not None:
            yield line.decode("utf-8", "replace")

    def _read(self, loop: asyncio.AbstractEventLoop, lines: "asyncio.Queue[bytes | None]") -> None:
        def give(line: bytes | None) -> None:
            asyncio.run_coroutine_threadsafe(lines.put(line), loop).result()

        rest = bytearray()
        try:
            while block := os.read(self._descriptor, BLOCK_BYTES):
                *whole, last = block.split(b"\n")
                for line in whole:
                    give(bytes(rest) + line)
                    rest.clear()
                rest += last
            if rest:
                give(bytes(rest))
            give(None)
        except RuntimeError:  # the loop has ended
            return
