"""``layer_of``: makes a layer of a part that a program brings, whether it is a layer or a plain object.

``ready_made.py`` and ``past_chats.py`` define which parts a stack has.  A recall loads this module, so it imports little.
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
    """Check that the names of *parts* are known.

    Raises:
        TypeError: a name is unknown; the message lists the known ones.
    """
    names = list(known.__annotations__)
    if unknown := [name for name in parts if name not in names]:
        raise TypeError(f"a stack has no part {unknown[0]!r}: its parts are {', '.join(names)}")


def layer_of(tag: TagOf[Id, S], part: S | Layer[Id, E, In]) -> Layer[Id, E, In]:
    """Return *part*, a layer or the service itself, as a layer."""
    if isinstance(part, Layer):
        return cast("Layer[Id, E, In]", part)
    return Layer.succeed(tag, part)


def chosen(tag: TagOf[Id, S], own: S | Layer[Id, E, In] | None, usual: Layer[Id, E, In]) -> Layer[Id, E, In]:
    """Return the layer of *own*, the part that a program brings, or *usual* if it brings none."""
    return usual if own is None else layer_of(tag, cast("Any", own))
