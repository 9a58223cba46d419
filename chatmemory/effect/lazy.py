"""Names and modules that are imported on first use, so that unused ones cost no time.

``lazy_names`` does it for the names of a package.  Its stub (``__init__.pyi``) lists them once, as imports; type checkers
read the stub instead of the package.  ``LazyModule`` stands for a module; where one is made, type checkers read an import
statement instead.  The libraries here are in use in several places, and take longer to import than many commands run.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType

TYPE_CHECKING = False  # true for type checkers; importing `typing` takes longer than this whole module


class LazyModule(ModuleType):
    """A module that is imported when one of its members is first used: ``np = LazyModule("numpy")``."""

    def __getattr__(self, name: str) -> object:
        value: object = getattr(import_module(self.__name__), name)
        setattr(self, name, value)  # the next access finds the member here
        return value


if TYPE_CHECKING:
    import asyncio
    import unicodedata
    from collections.abc import Callable
    from typing import Any

    import anyio
    import cattrs
    import numpy as np
else:
    anyio, asyncio, cattrs, np, unicodedata = map(
        LazyModule, ("anyio", "asyncio", "cattrs", "numpy", "unicodedata")
    )

__all__ = ["LazyModule", "anyio", "asyncio", "cattrs", "lazy_names", "np", "unicodedata"]


def lazy_names(package: str) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return the ``__getattr__``, the ``__dir__`` and the ``__all__`` of the package whose ``__name__`` is *package*."""
    module = sys.modules[package]
    home_of = _imports(_stub(module))

    def get(name: str) -> object:
        if name not in home_of:
            # With name and obj, Python suggests the nearest name.
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=module)
        value: object = getattr(import_module(home_of[name]), name)
        setattr(module, name, value)  # the next access finds the name in the module
        return value

    names = sorted(home_of)
    return get, names.copy, names


def _stub(module: Any) -> str:
    """Return the text of the stub beside *module*, wherever it was imported from: a folder or an archive."""
    text: bytes = module.__spec__.loader.get_data(f"{module.__path__[0]}/__init__.pyi")
    return text.decode()


def _imports(stub: str) -> dict[str, str]:
    """Return the module of each name in statements ``from module import (name as name, ...)``."""
    home_of: dict[str, str] = {}
    for statement in f"\n{stub}".split("\nfrom ")[1:]:
        home, _, names = statement.partition(" import ")
        names = names[1:].partition(")")[0] if names.startswith("(") else names.partition("\n")[0]
        home_of |= {name.split()[0]: home for name in names.split(",") if name.strip()}
    return home_of
