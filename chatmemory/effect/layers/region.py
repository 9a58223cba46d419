"""``Region``: a part of a graph in which fakes take the place of the leaves that give their services.

``plan.py`` finds out what a fake gives and puts it there.
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
        shape: what is built in the place of a leaf.
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
    """The fakes, by the key of the service, and how far they got.

    Attributes:
        fakes: what stands in for each service.
        met: the keys of all that the leaves here give.
    """

    __slots__ = ("fakes", "met")

    def __init__(self, fakes: Mapping[str, Fake], met: set[str] | None = None) -> None:
        self.fakes = fakes
        self.met: set[str] = set() if met is None else met

    @property
    def references(self) -> list[str]:
        """The keys of the services that have a default: a fake of one may reach every leaf, whether it says so or not."""
        return [key for key, fake in self.fakes.items() if fake.is_reference]

    def without(self, key: str) -> Region:
        """Return this region for a fake of *key*, in whose place it puts no other."""
        return Region({known: fake for known, fake in self.fakes.items() if known != key}, self.met)

    def check(self) -> None:
        """Check that each fake replaces a leaf.

        Raises:
            UnknownReplacementError: no leaf gives the service of a fake, and the service has no default.
        """
        unmet = [key for key, fake in self.fakes.items() if key not in self.met and not fake.is_reference]
        if unmet:
            raise UnknownReplacementError(unmet, available=self.met)
