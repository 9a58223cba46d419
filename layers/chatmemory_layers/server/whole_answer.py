"""``WholeAnswer``: sends the head of an answer together with the data after it.

uvicorn writes a head as soon as it is known, and then the body: two system calls and two packets for every answer.
"""

import asyncio
from typing import final


@final
class WholeAnswer(asyncio.Transport):
    """The transport of one answer; it holds the head until more is written, for at most one turn of the loop."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        """Create a transport that writes to *transport*."""
        super().__init__()
        self._transport = transport
        self._loop = loop
        self._head: bytes | bytearray | memoryview | None = None
        self._turn: asyncio.Handle | None = None

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send *data*.  The first call passes the head, which is held back and sent together with the next data."""
        if self._turn is None:
            self._head = data
            self._turn = self._loop.call_soon(self.flush)
        elif self._head is None:
            self._transport.write(data)
        else:
            self._turn.cancel()
            # Not writelines(): before Python 3.12.9 and 3.13.2 it never asks to pause (CVE-2024-12254).
            self._transport.write(b"".join((self._head, data)))
            self._head = None

    def flush(self) -> None:
        """Send the head without waiting for more."""
        if self._turn is not None and self._head is not None:
            self._turn.cancel()
            self._transport.write(self._head)
            self._head = None

    def is_closing(self) -> bool:
        """Return whether the connection is closing."""
        return self._transport.is_closing()

    def close(self) -> None:
        """Send what is held back and close the connection."""
        self.flush()
        self._transport.close()
