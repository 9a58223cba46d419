"""``Step``, ``Gate``, ``Place``: what a plan consists of, and what can be seen from where.

``plan.py`` makes them out of shapes, ``build.py`` carries them out.  The classes are plain ones: like those of
``shape.py`` they compare by identity, and attrs takes 0.5 ms to make each, which a short command would wait for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from typing import Any, Final, final

from chatmemory.effect.context import Context
from chatmemory.effect.layers.memo import MemoMap
from chatmemory.effect.layers.region import Region
from chatmemory.effect.layers.shape import AnyTag, Leaf, Replace, Services

__all__ = ["Gate", "Part", "Place", "Plan", "Step"]


NOTHING: Final[Mapping[str, Any]] = {}


@final
class Step:
    """One leaf to build, after *after*.

    Attributes:
        inside: the plan of what the leaf builds itself.
        memo: where it is kept for others.
        is_changed: it is, or may take, what stands in for something else.
        is_unused: it fed only what others stand in for, and is not built.
    """

    __slots__ = ("after", "inside", "is_changed", "is_unused", "leaf", "memo", "place", "services")

    def __init__(self, leaf: Leaf, place: Place, inside: Plan | None) -> None:
        self.leaf = leaf
        self.place = place
        self.after = place.gates
        self.inside = inside
        self.memo = place.memo
        self.is_changed = False
        self.is_unused = False
        self.services: Services | None = None

    @property
    def made(self) -> Services:
        """What the leaf gave; a place looks at the steps that feed it only when they are done."""
        if self.services is None:
            raise RuntimeError(f"layer {self.leaf.name} was asked for its services before it was built")
        return self.services

    def tag(self, key: str) -> AnyTag:
        """Return the tag of one of its services."""
        return next(tag for step in self.givers(key) for tag in step.leaf.gives or () if tag.key == key)

    def givers(self, key: str) -> Iterator[Step]:
        """Go through the steps that give the service: this one, and those that it gets it from by building them."""
        step: Step | None = self
        while step is not None:
            yield step
            step = None if step.inside is None else step.inside.gives.get(key)

    def taken(self) -> Iterator[Step]:
        """Go through the steps that feed it, as far as is known what it asks for, and else through all in sight."""
        fed = self.place.fed
        if self.leaf.needs is None:
            yield from fed.values()
        else:
            yield from (fed[tag.key] for tag in self.leaf.needs if tag.key in fed)
        for step in self.inner_steps():
            yield from step.taken()

    def held(self) -> Iterator[Step]:
        """Go through the steps that are built for it; a fake has to say what it asks for, or would open what it replaces."""
        if self.leaf.needs is not None or not self.place.is_for_fake:
            yield from self.taken()
        else:
            for step in self.inner_steps():
                yield from step.held()

    def inner_steps(self) -> Iterator[Step]:
        """Go through the steps of what it builds itself."""
        if self.inside is not None:
            yield from (point for point in self.inside.points if isinstance(point, Step))

    def keep_apart(self) -> None:
        """Share it only with those who are fed with the same fakes, if it may have one of them."""
        self.is_changed = (
            any(region.references for region in self.place.regions)
            or any(step.is_changed for step in self.taken())
            or any(step.is_changed for step in self.inner_steps())
        )
        if self.is_changed:
            self.memo = self.place.apart


@final
class Gate:
    """The point where a dependency is complete and its consumers may start."""

    __slots__ = ("after",)

    def __init__(self, after: Sequence[Step | Gate]) -> None:
        self.after = after


@final
class Place:
    """Where in the graph a shape stands: what it sees, what it waits for, with whom it shares.

    Attributes:
        given: the services at hand before anything is built.
        fed: the steps that feed it, by the keys of their services.
        gates: what it waits for.
        memo: where its leaves are kept.
        regions: the fakes that take the place of leaves here, the innermost region first.
        apart: where those leaves are kept that are fed with a fake: elsewhere the same leaves may go without.
        is_for_fake: it is in a fake.
    """

    __slots__ = ("apart", "fed", "gates", "given", "is_for_fake", "memo", "regions")

    def __init__(
        self,
        given: Context[Any],
        memo: MemoMap,
        fed: Mapping[str, Step] = NOTHING,
        gates: Sequence[Gate] = (),
        regions: Sequence[Region] = (),
        apart: MemoMap | None = None,
        *,
        is_for_fake: bool = False,
    ) -> None:
        self.given = given
        self.memo = memo
        self.fed = fed
        self.gates = gates
        self.regions = regions
        self.apart = apart or memo
        self.is_for_fake = is_for_fake

    def fed_by(self, gives: Mapping[str, Step], gate: Gate) -> Place:
        """Return the place that also sees what *gives* gives, once *gate* is open."""
        fed = {**self.fed, **gives}
        return Place(
            self.given, self.memo, fed, (gate,), self.regions, self.apart, is_for_fake=self.is_for_fake
        )

    def settled(self) -> Place:
        """Return this place for what is planned when all that feeds it is built."""
        place = copy(self)
        place.gates = ()
        return place

    def separate(self) -> Place:
        """Return this place for what is shared with nobody outside."""
        place = copy(self)
        place.memo = MemoMap()
        place.apart = place.memo if self.apart is self.memo else MemoMap()
        return place

    def replacing(self, region: Region, replace: Replace) -> Place:
        """Return this place where the fakes of *region* stand in for others, too."""
        place = copy(self)
        place.regions = (region, *self.regions)
        place.apart = self.apart.apart(replace)
        return place

    def of_fake(self, regions: Sequence[Region]) -> Place:
        """Return this place for a fake, in which only *regions* put others."""
        place = copy(self)
        place.regions = regions
        place.is_for_fake = True
        return place

    def around(self, original: Step) -> Place:
        """Return this place for what goes around *original*; around another step it is built another time."""
        original.is_changed = True
        place = copy(self)
        place.apart = self.apart.apart(original.leaf)
        return place

    def service(self, tag: AnyTag) -> Any:
        """Return the service that *tag* means here."""
        return self.context().get(tag)

    def context(self) -> Context[Any]:
        """Return all that can be seen from here."""
        return Context(_Sight(self))


@final
class _Sight(Mapping[str, Any]):
    """What can be seen from a place, looked up one by one: to copy it for each of 1,000 leaves takes too long."""

    __slots__ = ("_place",)

    def __init__(self, place: Place) -> None:
        self._place = place

    def __getitem__(self, key: str) -> Any:
        step = self._place.fed.get(key)
        if step is None:
            return self._place.given.services[key]
        if step.is_unused:
            raise KeyError(key)
        return step.made[key]

    def __iter__(self) -> Iterator[str]:
        fed = self._place.fed
        every = {**self._place.given.services, **fed}
        return (key for key in every if key not in fed or not fed[key].is_unused)

    def __len__(self) -> int:
        return sum(1 for _ in self)


@final
class Part:
    """A piece of the plan.

    Attributes:
        gives: the step of each service.
        ends: what has to be done for the piece to be complete.
        is_shared: whether the same shape, met again in the same place, is this piece; not if there is ``Fresh`` in it.
    """

    __slots__ = ("ends", "gives", "is_shared")

    def __init__(
        self, gives: Mapping[str, Step], ends: tuple[Step | Gate, ...], *, is_shared: bool = True
    ) -> None:
        self.gives = gives
        self.ends = ends
        self.is_shared = is_shared


@final
class Plan:
    """Steps and gates, each after those that it depends on, and who gives the services in the end."""

    __slots__ = ("gives", "points")

    def __init__(self, points: Sequence[Step | Gate], gives: Mapping[str, Step]) -> None:
        self.points = points
        self.gives = gives

    def drop_unused(self, lost: set[Step]) -> None:
        """Take out the steps that fed nothing but what was replaced.

        Args:
            lost: the steps that fed what was replaced; those that fed such a step join them.
        """
        used = set(self.gives.values())
        for point in reversed(self.points):
            if isinstance(point, Step):
                point.is_unused = point in lost and point not in used
                if point.is_unused:
                    lost.update(point.taken())
                else:
                    used.update(point.held())
        self.points = [point for point in self.points if isinstance(point, Gate) or not point.is_unused]
        for point in self.points:
            if isinstance(point, Gate):
                point.after = [
                    earlier for earlier in point.after if isinstance(earlier, Gate) or not earlier.is_unused
                ]
