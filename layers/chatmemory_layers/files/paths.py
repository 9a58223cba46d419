r"""Paths of this machine: their text form, the folders that may be read, and the places of a ``KnownRoot``.

A file name may hold bytes that are not UTF-8, while a store holds characters.  The text form writes each such byte as
``\xff``, and the path can be found again from it.
"""

import glob
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final, final


@final
class AllowedFolders:
    """Holds the real paths of *folders*; one may begin with ``~``."""

    def __init__(self, folders: Sequence[str]) -> None:
        self.folders = tuple(dict.fromkeys(os.path.realpath(os.path.expanduser(one)) for one in folders))

    def is_outside(self, path: str) -> bool:
        """Return whether *path*, which may begin with ``~``, is outside all of the folders."""
        real = os.path.realpath(path if os.path.lexists(path) else os.path.expanduser(path))
        return not any(
            real == folder or real.startswith(folder.rstrip(os.sep) + os.sep) for folder in self.folders
        )


_NO_TEXT: Final = re.compile(
    "[\udc80-\udcff]"
)  # the characters that the interpreter uses for bytes that are not UTF-8
_SHOWN: Final = re.compile(rb"\\x([89a-f][0-9a-f])")


def shown_path(real: str) -> str:
    """Return the text form of the path *real*."""
    if real.isascii() or not _NO_TEXT.search(real):
        return real
    return os.fsencode(real).decode("utf-8", "backslashreplace")


def real_path(shown: str) -> str:
    r"""Return the path of a text form; a name may also hold the four characters ``\xff`` themselves."""
    if "\\x" not in shown or os.path.lexists(shown):
        return shown
    return os.fsdecode(_SHOWN.sub(lambda match: bytes.fromhex(match[1].decode()), shown.encode()))


# Where tools make working trees, also after they are deleted: <repository>/.claude/worktrees/<name>.
_OF_TOOLS: Final = re.compile(
    r"(?:(.+?)[/\\]\.(?:claude[/\\])?worktrees[/\\][^/\\]+|.+?[/\\]\.cursor[/\\]worktrees[/\\]([^/\\]+)[/\\][^/\\]+)"
    r"(?:[/\\]|\Z)"
)
_GIT_FOLDER: Final = re.compile(r"gitdir: (.+?)[/\\]\.git[/\\]worktrees[/\\][^/\\]+\s*\Z")
LONGEST_LINK: Final = 4096  # characters


def worktree_repository(folder: str) -> str:
    """Return the repository whose other working tree (``git worktree``) contains *folder*; "" for any other folder."""
    for one in (Path(folder), *Path(folder).parents) if os.path.isabs(folder) else ():
        try:
            with (one / ".git").open(encoding="utf-8", errors="surrogateescape") as link:
                found = _GIT_FOLDER.match(link.read(LONGEST_LINK))
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (OSError, ValueError):  # a folder: the repository itself
            return ""
        return os.path.normpath(one / found[1]) if found is not None else ""
    found = _OF_TOOLS.match(folder)
    return "" if found is None else found[1] or found[2]


_VARIABLE: Final = re.compile(r"\$(?:\{(\w+)\}|(\w+))|%(\w+)%")


def folders_of(folder: str) -> list[str]:
    """Return the folders that *folder* names, with ``~``, environment variables and globs expanded.

    An unset or empty variable yields no folder.  Without a glob the folder need not exist.
    """
    if not all(os.environ.get(_name(match)) for match in _VARIABLE.finditer(folder)):
        return []
    is_glob = glob.has_magic(folder)
    literal = glob.escape if is_glob else str
    if folder.startswith("~"):
        user, separator, rest = folder.partition("/")
        home = os.path.expanduser(user)  # an unknown user stays as written
        if home == user:
            return []
        folder = literal(home) + separator + rest
    folder = _VARIABLE.sub(lambda match: literal(os.environ[_name(match)]), folder)
    return sorted(glob.glob(folder, include_hidden=True)) if is_glob else [folder]


def _name(match: re.Match[str]) -> str:
    return next(group for group in match.groups() if group)
