r"""Paths of this machine: as text, confined to some folders, and for a ``KnownRoot``.

A name may be no text: a file system may hold any bytes, a store only characters.  Such a name is shown with ``\xff`` for a byte that is no UTF-8, and is found again by what is shown.
"""

import glob
import os
import re
from collections.abc import Sequence
from typing import Final, final


@final
class Confinement:
    """Knows *folders*, by their real names; one may begin with ``~``."""

    def __init__(self, folders: Sequence[str]) -> None:
        self.folders = tuple(dict.fromkeys(os.path.realpath(os.path.expanduser(one)) for one in folders))

    def is_outside(self, path: str) -> bool:
        """Tell whether *path*, which may begin with ``~``, leads to none of the folders and to nothing in them."""
        real = os.path.realpath(path if os.path.lexists(path) else os.path.expanduser(path))
        return not any(
            real == folder or real.startswith(folder.rstrip(os.sep) + os.sep) for folder in self.folders
        )


_NO_TEXT: Final = re.compile("[\udc80-\udcff]")  # what the interpreter makes of bytes that are no UTF-8
_SHOWN: Final = re.compile(rb"\\x([89a-f][0-9a-f])")


def shown_path(real: str) -> str:
    """Return the path *real* as text."""
    if real.isascii() or not _NO_TEXT.search(real):
        return real
    return os.fsencode(real).decode("utf-8", "backslashreplace")


def real_path(shown: str) -> str:
    r"""Return what the file system calls the path that was shown; a name may hold the four characters ``\xff`` too."""
    if "\\x" not in shown or os.path.lexists(shown):
        return shown
    return os.fsdecode(_SHOWN.sub(lambda match: bytes.fromhex(match[1].decode()), shown.encode()))


_VARIABLE: Final = re.compile(r"\$(?:\{(\w+)\}|(\w+))|%(\w+)%")


def folders_of(folder: str) -> list[str]:
    """Return the folders that *folder* names: ``~``, environment variables and globs in it stand for what they do.

    A variable that is not set, or empty, names none.  Without a glob the folder need not exist.
    """
    if not all(os.environ.get(_name(match)) for match in _VARIABLE.finditer(folder)):
        return []
    is_glob = glob.has_magic(folder)
    literal = glob.escape if is_glob else str
    if folder.startswith("~"):
        user, separator, rest = folder.partition("/")
        home = os.path.expanduser(user)  # a user whom nobody knows stays as they are
        if home == user:
            return []
        folder = literal(home) + separator + rest
    folder = _VARIABLE.sub(lambda match: literal(os.environ[_name(match)]), folder)
    return sorted(glob.glob(folder, include_hidden=True)) if is_glob else [folder]


def _name(match: re.Match[str]) -> str:
    return next(group for group in match.groups() if group)
