"""``FileTree``: the files and directories of a memory, and their sizes; ``place_of`` parses their paths.

``file_text.py`` handles the texts of files; ``memory_files.py`` stores everything.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Final, Self, TypeAlias, final
from urllib.parse import unquote

from attrs import evolve, frozen

from chatmemory.integrations.anthropic.file_text import CommandRefusedError

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
