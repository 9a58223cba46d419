"""``MarkdownFences``: finds lines of a Markdown text in code or in a fold; a turn marker there is a quotation."""

import re
from typing import Final, final

from attrs import define, field

_FENCE: Final = re.compile(r"^ {0,3}(?:> ?)*(`{3,}|~{3,})\s*(.*)$")
_OPENING: Final = re.compile(r"<details\b", re.IGNORECASE)
_CLOSING: Final = re.compile(r"</details\s*>", re.IGNORECASE)


@final
@define
class MarkdownFences:
    """Tracks the open fences and folds of a text, line by line.

    A fence with a language inside a fence opens another one, in contrast to CommonMark: models quote Markdown in
    fences of the same length, and this class has to read their text.
    """

    _open: list[str] = field(factory=list[str])
    _folds: int = 0

    @property
    def is_code(self) -> bool:
        """Whether a code fence is open after the last line that was read."""
        return bool(self._open)

    @property
    def _is_quoted(self) -> bool:
        return self.is_code or self._folds > 0

    def read(self, line: str) -> bool:
        """Read the next line, and return whether it is in code or in a fold, or opens or closes one."""
        was_quoted = self._is_quoted
        match = _FENCE.match(line)
        if match is None:
            if not self._open and "details" in line.lower():
                self._folds = max(0, self._folds + len(_OPENING.findall(line)) - len(_CLOSING.findall(line)))
        else:
            marks, language = match.group(1), match.group(2)
            if not self._open:
                # CommonMark: a backtick after the fence's backticks makes it code within a line.
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
        return was_quoted or self._is_quoted
