"""``Step``, ``Gate``, ``Place``: the parts of a plan, and the services that are visible at each place.

``plan.py`` makes them from shapes, ``build.py`` carries them out.  They are plain classes: they compare by identity,
like those of ``shape.py``, and attrs would take 0.5 ms to make each class, which a short command would notice.
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
    """One leaf to build, after all the points in *after*.

    Attributes:
        inside: the plan of the layer that the leaf builds itself; None if it builds none.
        memo: keeps the built leaf, to share it.
        is_changed: the leaf is a replacement, or may use one.
        is_unused: the leaf fed only replaced layers, so it is not built.
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
        """The services of the built leaf; a place reads a step that feeds it only after that step is done."""
        if self.services is None:
            raise RuntimeError(f"layer {self.leaf.name} was asked for its services before it was built")
        return self.services

    def tag(self, key: str) -> AnyTag:
        """Return the tag of one of its services."""
        return next(tag for step in self.givers(key) for tag in step.leaf.gives or () if tag.key == key)

    def givers(self, key: str) -> Iterator[Step]:
        """Yield the steps that give the service: this one, and the steps inside it from which it gets the service."""
        step: Step | None = self
        while step is not None:
            yield step
            step = None if step.inside is None else step.inside.gives.get(key)

    def taken(self) -> Iterator[Step]:
        """Yield the steps that feed it: those that it asks for, or all that it can see if its needs are unknown."""
        fed = self.place.fed
        if self.leaf.needs is None:
            yield from fed.values()
        else:
            yield from (fed[tag.key] for tag in self.leaf.needs if tag.key in fed)
        for step in self.inner_steps():
            yield from step.taken()

    def held(self) -> Iterator[Step]:
        """Yield the steps that are built for it; a fake has to name its needs, or it would build what it replaces."""
        if self.leaf.needs is not None or not self.place.is_for_fake:
            yield from self.taken()
        else:
            for step in self.inner_steps():
                yield from step.held()

    def inner_steps(self) -> Iterator[Step]:
        """Yield the steps of the plan inside it."""
        if self.inside is not None:
            yield from (point for point in self.inside.points if isinstance(point, Step))

    def keep_apart(self) -> None:
        """Share it only with places that get the same fakes, if it may use one of them."""
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
    """The place of a shape in the graph: the services it sees, the steps it waits for, and how its leaves are shared.

    Attributes:
        given: the services that are available before anything is built.
        fed: the steps that feed it, by the keys of their services.
        gates: the gates that it waits for.
        memo: keeps its leaves.
        regions: the regions whose fakes replace leaves here, the innermost first.
        apart: keeps the leaves that are fed with a fake; at other places the same leaves may be built without it.
        is_for_fake: the place is inside a fake.
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
        """Return the place that also sees the services of *gives*, after *gate*."""
        fed = {**self.fed, **gives}
        return Place(
            self.given, self.memo, fed, (gate,), self.regions, self.apart, is_for_fake=self.is_for_fake
        )

    def settled(self) -> Place:
        """Return this place for a plan that is made after all the steps that feed it are done."""
        place = copy(self)
        place.gates = ()
        return place

    def replacing(self, region: Region, replace: Replace) -> Place:
        """Return this place with *region* as its innermost region of replacements."""
        place = copy(self)
        place.regions = (region, *self.regions)
        place.apart = self.apart.apart(replace)
        return place

    def of_fake(self, regions: Sequence[Region]) -> Place:
        """Return this place for a fake, inside which only *regions* replace leaves."""
        place = copy(self)
        place.regions = regions
        place.is_for_fake = True
        return place

    def around(self, original: Step) -> Place:
        """Return this place for a wrapper of *original*; the wrapper of another step is built separately."""
        original.is_changed = True
        place = copy(self)
        place.apart = self.apart.apart(original.leaf)
        return place

    def context(self) -> Context[Any]:
        """Return all services that are visible at this place."""
        return Context(_Sight(self))


@final
class _Sight(Mapping[str, Any]):
    """The services that are visible at a place, looked up one by one: copies for 1,000 leaves would take too long."""

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
    """The planned form of one shape.

    Attributes:
        gives: the step of each service.
        ends: the points that complete the part.
    """

    __slots__ = ("ends", "gives")

    def __init__(self, gives: Mapping[str, Step], ends: tuple[Step | Gate, ...]) -> None:
        self.gives = gives
        self.ends = ends


@final
class Plan:
    """Steps and gates, each after those that it depends on, and the steps that give the services of the graph."""

    __slots__ = ("gives", "points")

    def __init__(self, points: Sequence[Step | Gate], gives: Mapping[str, Step]) -> None:
        self.points = points
        self.gives = gives

    def drop_unused(self, lost: set[Step]) -> None:
        """Remove the steps that fed only replaced layers.

        Args:
            lost: the steps that fed replaced layers; the steps that fed a removed step are added.
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
