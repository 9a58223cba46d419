"""The head of an answer leaves with what follows it, and never later than the turn after it."""

import asyncio

from chatmemory_layers.server.whole_answer import WholeAnswer

HEAD, BODY = b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\n", "屋顶".encode()


class Wire(asyncio.Transport):
    """Keeps what is sent, each time in one piece."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[bytes] = []
        self.is_closed = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.sent.append(bytes(data))

    def is_closing(self) -> bool:
        return self.is_closed

    def close(self) -> None:
        self.is_closed = True


async def test_head_and_body_leave_together() -> None:
    wire = Wire()
    answer = WholeAnswer(wire, asyncio.get_running_loop())
    answer.write(HEAD)
    answer.write(BODY)
    assert wire.sent == [HEAD + BODY]
    await asyncio.sleep(0)
    assert wire.sent == [HEAD + BODY]


async def test_a_stream_begins_before_anything_is_in_it() -> None:
    wire = Wire()
    answer = WholeAnswer(wire, asyncio.get_running_loop())
    answer.write(HEAD)
    await asyncio.sleep(0)
    assert wire.sent == [HEAD]
    answer.write(b"one")
    answer.write(b"two")
    assert wire.sent == [HEAD, b"one", b"two"]


async def test_a_connection_that_closes_loses_no_head() -> None:
    wire = Wire()
    answer = WholeAnswer(wire, asyncio.get_running_loop())
    answer.write(HEAD)
    answer.close()
    assert wire.sent == [HEAD]
    assert answer.is_closing()
    await asyncio.sleep(0)
    assert wire.sent == [HEAD]
