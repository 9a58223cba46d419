"""Names of a package that load their modules when they are first used, so that nobody waits for what they do not use.

Type checkers do not see this: a package imports the same names under ``TYPE_CHECKING``.
"""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False  # for the checkers it is True; to import typing takes longer than all of this

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def lazy_names(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return the ``__getattr__``, the ``__dir__`` and the ``__all__`` of *package*.

    Args:
        package: its ``__name__``.
        homes: the names that each module defines, parted by spaces.
    """
    home_of = {name: module for module, names in homes.items() for name in names.split()}

    def get(name: str) -> object:
        if name not in home_of:
            msg = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(msg)
        value: object = getattr(import_module(home_of[name]), name)
        setattr(sys.modules[package], name, value)  # the next time, nobody asks here
        return value

    names = sorted(home_of)
    return get, names.copy, names
