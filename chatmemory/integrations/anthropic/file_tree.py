"""``FileTree``: the files and directories of a memory; ``shown``, ``replaced``, ``inserted``: the commands on a file's text.

``memory_files.py`` stores the files.  A model was trained on the texts of the answers, so they are the same as in the SDK's
own tool, letter by letter.  Lines end with a line feed; a carriage return before it belongs to the line.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Self, TypeAlias, final
from urllib.parse import unquote

from attrs import evolve, frozen

MAX_LINES: Final = 999_999
NUMBER_WIDTH: Final = len(str(MAX_LINES))
CONTEXT_LINES: Final = 2  # shown before and after a changed line
MAX_PLACES_NAMED: Final = 100  # for a text with too many occurrences: an empty one occurs at every character
LAST_LINE: Final = -1  # the value in a range that means the end of the file

Place: TypeAlias = tuple[str, ...]
"""The names from ``/memories`` to a file or directory; ``()`` is ``/memories`` itself."""

ROOT: Final = "memories"
MAX_NAME_BYTES: Final = 255  # the limit of file systems, so that a memory can be written to one
MAX_PATH_BYTES: Final = 1024
SHOWN_DEPTH: Final = 2
DIRECTORY_BYTES: Final = 4096  # the size of a new directory on ext4
_UNITS: Final = "BKMG"
_UNIT_BITS: Final = 10
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")  # a listing has one line for each path


class CommandRefusedError(Exception):
    """A command was refused and changed nothing; the text tells the model why."""


@final
@frozen
class FileTree:
    """The directories except ``/memories`` itself, and the size of each file in bytes; all parent directories are included."""

    directories: frozenset[Place] = frozenset()
    files: Mapping[Place, int] = {}

    @property
    def total_bytes(self) -> int:
        """The size of all files together, in bytes."""
        return sum(self.files.values())

    @property
    def entries(self) -> int:
        """The number of files and directories."""
        return len(self.directories) + len(self.files)

    def is_directory(self, place: Place) -> bool:
        """Return whether *place* is a directory."""
        return not place or place in self.directories

    def has(self, place: Place) -> bool:
        """Return whether *place* is a file or a directory."""
        return self.is_directory(place) or place in self.files

    def file_above(self, place: Place) -> Place | None:
        """Return the file at a place where *place* would need a directory; None when there is none."""
        return next((above for above in _above(place) if above in self.files), None)

    def files_below(self, place: Place) -> list[Place]:
        """Return the files in a directory and its subdirectories; for a file, the file itself."""
        return [each for each in self.files if _is_at_or_below(each, place)]

    def with_file(self, place: Place, size: int) -> Self:
        """Return the tree with this file and its parent directories."""
        return evolve(
            self, directories=self.directories.union(_above(place)), files={**self.files, place: size}
        )

    def without(self, place: Place) -> Self:
        """Return the tree without *place* and everything below it."""
        return evolve(
            self,
            directories=frozenset(each for each in self.directories if not _is_at_or_below(each, place)),
            files={each: size for each, size in self.files.items() if not _is_at_or_below(each, place)},
        )

    def moved(self, old: Place, new: Place) -> Self:
        """Return the tree with *old* and everything below it moved to *new*, which must not exist."""

        def there(place: Place) -> Place:
            return new + place[len(old) :] if _is_at_or_below(place, old) else place

        return evolve(
            self,
            directories=frozenset(map(there, self.directories)).union(_above(new)),
            files={there(place): size for place, size in self.files.items()},
        )

    def listed(self, place: Place, path: str) -> str:
        """Return the listing of a directory for a model, which wrote its path as *path*."""
        lines = [
            f"Here're the files and directories up to {SHOWN_DEPTH} levels deep in {path}, excluding hidden items:",
            f"{size_text(DIRECTORY_BYTES)}\t{path}",
        ]
        shown: dict[Place, str] = {}
        for each in self.directories:
            shown[each] = f"{size_text(DIRECTORY_BYTES)}\t{path}/{'/'.join(each[len(place) :])}/"
        for each, size in self.files.items():
            shown[each] = f"{size_text(size)}\t{path}/{'/'.join(each[len(place) :])}"
        return "\n".join(lines + [shown[each] for each in sorted(shown) if _is_shown(each, place)])


def size_text(size: int) -> str:
    """Return *size* bytes in the format of listings.

    >>> size_text(0), size_text(12), size_text(4096), size_text(1_500_000)
    ('0B', '12B', '4K', '1.4M')
    """
    unit = min(max(size.bit_length() - 1, 0) // _UNIT_BITS, len(_UNITS) - 1)
    amount = size / (1 << (_UNIT_BITS * unit))
    return f"{int(amount)}{_UNITS[unit]}" if amount == int(amount) else f"{amount:.1f}{_UNITS[unit]}"


def _above(place: Place) -> Iterator[Place]:
    return (place[:depth] for depth in range(1, len(place)))


def _is_at_or_below(place: Place, other: Place) -> bool:
    return place[: len(other)] == other


def _is_shown(place: Place, directory: Place) -> bool:
    names = place[len(directory) :]
    return (
        _is_at_or_below(place, directory)
        and 0 < len(names) <= SHOWN_DEPTH
        and not any(name.startswith(".") for name in names)
    )


def place_of(path: str) -> Place:
    """Return the place of *path*: ``.``, ``..`` and repeated slashes are resolved, canonically equal names are the same.

    >>> place_of("/memories/notes/../tea.md")
    ('tea.md',)

    Raises:
        CommandRefusedError: the path leaves ``/memories``, as it is or percent-decoded, or it is not a valid name of
            a file.
    """
    if not (path + "/").startswith(f"/{ROOT}/"):
        raise CommandRefusedError(f"Path must start with /{ROOT}, got: {path}")
    if _CONTROL.search(path):
        raise CommandRefusedError(f"Path {path!r} has a control character: leave it out")
    normal = unicodedata.normalize("NFC", path)
    place = _followed(normal)
    if place is None or _followed(unquote(normal)) is None:
        raise CommandRefusedError(f"Path {path} would escape /{ROOT} directory")
    if len(normal.encode()) > MAX_PATH_BYTES or any(len(name.encode()) > MAX_NAME_BYTES for name in place):
        raise CommandRefusedError(
            f"Path {path} is too long: a name has at most {MAX_NAME_BYTES} bytes, a path {MAX_PATH_BYTES}"
        )
    return place


def _followed(path: str) -> Place | None:
    names: list[str] = []
    for name in path.split("/"):
        if name == "..":
            if not names:
                return None
            names.pop()
        elif name not in {"", "."}:
            names.append(name)
    return tuple(names[1:]) if names[:1] == [ROOT] else None


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
