"""What a layer is made of: the few shapes that ``layer.py`` composes, ``plan.py`` flattens and ``build.py`` builds.

Types of services are left behind here; ``layer.py`` has checked them.  Shapes compare by identity, and that is what
sharing goes by: one leaf, met twice in a graph, is built once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, final

from attrs import define, field, frozen

from chatmemory.effect.context import TagOf

if TYPE_CHECKING:
    from chatmemory.effect.build import Site
    from chatmemory.effect.effect import Effect

__all__ = ["AnyTag", "Feed", "Fresh", "Leaf", "Merge", "Services", "Shape", "Suspend"]

AnyTag: TypeAlias = TagOf[Any, Any]
Services: TypeAlias = Mapping[str, Any]


@final
@frozen(eq=False)
class Leaf:
    """A piece that is built in one go.

    Attributes:
        name: what messages call it.
        acquire: the effect that builds it.
        gives: the keys of its services; None for those of *inner*.
        needs: the tags that it is known to ask for.
        inner: what it builds itself, in order to do something about it; only looked at when planning.
    """

    name: str
    acquire: Callable[[Site], Effect[Services, Any, Any]]
    gives: Sequence[str] | None
    needs: Sequence[AnyTag] = ()
    inner: Shape | None = None


@final
@frozen(eq=False)
class Merge:
    """Both; the right one wins where they give the same service."""

    left: Shape
    right: Shape


@final
@frozen(eq=False)
class Feed:
    """*consumer*, which sees the services of *dependency*; these are given too if *keeps*."""

    dependency: Shape
    consumer: Shape
    keeps: bool


@final
@frozen(eq=False)
class Fresh:
    """*inner*, shared with nobody outside."""

    inner: Shape


@final
@define(eq=False)
class Suspend:
    """What *make* returns: called once, when a plan first gets here."""

    name: str
    make: Callable[[], Shape]
    _made: Shape | None = field(default=None, init=False)

    @property
    def inner(self) -> Shape:
        """The shape behind."""
        if self._made is None:
            self._made = self.make()
        return self._made


Shape: TypeAlias = Leaf | Merge | Feed | Fresh | Suspend
