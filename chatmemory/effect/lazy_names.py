"""Names of a package that import their modules on first use, so that unused modules cost no time.

The stub of the package (``__init__.pyi``) lists them once, as imports; type checkers read the stub instead of the package.
"""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False  # true for type checkers; importing `typing` takes longer than this whole module

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def lazy_names(package: str) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return the ``__getattr__``, the ``__dir__`` and the ``__all__`` of *package*.

    Args:
        package: its ``__name__``.
    """
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
