"""The commands of Anthropic's memory tool on the text of one file, and the texts of their answers.

Only texts: ``file_tree.py`` defines the tree of files, ``memory_files.py`` stores them.  A model was trained on these
answers, so they are the same as in the SDK's own tool, letter by letter.  Lines end with a line feed; a carriage
return before it belongs to the line.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

MAX_LINES: Final = 999_999
NUMBER_WIDTH: Final = len(str(MAX_LINES))
CONTEXT_LINES: Final = 2  # shown before and after a changed line
MAX_PLACES_NAMED: Final = 100  # for a text with too many occurrences: an empty one occurs at every character
LAST_LINE: Final = -1  # the value in a range that means the end of the file


class CommandRefusedError(Exception):
    """A command was refused and changed nothing; the text tells the model why."""


def shown(path: str, text: str, view_range: Sequence[int] | None = None) -> str:
    r"""Return the lines of a file, or the lines of *view_range*, with their numbers.

    >>> print(shown("/memories/a", "one\ntwo", [2, -1]))
    Here's the content of /memories/a with line numbers:
         2	two
    """
    lines = text.split("\n")
    if len(lines) > MAX_LINES:
        raise CommandRefusedError(f"File {path} exceeds maximum line limit of {MAX_LINES:,} lines.")
    start, end = 0, len(lines)
    if view_range is not None and len(view_range) == 2:  # noqa: PLR2004  the first and the last line
        start = max(1, view_range[0]) - 1
        end = end if view_range[1] == LAST_LINE else view_range[1]
    return f"Here's the content of {path} with line numbers:\n" + _numbered(lines[start:end], start)


def replaced(path: str, text: str, old: str, new: str) -> tuple[str, str]:
    """Return the text of a file with *old* replaced by *new*, and the answer; *old* has to occur exactly once."""
    times = text.count(old)
    if times == 0:
        raise CommandRefusedError(
            f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}."
        )
    if times > 1:
        raise CommandRefusedError(
            f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: "
            f"{_lines_named(text, old)}. Please ensure it is unique"
        )
    changed = text.replace(old, new)
    lines = changed.split("\n")
    index = text.count("\n", 0, text.find(old))
    start = max(0, index - CONTEXT_LINES)
    snippet = _numbered(lines[start : index + CONTEXT_LINES + 1], start)
    return changed, (
        "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n"
        + snippet
    )


def inserted(path: str, text: str, line: int, new: str) -> tuple[str, str]:
    """Return the text of a file with *new* after its first *line* lines, and the answer; the text then ends with a line feed."""
    lines = text.removesuffix("\n").split("\n") if text else []
    if not 0 <= line <= len(lines):
        raise CommandRefusedError(
            f"Invalid `insert_line` parameter: {line}. It should be within the range [0, {len(lines)}]."
        )
    lines.insert(line, new.rstrip("\n"))
    changed = "\n".join(lines)
    return changed if changed.endswith("\n") else changed + "\n", f"The file {path} has been edited."


def _numbered(lines: Sequence[str], start: int) -> str:
    return "\n".join([f"{number:>{NUMBER_WIDTH}}\t{line}" for number, line in enumerate(lines, start + 1)])


def _lines_named(text: str, sought: str) -> str:
    """Return the numbers of the lines in which *sought* begins, one for each occurrence."""
    numbers: list[str] = []
    line, seen, at = 1, 0, text.find(sought)
    while at != -1 and len(numbers) < MAX_PLACES_NAMED:
        line += text.count("\n", seen, at)
        numbers.append(str(line))
        seen, at = at, text.find(sought, at + 1)
    return ", ".join(numbers) + (" and more" if at != -1 else "")
