"""The shapes that layers are made of: ``layer.py`` composes them, ``plan.py`` flattens them, ``build.py`` builds them.

Shapes do not carry the types of services; ``layer.py`` has checked them.  Shapes compare by identity, and sharing
depends on that: one leaf that occurs twice in a graph is built once.  They are plain classes for the reason that
``place.py`` gives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, TypeAlias, final

from typing_extensions import TypeVar

from chatmemory.effect.context import Context
from chatmemory.effect.effect import Effect
from chatmemory.effect.key import TagOf
from chatmemory.effect.scope import Scope

__all__ = [
    "Acquire",
    "AnyTag",
    "Feed",
    "Leaf",
    "Merge",
    "Opens",
    "Replace",
    "Services",
    "Shape",
    "Site",
    "Suspend",
]

A = TypeVar("A")

AnyTag: TypeAlias = TagOf[Any, Any]
Services: TypeAlias = Mapping[str, Any]


class Site(Protocol):
    """The view of a graph that a leaf gets while it is built; ``build.py`` makes one for each leaf."""

    @property
    def scope(self) -> Scope:
        """The scope that releases the leaf."""
        ...

    @property
    def context(self) -> Context[Any]:
        """All services that the leaf can see."""
        ...

    def build(self, shape: Shape, /) -> Effect[Services, Any]:
        """Return the effect that builds another shape at the place of the leaf."""
        ...


Acquire: TypeAlias = Callable[[Site], Effect[Services, Any, Any]]


@final
class Opens:
    """Calls *make* with the services that a leaf needs, in order; it returns the context manager of the leaf's service."""

    __slots__ = ("make",)

    def __init__(self, make: Callable[..., AbstractAsyncContextManager[Any]]) -> None:
        self.make = make


@final
class Leaf:
    """A part of a graph that is built in one step.

    Attributes:
        name: its name in messages.
        acquire: the effect that builds it, or the context manager that builds and releases it.
        gives: the tags of its services; None: those of *inner*.
        needs: the tags that it asks for; None: unknown, so it may ask for any service that it sees.
        inner: the layer that it builds itself; used only for planning.
    """

    __slots__ = ("__weakref__", "acquire", "gives", "inner", "name", "needs")

    def __init__(
        self,
        name: str,
        acquire: Acquire | Opens,
        gives: Sequence[AnyTag] | None,
        needs: Sequence[AnyTag] | None = (),
        inner: Shape | None = None,
    ) -> None:
        self.name = name
        self.acquire = acquire
        self.gives = gives
        self.needs = needs
        self.inner = inner


@final
class Merge:
    """Two layers side by side; where both give the same service, that of the right one is used."""

    __slots__ = ("left", "right")

    def __init__(self, left: Shape, right: Shape) -> None:
        self.left = left
        self.right = right


@final
class Feed:
    """A *consumer* that receives the services of *dependency*; with *keeps* those are given as well."""

    __slots__ = ("consumer", "dependency", "keeps")

    def __init__(self, dependency: Shape, consumer: Shape, *, keeps: bool) -> None:
        self.dependency = dependency
        self.consumer = consumer
        self.keeps = keeps


@final
class Replace:
    """The layer *inner*, in which *fakes* replace the leaves that give the same services."""

    __slots__ = ("__weakref__", "fakes", "inner")

    def __init__(self, inner: Shape, fakes: Sequence[Shape]) -> None:
        self.inner = inner
        self.fakes = fakes


@final
class Suspend:
    """The layer that *make* returns; *make* is called once, when a plan first reaches it."""

    __slots__ = ("_made", "make", "name")

    def __init__(self, name: str, make: Callable[[], Shape]) -> None:
        self.name = name
        self.make = make
        self._made: Shape | None = None

    @property
    def inner(self) -> Shape:
        """The layer that *make* returned."""
        if self._made is None:
            self._made = self.make()
        return self._made


Shape: TypeAlias = Leaf | Merge | Feed | Replace | Suspend
