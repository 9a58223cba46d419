"""Decides which paths may hold histories: globs of excluded paths, globs of a tool's folder, and folders without any."""

import re
from collections.abc import Callable, Sequence
from fnmatch import translate
from functools import lru_cache
from os import sep
from pathlib import Path
from re import Pattern
from typing import Final, final

from attrs import field, frozen

NO_HISTORIES: Final = frozenset(
    {
        ".git",
        ".gradle",
        ".hg",
        ".jj",
        ".mypy_cache",
        ".nox",
        ".pytest_cache",
        ".ruff_cache",
        ".svn",
        ".terraform",
        ".tox",
        ".venv",
        "__MACOSX",
        "__pycache__",
        "bower_components",
        "node_modules",
        "site-packages",
    }
)
"""Folders of version control and of package managers: they hold very many files and no chats."""

ANY_FOLDERS: Final = "**"


def exclusion(globs: Sequence[str]) -> Callable[[str], bool]:
    """Return a function that returns whether a path is excluded.

    ``*`` matches any characters, including ``/``.  A glob that does not begin at the root matches in any folder:
    ``secret/*.jsonl``.  A glob that matches a folder excludes everything in it.
    """
    if not globs:
        return lambda _: False
    whole = [glob.replace(sep, "/").removesuffix("/") for glob in globs]
    anywhere = [
        glob if glob.startswith(("/", "*")) or Path(glob).is_absolute() else f"*/{glob}" for glob in whole
    ]
    pattern = re.compile("|".join(translate(glob) for glob in [*anywhere, *whole]))
    return lambda path: pattern.match(path.replace(sep, "/")) is not None


def _parted(globs: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(glob.split("/")) for glob in globs)


@final
@frozen
class RelativeGlobs:
    """The files of a folder that ``KnownRoot.files`` names; ``*`` stays within a folder, ``**`` goes into any."""

    globs: tuple[tuple[str, ...], ...] = field(converter=_parted)

    def is_meant(self, parts: tuple[str, ...]) -> bool:
        """Return whether the file with the path components *parts* matches."""
        return any(_matches(glob, parts) for glob in self.globs)

    def may_lead(self, parts: tuple[str, ...]) -> bool:
        """Return whether the folder *parts* may hold a matching file."""
        return any(_may_begin(glob, parts) for glob in self.globs)


@lru_cache(maxsize=1024)
def _part(glob: str) -> Pattern[str]:
    return re.compile(translate(glob))


def _matches(glob: tuple[str, ...], parts: tuple[str, ...]) -> bool:
    if not glob:
        return not parts
    if glob[0] == ANY_FOLDERS:
        return _matches(glob[1:], parts) or (bool(parts) and _matches(glob, parts[1:]))
    return bool(parts) and _part(glob[0]).match(parts[0]) is not None and _matches(glob[1:], parts[1:])


def _may_begin(glob: tuple[str, ...], parts: tuple[str, ...]) -> bool:
    if not parts:
        return bool(glob)
    if not glob:
        return False
    if glob[0] == ANY_FOLDERS:
        return True
    return _part(glob[0]).match(parts[0]) is not None and _may_begin(glob[1:], parts[1:])
