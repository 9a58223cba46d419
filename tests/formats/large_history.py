"""Histories of any length, one conversation each, that are written while they are read: nobody holds them whole."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count
from typing import Any, Final, final

from attrs import frozen

BLOCK_BYTES: Final = 1 << 18
TEXT: Final = (
    'The retry waits 2**n seconds, then gives up. 重试等待二的幂秒，然后放弃；日志在这里。 "quoted"\n' * 10
)
PEOPLE: Final = ("user", "assistant")


@final
@frozen
class Large:
    """A history: what stands before the turns, a turn by its number, role and words, what stands between and after."""

    name: str
    turn: Callable[[int, str, str], Mapping[str, Any] | str]
    before: str = ""
    between: str = "\n"
    after: str = "\n"

    def blocks(self, size: int) -> Iterator[bytes]:
        """Yield at least *size* bytes of it."""
        held, written = [self.before.encode()], 0
        turns = self._turns((PEOPLE[number % 2], f"{number}: {TEXT}") for number in count())
        while written < size:
            length = 0
            while length < BLOCK_BYTES:
                held.append(next(turns).encode())
                length += len(held[-1])
            yield b"".join(held)
            held, written = [], written + length
        yield self.after.encode()

    def of(self, talk: Iterable[tuple[str, str]]) -> str:
        return self.before + "".join(self._turns(talk)) + self.after

    def _turns(self, talk: Iterable[tuple[str, str]]) -> Iterator[str]:
        for number, (role, words) in enumerate(talk):
            turn = self.turn(number, role, words)
            yield (self.between if number else "") + (turn if isinstance(turn, str) else as_json(turn))


def at(number: int) -> str:
    return f"2026-06-01T10:{number // 60 % 60:02d}:{number % 60:02d}.000Z"


def text(words: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": words}]


def as_json(value: object, *, indent: int | None = None) -> str:
    """Write *value* as the tools do, in its own script."""
    return json.dumps(value, ensure_ascii=False, indent=indent)


def lines(*records: Mapping[str, Any]) -> str:
    return "".join(as_json(record) + "\n" for record in records)
