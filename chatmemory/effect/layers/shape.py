"""What a layer is made of: the few shapes that ``layer.py`` composes, ``plan.py`` flattens and ``build.py`` builds.

Types of services are left behind here; ``layer.py`` has checked them.  Shapes compare by identity, and that is what
sharing goes by: one leaf, met twice in a graph, is built once.  They are plain classes: see ``plan.py``.
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
    "Fresh",
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
    """What a leaf has at hand while it is built; ``build.py`` makes one for each."""

    @property
    def scope(self) -> Scope:
        """The scope that releases the leaf."""
        ...

    @property
    def context(self) -> Context[Any]:
        """All services that the leaf can see."""
        ...

    def service(self, tag: AnyTag, /) -> Any:
        """Return a service that the leaf declared as needed."""
        ...

    def build(self, shape: Shape, /) -> Effect[Services, Any]:
        """Return the effect that builds another shape in the leaf's place."""
        ...


Acquire: TypeAlias = Callable[[Site], Effect[Services, Any, Any]]


@final
class Opens:
    """What *make* makes of the services that a leaf needs, in their order: the manager of the one that it gives."""

    __slots__ = ("make",)

    def __init__(self, make: Callable[..., AbstractAsyncContextManager[Any]]) -> None:
        self.make = make


@final
class Leaf:
    """A piece that is built in one go.

    Attributes:
        name: what messages call it.
        acquire: the effect that builds it, or the manager that does and ends it.
        gives: the tags of its services; None for those of *inner*.
        needs: the tags that it asks for; None when that is not known, and it may ask for whatever it sees.
        inner: what it builds itself, in order to do something about it; only looked at when planning.
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
    """Both; the right one wins where they give the same service."""

    __slots__ = ("left", "right")

    def __init__(self, left: Shape, right: Shape) -> None:
        self.left = left
        self.right = right


@final
class Feed:
    """*consumer*, which sees the services of *dependency*; these are given too if *keeps*."""

    __slots__ = ("consumer", "dependency", "keeps")

    def __init__(self, dependency: Shape, consumer: Shape, *, keeps: bool) -> None:
        self.dependency = dependency
        self.consumer = consumer
        self.keeps = keeps


@final
class Fresh:
    """*inner*, shared with nobody outside."""

    __slots__ = ("inner",)

    def __init__(self, inner: Shape) -> None:
        self.inner = inner


@final
class Replace:
    """*inner*, with *fakes* in the place of the leaves that give what they give."""

    __slots__ = ("__weakref__", "fakes", "inner")

    def __init__(self, inner: Shape, fakes: Sequence[Shape]) -> None:
        self.inner = inner
        self.fakes = fakes


@final
class Suspend:
    """What *make* returns: called once, when a plan first gets here."""

    __slots__ = ("_made", "make", "name")

    def __init__(self, name: str, make: Callable[[], Shape]) -> None:
        self.name = name
        self.make = make
        self._made: Shape | None = None

    @property
    def inner(self) -> Shape:
        """The shape behind."""
        if self._made is None:
            self._made = self.make()
        return self._made


Shape: TypeAlias = Leaf | Merge | Feed | Fresh | Replace | Suspend
