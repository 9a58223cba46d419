"""``Region``: a part of a graph in which fakes replace the leaves that give the same services.

``plan.py`` determines what a fake gives, and puts it in its place.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

from chatmemory.effect.layers.shape import Shape
from chatmemory.effect.layers.wiring_errors import UnknownReplacementError

__all__ = ["Fake", "Region"]


@final
class Fake:
    """A layer that replaces a service.

    Attributes:
        shape: the shape that is built instead of a leaf.
        wraps: whether it needs the service that it gives, which it gets from the leaf that it replaces.
        is_reference: whether the service has a default; the fake replaces the default where no leaf gives the service.
    """

    __slots__ = ("is_reference", "shape", "wraps")

    def __init__(self, shape: Shape, *, wraps: bool, is_reference: bool) -> None:
        self.shape = shape
        self.wraps = wraps
        self.is_reference = is_reference


@final
class Region:
    """The fakes by the key of their service, and the keys that were found in the graph.

    Attributes:
        fakes: the replacement of each service.
        met: the keys of all services that leaves in this region give.
    """

    __slots__ = ("fakes", "met")

    def __init__(self, fakes: Mapping[str, Fake], met: set[str] | None = None) -> None:
        self.fakes = fakes
        self.met: set[str] = set() if met is None else met

    @property
    def references(self) -> list[str]:
        """The keys of the fakes whose service has a default; any leaf may use such a fake, even without naming it."""
        return [key for key, fake in self.fakes.items() if fake.is_reference]

    def without(self, key: str) -> Region:
        """Return this region without its fake of *key*, for use inside another fake of *key*."""
        return Region({known: fake for known, fake in self.fakes.items() if known != key}, self.met)

    def check(self) -> None:
        """Check that each fake replaces a leaf.

        Raises:
            UnknownReplacementError: no leaf gives the service of a fake, and the service has no default.
        """
        unmet = [key for key, fake in self.fakes.items() if key not in self.met and not fake.is_reference]
        if unmet:
            raise UnknownReplacementError(unmet, available=self.met)
