"""``FileTree``: which files and directories a memory has, and how large they are; ``place_of`` reads their paths.

What stands in the files is for ``file_text.py``; where all of it is kept, for ``memory_files.py``.
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
MAX_NAME_BYTES: Final = 255  # what file systems take, so that a memory can be written out to one
MAX_PATH_BYTES: Final = 1024
SHOWN_DEPTH: Final = 2
DIRECTORY_BYTES: Final = 4096  # what a new one has on ext4
_UNITS: Final = "BKMG"
_UNIT_BITS: Final = 10
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")  # a listing has one line for each path


def place_of(path: str) -> Place:
    """Return where *path* leads: ``.``, ``..`` and repeated slashes are followed, canonically equal names are the same.

    >>> place_of("/memories/notes/../tea.md")
    ('tea.md',)

    Raises:
        CommandRefusedError: it leads out of ``/memories``, as it is or percent-decoded, or it is no name for a file.
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
    """Directories, without ``/memories`` itself, and the bytes of each file; the directories above each are among them."""

    directories: frozenset[Place] = frozenset()
    files: Mapping[Place, int] = {}

    @property
    def total_bytes(self) -> int:
        """What all files hold together."""
        return sum(self.files.values())

    @property
    def entries(self) -> int:
        """How many files and directories there are."""
        return len(self.directories) + len(self.files)

    def is_directory(self, place: Place) -> bool:
        """Tell whether a directory stands there."""
        return not place or place in self.directories

    def has(self, place: Place) -> bool:
        """Tell whether anything stands there."""
        return self.is_directory(place) or place in self.files

    def file_above(self, place: Place) -> Place | None:
        """Return the file that stands where *place* would need a directory, None where none does."""
        return next((above for above in _above(place) if above in self.files), None)

    def files_below(self, place: Place) -> list[Place]:
        """Return the files in a directory and in those in it; the file itself where one stands."""
        return [each for each in self.files if _is_at_or_below(each, place)]

    def with_file(self, place: Place, size: int) -> Self:
        """Return the tree with this file, and with the directories above it."""
        return evolve(
            self, directories=self.directories.union(_above(place)), files={**self.files, place: size}
        )

    def without(self, place: Place) -> Self:
        """Return the tree without what stands there, and below."""
        return evolve(
            self,
            directories=frozenset(each for each in self.directories if not _is_at_or_below(each, place)),
            files={each: size for each, size in self.files.items() if not _is_at_or_below(each, place)},
        )

    def moved(self, old: Place, new: Place) -> Self:
        """Return the tree in which what stands at *old*, and below, stands at *new*; nothing stands there yet."""

        def there(place: Place) -> Place:
            return new + place[len(old) :] if _is_at_or_below(place, old) else place

        return evolve(
            self,
            directories=frozenset(map(there, self.directories)).union(_above(new)),
            files={there(place): size for place, size in self.files.items()},
        )

    def listed(self, place: Place, path: str) -> str:
        """Return what a model is shown of a directory, whose path it wrote as *path*."""
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
    """Return *size* bytes as listings show it.

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
