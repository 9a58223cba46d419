"""Where a ``KnownRoot`` is on this machine."""

import glob
import os
import re
from typing import Final

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
