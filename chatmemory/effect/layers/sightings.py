"""``Sightings``: which leaf was planned where, so that a layer that would be ignored is noticed.

A service may be given twice: the right side of a merge wins, and a consumer may go around what feeds it.  It is a
mistake where somebody goes on with the other one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import final

from chatmemory.effect.layers.place import Place, Step
from chatmemory.effect.layers.shape import Leaf
from chatmemory.effect.layers.wiring_errors import ShadowedServiceError

__all__ = ["Sightings"]


@final
class Sightings(list[tuple[Leaf, Place]]):
    """The leaves that ask for services, each with its place, in the order of planning."""

    __slots__ = ()

    def check_merge(
        self, left: Mapping[str, Step], right: Mapping[str, Step], *, begun: int, ended: int
    ) -> None:
        """Raise if what *right* gives does not reach a leaf that was fed with the same of *left*.

        Args:
            left: what the left sides give.
            right: what the side to the right of them gives.
            begun: how many sightings there were before the left sides were planned.
            ended: how many after that.
        """
        for key, shadowed in _given_twice(left, right):
            for sighting in self[begun:ended]:
                if _is_fed(sighting, key, shadowed):
                    raise ShadowedServiceError.merged(key, consumer=sighting[0].name)

    def check_feed(self, below: Mapping[str, Step], above: Mapping[str, Step], *, begun: int) -> None:
        """Raise if the consumer gives itself what feeds it, and nobody in it takes that.

        Args:
            below: what feeds.
            above: what the consumer gives.
            begun: how many sightings there were before the consumer was planned.
        """
        for key, shadowed in _given_twice(below, above):
            # A leaf that goes on from how another is built sees all and takes hardly anything.
            inside = [sighting for sighting in self[begun:] if sighting[0].inner is None]
            takers = [leaf for leaf, place in inside if _is_fed((leaf, place), key, shadowed)]
            is_taken = any(leaf.needs is not None or _gives(leaf, key) for leaf in takers)
            # What others in there are fed with is no mere addition of the consumer's.
            has_its_own = any(_is_fed(sighting, key, above[key]) for sighting in inside)
            if not is_taken and (has_its_own or not takers):
                raise ShadowedServiceError.fed(key)


def _given_twice(first: Mapping[str, Step], second: Mapping[str, Step]) -> Iterator[tuple[str, Step]]:
    """Go through the services that both give by different leaves, each with the step of *first*."""
    for key, step in first.items():
        other = second.get(key, step)
        if other is not step and other.leaf is not step.leaf:
            yield key, step


def _is_fed(sighting: tuple[Leaf, Place], key: str, step: Step) -> bool:
    """Tell whether the leaf may have the service from *step*, or from what *step* builds itself."""
    leaf, place = sighting
    if leaf.needs is not None and all(tag.key != key for tag in leaf.needs):
        return False
    fed = place.fed.get(key)
    return any(fed is giver for giver in step.givers(key))


def _gives(leaf: Leaf, key: str) -> bool:
    return any(tag.key == key for tag in leaf.gives or ())
