"""``layer_of``: a part that a program brings, as a layer, whether it comes as one or as the plain thing.

Which parts a stack has is defined in ``parts.py`` and ``past_chats_stacks.py``.  A recall loads this module, so it loads little.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

from chatmemory.effect import Layer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from chatmemory.effect.key import TagOf

E = TypeVar("E")
Id = TypeVar("Id")
In = TypeVar("In")
S = TypeVar("S")


def check_names(parts: Mapping[str, object], known: type[Any]) -> None:
    """Raise if a part has a name that no part has.

    Args:
        parts: the parts by their names.
        known: the TypedDict of those that there are.

    Raises:
        TypeError: there is no such part; its text names those that there are.
    """
    names = list(known.__annotations__)
    if unknown := [name for name in parts if name not in names]:
        raise TypeError(f"a stack has no part {unknown[0]!r}: its parts are {', '.join(names)}")


def layer_of(tag: TagOf[Id, S], part: S | Layer[Id, E, In]) -> Layer[Id, E, In]:
    """Return *part* if it is a layer, and otherwise the layer that gives it under *tag*."""
    if isinstance(part, Layer):
        return cast("Layer[Id, E, In]", part)
    return Layer.succeed(tag, part)
