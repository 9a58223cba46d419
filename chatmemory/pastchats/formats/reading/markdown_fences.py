"""Which lines of a Markdown text are code, or folded away: what looks like a turn there is quoted."""

import re
from typing import Final, final

from attrs import define, field

_FENCE: Final = re.compile(r"^ {0,3}(?:> ?)*(`{3,}|~{3,})\s*(.*)$")
_OPENING: Final = re.compile(r"<details\b", re.IGNORECASE)
_CLOSING: Final = re.compile(r"</details\s*>", re.IGNORECASE)


@final
@define
class MarkdownFences:
    """Follows the lines of a text.

    A fence with a language inside of a fence opens another one, which CommonMark denies: models quote Markdown in
    fences of the same length, and what they wrote is what has to be read.
    """

    _open: list[str] = field(factory=list[str])
    _folds: int = 0

    @property
    def is_code(self) -> bool:
        """Whether the line that was read last leaves a fence open."""
        return bool(self._open)

    @property
    def is_folded(self) -> bool:
        """Whether it leaves a ``<details>`` open."""
        return self._folds > 0

    def read(self, line: str) -> bool:
        """Take the next line; tell whether it stands within code or a fold, or is the edge of one."""
        was_inside = self.is_code or self.is_folded
        match = _FENCE.match(line)
        if match is None:
            if not self._open and "details" in line.lower():
                self._folds = max(0, self._folds + len(_OPENING.findall(line)) - len(_CLOSING.findall(line)))
        else:
            marks, language = match.group(1), match.group(2)
            if not self._open:
                # CommonMark: behind backticks no further backtick, else it is code within a line.
                if marks[0] == "~" or "`" not in language:
                    self._open.append(marks)
            elif language:
                if (
                    "`" not in language
                    and marks[0] == self._open[-1][0]
                    and len(marks) == len(self._open[-1])
                ):
                    self._open.append(marks)
            elif marks[0] == self._open[-1][0] and len(marks) >= len(self._open[-1]):
                self._open.pop()
        return was_inside or self.is_code or self.is_folded

    def forget(self) -> None:
        """Begin anew: a turn that ends closes whatever it left open."""
        self._open.clear()
        self._folds = 0
