"""``Questions``: counts the questions of a person, so that a tool can take back the last ones with all that follows them."""

from collections.abc import Callable, Iterable
from typing import final

from attrs import define, field

from chatmemory.pastchats.formats.history_format import HistoryReader
from chatmemory.pastchats.formats.reading.byte_lines import holds


@final
@define
class Questions:
    """The questions so far; the first pass over a file finds those that the second one marks.

    Attributes:
        undone: the numbers of the questions that are taken back later, counted from 1.
    """

    undone: frozenset[int] = frozenset()
    _asked: int = 0
    _kept: list[int] = field(factory=list[int])

    def ask(self) -> None:
        """Count a question."""
        self._asked += 1
        self._kept.append(self._asked)

    def take_back(self, count: int) -> None:
        """Take back the last *count* questions."""
        del self._kept[max(len(self._kept) - max(count, 0), 0) :]

    @property
    def is_undone(self) -> bool:
        """Whether the present question is taken back later."""
        return self._asked in self.undone

    @classmethod
    def of(
        cls, reader: HistoryReader, sign: str, parse: "Callable[[Questions], Iterable[object]]"
    ) -> "Questions":
        """Return the questions with those that are taken back, if *sign*, which tells of it, is in the file."""
        first = cls()
        if holds(reader, sign.encode()):
            for _ in parse(first):
                pass
        return cls(frozenset(range(1, first._asked + 1)).difference(first._kept))
