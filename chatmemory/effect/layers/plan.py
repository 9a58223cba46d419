"""``make_plan``: flattens a nested layer into a list of steps, and checks it before anything is acquired.

It determines which layer feeds which, and which replaces which; ``build.py`` carries out the steps.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from typing import TypeAlias, assert_never, final

from chatmemory.effect.context import Context
from chatmemory.effect.key import MissingServiceError, short_name
from chatmemory.effect.layers.memo import MemoMap
from chatmemory.effect.layers.place import Gate, Part, Place, Plan, Step
from chatmemory.effect.layers.region import Fake, Region
from chatmemory.effect.layers.shape import AnyTag, Feed, Leaf, Merge, Replace, Shape, Suspend
from chatmemory.effect.layers.sightings import Sightings
from chatmemory.effect.layers.wiring_errors import AmbiguousServiceError, LayerCycleError

__all__ = ["make_plan"]


def make_plan(shape: Shape, place: Place) -> Plan:
    """Return the plan for *shape* at *place*.

    Raises:
        MissingServiceError: a leaf needs a service that no layer gives.
        LayerCycleError: a suspended layer contains itself.
        ShadowedServiceError: a merge or a feed gives a service that no part would use.
        UnknownReplacementError: a fake gives a service that no leaf gives.
    """
    planner = _Planner()
    part = planner.run(shape, place)
    return planner.plan(part)


def _region_of(fakes: Sequence[Shape]) -> Region:
    """Return a region in which *fakes* replace the services that they give.

    Raises:
        AmbiguousServiceError: two of them give the same service.
    """
    found: dict[str, Fake] = {}
    for whole in fakes:
        own: dict[str, Fake] = {}
        for shape in _sides(whole):  # planned separately, because each is built where its service is given
            needs: dict[str, AnyTag] = {}
            part = _Planner(missing=needs).run(shape, _nowhere())
            for key, step in part.gives.items():
                own[key] = Fake(shape, wraps=key in needs, is_reference=step.tag(key).has_default)
        if twice := found.keys() & own.keys():
            raise AmbiguousServiceError(
                f"two replacements give {', '.join(map(short_name, sorted(twice)))}: leave one of them out"
            )
        found.update(own)
    return Region(found)


def _nowhere() -> Place:
    return Place(Context.empty(), MemoMap())


_Walk: TypeAlias = Generator[tuple[Shape, Place], Part, Part]


@final
class _Planner:
    """Plans one shape; another planner with the same collected data plans the layer that a leaf builds itself."""

    def __init__(
        self,
        opened: Sequence[Suspend] = (),
        *,
        missing: dict[str, AnyTag] | None = None,
        sightings: Sightings | None = None,
        lost: set[Step] | None = None,
    ) -> None:
        self._points: list[Step | Gate] = []
        self._missing = missing
        self._opened = list(opened)
        self._sightings = Sightings() if sightings is None else sightings
        self._lost: set[Step] = set() if lost is None else lost
        self._leaves: dict[tuple[MemoMap, Leaf], Part] = {}
        self._graphs: dict[tuple[Place, Shape], Part] = {}

    def plan(self, part: Part) -> Plan:
        plan = Plan(self._points, part.gives)
        if self._lost:
            plan.drop_unused(self._lost)
        return plan

    def run(self, shape: Shape, place: Place) -> Part:
        # `_walk` is written as a recursion but run with a list as its stack, so the depth of a graph is not limited.
        walks: list[tuple[Shape, Place, _Walk]] = []
        while True:
            part = self._at_once(shape, place)
            if part is None:
                walks.append((shape, place, self._walk(shape, place)))
            elif not walks:
                return part
            while True:
                graph, where, walk = walks[-1]
                try:
                    shape, place = next(walk) if part is None else walk.send(part)
                    break
                except StopIteration as done:
                    whole: Part = done.value
                    # Without this, a graph that is used in several places would be planned once for every path to it.
                    self._graphs[where, graph] = whole
                    walks.pop()
                    if not walks:
                        return whole
                    part = whole

    def _at_once(self, shape: Shape, place: Place) -> Part | None:
        if isinstance(shape, Leaf) and not place.regions:
            return self._leaf(shape, place)
        return self._graphs.get((place, shape))

    def _walk(self, shape: Shape, place: Place) -> _Walk:
        match shape:
            case Feed():
                return self._feed(shape, place)
            case Merge():
                return self._merge(shape, place)
            case Leaf():
                return self._leaf_or_fakes(shape, place)
            case Replace():
                return self._replace(shape, place)
            case Suspend():
                return self._suspend(shape, place)
            case _:
                assert_never(shape)

    def _merge(self, merge: Merge, place: Place) -> _Walk:
        gives: dict[str, Step] = {}
        ends: list[Step | Gate] = []
        begun = len(self._sightings)
        for side in _sides(merge):
            ended = len(self._sightings)
            part = yield side, place
            if not gives.keys().isdisjoint(part.gives):
                self._sightings.check_merge(gives, part.gives, begun=begun, ended=ended)
            gives.update(part.gives)
            ends += part.ends
        return Part(gives, tuple(ends))

    def _feed(self, feed: Feed, place: Place) -> _Walk:
        below = yield feed.dependency, place
        gate = Gate((*place.gates, *below.ends))
        self._points.append(gate)
        begun = len(self._sightings)
        above = yield feed.consumer, place.fed_by(below.gives, gate)
        if not below.gives.keys().isdisjoint(above.gives):
            self._sightings.check_feed(below.gives, above.gives, begun=begun)
        gives = {**below.gives, **above.gives} if feed.keeps else above.gives
        return Part(gives, (*above.ends, gate))

    def _suspend(self, suspended: Suspend, place: Place) -> _Walk:
        if suspended in self._opened:
            circle = self._opened[self._opened.index(suspended) :]
            raise LayerCycleError([known.name for known in (*circle, suspended)])
        self._opened.append(suspended)
        part = yield suspended.inner, place
        self._opened.pop()
        return part

    def _replace(self, replace: Replace, place: Place) -> _Walk:
        region = _region_of(replace.fakes)
        # A service with a default exists even where no leaf gives it: its fake feeds everything inside.
        references: dict[str, Step] = {}
        ends: tuple[Step | Gate, ...] = ()
        for key in region.references:
            part = yield region.fakes[key].shape, place
            references[key] = part.gives[key]
            ends += part.ends
        inside = place
        if references:
            gate = Gate((*place.gates, *ends))
            self._points.append(gate)
            inside = place.fed_by(references, gate)
        part = yield replace.inner, inside.replacing(region, replace)
        region.check()
        return Part({**references, **part.gives}, (*part.ends, *ends))

    def _leaf_or_fakes(self, leaf: Leaf, place: Place) -> _Walk:
        keys = [tag.key for tag in leaf.gives or ()]
        for region in place.regions:
            region.met.update(keys)
        fakes = {key: self._fakes(leaf, key, place) for key in keys}
        if not any(fakes.values()):
            return self._leaf(leaf, place)
        gives: dict[str, Step] = {}
        ends: tuple[Step | Gate, ...] = ()
        if all(found and not found[0][0].wraps for found in fakes.values()):
            self._lost.update(Step(leaf, place, None).taken())
        else:
            part = self._leaf(leaf, place)
            gives, ends = {**part.gives}, part.ends
        for key, found in fakes.items():
            for fake, regions in found:
                where = place.of_fake(regions)
                if fake.wraps:
                    gate = Gate((*place.gates, *ends))
                    self._points.append(gate)
                    where = where.fed_by({key: gives[key]}, gate).around(gives[key])
                part = yield fake.shape, where
                gives[key] = part.gives[key]
                gives[key].is_changed = True
                ends += part.ends
        return Part(gives, ends)

    def _fakes(self, leaf: Leaf, key: str, place: Place) -> Sequence[tuple[Fake, Sequence[Region]]]:
        """Return the replacements and wrappers of *leaf*, the innermost first, each with the regions outside its own."""
        found: list[tuple[Fake, Sequence[Region]]] = []
        for depth, region in enumerate(place.regions):
            if (fake := region.fakes.get(key)) is not None:
                beyond = tuple(outer.without(key) for outer in place.regions[depth + 1 :])
                found = [*(found if fake.wraps else ()), (fake, beyond)]
        if found and found[0][0].wraps and self._is_wrapper(leaf, key, place):
            return ()  # a wrapper is put around the source only, not around other wrappers
        return found

    def _is_wrapper(self, leaf: Leaf, key: str, place: Place) -> bool:
        return any(tag.key == key for tag in leaf.needs or ()) or (leaf.needs is None and key in place.fed)

    def _leaf(self, leaf: Leaf, place: Place) -> Part:
        if leaf.needs != ():
            self._sightings.append((leaf, place))
        is_divided = place.apart is not place.memo
        if not is_divided and (known := self._leaves.get((place.memo, leaf))) is not None:
            return known
        for tag in leaf.needs or ():
            if tag.key not in place.fed and tag not in place.given:
                self._miss(tag, leaf, place)
        step = Step(leaf, place, None if leaf.inner is None else self._inside(leaf.inner, place))
        if is_divided:
            step.keep_apart()
            if (known := self._leaves.get((step.memo, leaf))) is not None:
                return known
        self._points.append(step)
        gives: dict[str, Step] = {}
        if leaf.gives is not None:
            for tag in leaf.gives:
                gives[tag.key] = step
        elif step.inside is not None:
            gives = dict.fromkeys(step.inside.gives, step)
        self._leaves[step.memo, leaf] = part = Part(gives, (step,))
        return part

    def _inside(self, inner: Shape, place: Place) -> Plan:
        planner = _Planner(self._opened, missing=self._missing, sightings=self._sightings, lost=self._lost)
        return planner.plan(planner.run(inner, place))

    def _miss(self, tag: AnyTag, leaf: Leaf, place: Place) -> None:
        if self._missing is not None:
            self._missing[tag.key] = tag
        elif not tag.has_default:
            available = [*place.given, *place.fed]
            raise MissingServiceError(tag.key, needed_by=f"layer {leaf.name}", available=available)


def _sides(shape: Shape) -> Iterator[Shape]:
    """Yield the sides of ``a | b | c`` from left to right; in pairs, each of 1,000 layers would be copied 500 times."""
    sides: list[Shape] = []
    while isinstance(shape, Merge):
        sides.append(shape.right)
        shape = shape.left
    sides.append(shape)
    return reversed(sides)
