"""``Questions``: counts the questions of a person, so that a tool can take back the last ones with all that follows them."""

from typing import final

from attrs import define, field


@final
@define
class Questions:
    """The questions so far; the first pass over a file finds those that the second one marks.

    Attributes:
        undone: the numbers of the questions that are taken back later, counted from 1.
    """

    undone: frozenset[int] = frozenset()
    _asked: int = 0
    _standing: list[int] = field(factory=list[int])

    def ask(self) -> None:
        """Count a question."""
        self._asked += 1
        self._standing.append(self._asked)

    def take_back(self, count: int) -> None:
        """Take back the last *count* questions."""
        del self._standing[max(len(self._standing) - max(count, 0), 0) :]

    @property
    def is_undone(self) -> bool:
        """Whether the present question is taken back later."""
        return self._asked in self.undone

    def taken_back(self) -> frozenset[int]:
        """Return the numbers of the questions that were taken back."""
        return frozenset(range(1, self._asked + 1)).difference(self._standing)
