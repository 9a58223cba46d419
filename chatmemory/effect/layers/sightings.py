"""``Sightings``: the place at which each leaf was planned, to detect a layer that would be ignored.

A service may be given twice: the right side of a merge is used, and a consumer may wrap the layer that feeds it.  It
is a mistake when a leaf still uses the other one.
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
        """Raise if a leaf was fed with a service of *left* that *right* gives too, because the leaf would ignore that of *right*.

        Args:
            left: the services of the left sides.
            right: the services of the next side to the right.
            begun: the number of sightings before the left sides were planned.
            ended: the number of sightings after that.
        """
        for key, shadowed in _given_twice(left, right):
            for sighting in self[begun:ended]:
                if _is_fed(sighting, key, shadowed):
                    raise ShadowedServiceError.merged(key, consumer=sighting[0].name)

    def check_feed(self, below: Mapping[str, Step], above: Mapping[str, Step], *, begun: int) -> None:
        """Raise if the consumer gives a service that also feeds it, and no part of it uses the one that feeds it.

        Args:
            below: the services of the dependency.
            above: the services of the consumer.
            begun: the number of sightings before the consumer was planned.
        """
        for key, shadowed in _given_twice(below, above):
            # A leaf that builds another layer itself sees all services but uses hardly any.
            inside = [sighting for sighting in self[begun:] if sighting[0].inner is None]
            takers = [leaf for leaf, place in inside if _is_fed((leaf, place), key, shadowed)]
            is_taken = any(leaf.needs is not None or _gives(leaf, key) for leaf in takers)
            # If the consumer's own service feeds other parts inside it, the consumer does not only add the service.
            has_its_own = any(_is_fed(sighting, key, above[key]) for sighting in inside)
            if not is_taken and (has_its_own or not takers):
                raise ShadowedServiceError.fed(key)


def _given_twice(first: Mapping[str, Step], second: Mapping[str, Step]) -> Iterator[tuple[str, Step]]:
    """Yield the services that both give by different leaves, each with the step of *first*."""
    for key, step in first.items():
        other = second.get(key, step)
        if other is not step and other.leaf is not step.leaf:
            yield key, step


def _is_fed(sighting: tuple[Leaf, Place], key: str, step: Step) -> bool:
    """Return whether the leaf may get the service from *step*, or from a layer that *step* builds itself."""
    leaf, place = sighting
    if leaf.needs is not None and all(tag.key != key for tag in leaf.needs):
        return False
    fed = place.fed.get(key)
    return any(fed is giver for giver in step.givers(key))


def _gives(leaf: Leaf, key: str) -> bool:
    return any(tag.key == key for tag in leaf.gives or ())
