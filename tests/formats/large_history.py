"""Histories of any length, one conversation each, that are written while they are read: nobody holds them whole."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, Final, final

from attrs import frozen

BLOCK_BYTES: Final = 1 << 18
TEXT: Final = (
    'The retry waits 2**n seconds, then gives up. 重试等待二的幂秒，然后放弃；日志在这里。 "quoted"\n' * 10
)
MINUTE: Final = "2025-06-01T10:{0:02d}:{1:02d}.000Z"


@final
@frozen
class Large:
    """A history: what stands before the turns, a turn by its number, what stands between and after."""

    name: str
    turn: Callable[[int], str]
    before: str = ""
    between: str = "\n"
    after: str = "\n"

    def blocks(self, size: int) -> Iterator[bytes]:
        """Yield at least *size* bytes of it."""
        held = [self.before.encode()]
        length = written = 0
        for number in count():
            held += [self.between.encode() if number else b"", self.turn(number).encode()]
            length += len(held[-1])
            if length >= BLOCK_BYTES:
                yield b"".join(held)
                written += length
                held, length = [], 0
                if written >= size:
                    break
        yield self.after.encode()


@final
@frozen
class LargeReader:
    """A ``HistoryReader`` of one."""

    large: Large
    size: int

    @property
    def path(self) -> str:
        return self.large.name

    @property
    def name(self) -> str:
        return self.large.name

    def blocks(self) -> Iterator[bytes]:
        return self.large.blocks(self.size)

    def sibling(self, relative: str, /) -> None:
        return None

    def entries(self, relative: str = ".", /) -> Sequence[str]:
        return ()


PEOPLE: Final = ("user", "assistant")


def said(number: int) -> str:
    """Return the text of a turn."""
    return f"{number}: {TEXT}"


def moment(number: int) -> str:
    """Return the time of a turn."""
    return MINUTE.format(number // 60 % 60, number % 60)


def as_json(value: Mapping[str, Any]) -> str:
    """Write a record."""
    return json.dumps(value, ensure_ascii=False)
