"""``Plan``: a nested layer as a flat list of steps, checked before anything is acquired.

Finding out who feeds whom happens here; ``build.py`` carries the steps out.  The classes are plain ones: like those of
``shape.py`` they compare by identity, and attrs takes 0.5 ms to make each, which a short command would wait for.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, assert_never, final

from chatmemory.effect.context import Context
from chatmemory.effect.key import MissingServiceError
from chatmemory.effect.layers.memo import MemoMap
from chatmemory.effect.layers.shape import AnyTag, Feed, Fresh, Leaf, Merge, Services, Shape, Suspend

__all__ = ["Gate", "LayerCycleError", "Part", "Place", "Plan", "Step", "make_plan", "survey"]


class LayerCycleError(RuntimeError):
    """A layer needs itself in order to be built: a defect of the wiring."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(f"dependency cycle: {' -> '.join(names)}")


@final
class Step:
    """One leaf to build, after *after*."""

    __slots__ = ("after", "leaf", "place", "services")

    def __init__(self, leaf: Leaf, place: Place, after: Sequence[Gate]) -> None:
        self.leaf = leaf
        self.place = place
        self.after = after
        self.services: Services | None = None

    @property
    def made(self) -> Services:
        """What the leaf gave; a place looks at the steps that feed it only when they are done."""
        if self.services is None:
            raise RuntimeError(f"layer {self.leaf.name} was asked for its services before it was built")
        return self.services


@final
class Gate:
    """The point where a dependency is complete and its consumers may start."""

    __slots__ = ("after",)

    def __init__(self, after: Sequence[Step | Gate]) -> None:
        self.after = after


@final
class Place:
    """Where in the graph a shape stands: what it sees, what it waits for, with whom it shares."""

    __slots__ = ("fed", "gates", "given", "memo")

    def __init__(
        self, given: Context[Any], fed: Mapping[str, Step], gates: Sequence[Gate], memo: MemoMap
    ) -> None:
        self.given = given
        self.fed = fed
        self.gates = gates
        self.memo = memo

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
        return self._place.given.services[key] if step is None else step.made[key]

    def __iter__(self) -> Iterator[str]:
        return iter({**self._place.given.services, **self._place.fed})

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


def make_plan(shape: Shape, given: Context[Any], memo: MemoMap) -> Plan:
    """Return the plan for *shape* where *given* is at hand.

    Raises:
        MissingServiceError: a leaf needs what nobody gives.
        LayerCycleError: a suspended layer contains itself.
    """
    planner = _Planner(())
    part = planner.run(shape, Place(given, {}, (), memo))
    return Plan(planner.points, part.gives)


def survey(shape: Shape) -> tuple[Sequence[AnyTag], Sequence[str]]:
    """Return the tags that *shape* needs from outside, and the keys that it gives."""
    planner = _Planner((), missing={})
    part = planner.run(shape, Place(Context.empty(), {}, (), MemoMap()))
    return tuple((planner.missing or {}).values()), tuple(part.gives)


_Visit: TypeAlias = Generator[tuple[Shape, Place], Part, Part]


@final
class _Planner:
    def __init__(self, opened: Sequence[Suspend], *, missing: dict[str, AnyTag] | None = None) -> None:
        self.points: list[Step | Gate] = []
        self.missing = missing
        self._opened = list(opened)
        self._leaves: dict[tuple[MemoMap, Leaf], Part] = {}
        self._graphs: dict[tuple[Place, Shape], Part] = {}

    def run(self, shape: Shape, place: Place) -> Part:
        # `_visit` reads like a recursion and is run on a list, so that no graph is too deep for it.
        visits = [self._visit(shape, place)]
        answer: Part | None = None
        while True:
            try:
                request = next(visits[-1]) if answer is None else visits[-1].send(answer)
            except StopIteration as done:
                part: Part = done.value
                visits.pop()
                if not visits:
                    return part
                answer = part
            else:
                visits.append(self._visit(*request))
                answer = None

    def _visit(self, shape: Shape, place: Place) -> _Visit:
        if isinstance(shape, Leaf):
            return self._leaf(shape, place)
        # A graph that is used in several places of another one would otherwise be walked once for every path to it.
        if (known := self._graphs.get((place, shape))) is not None:
            return known
        part = yield from self._graph(shape, place)
        if part.is_shared:
            self._graphs[place, shape] = part
        return part

    def _graph(self, shape: Merge | Feed | Fresh | Suspend, place: Place) -> _Visit:
        match shape:
            case Merge():
                given: dict[str, Step] = {}
                ends: list[Step | Gate] = []
                is_shared = True
                for side in _sides(shape):
                    part = yield side, place
                    given.update(part.gives)
                    ends += part.ends
                    is_shared = is_shared and part.is_shared
                return Part(given, tuple(ends), is_shared=is_shared)
            case Feed():
                below = yield shape.dependency, place
                gate = Gate((*place.gates, *below.ends))
                self.points.append(gate)
                fed = {**place.fed, **below.gives}
                above = yield shape.consumer, Place(place.given, fed, (gate,), place.memo)
                gives = {**below.gives, **above.gives} if shape.keeps else above.gives
                return Part(gives, (*above.ends, gate), is_shared=below.is_shared and above.is_shared)
            case Fresh():
                part = yield shape.inner, Place(place.given, place.fed, place.gates, MemoMap())
                return Part(part.gives, part.ends, is_shared=False)
            case Suspend():
                if shape in self._opened:
                    names = [suspended.name for suspended in self._opened[self._opened.index(shape) :]]
                    raise LayerCycleError([*names, shape.name])
                self._opened.append(shape)
                part = yield shape.inner, place
                self._opened.pop()
                return part
            case _:
                assert_never(shape)

    def _leaf(self, leaf: Leaf, place: Place) -> Part:
        known = self._leaves.get((place.memo, leaf))
        if known is not None:
            return known
        for tag in leaf.needs:
            if tag.key not in place.fed and tag not in place.given:
                self._miss(tag, leaf, place)
        gives = leaf.gives
        if leaf.inner is not None:
            inner = _Planner(self._opened, missing=self.missing).run(leaf.inner, place)
            gives = tuple(inner.gives) if gives is None else gives
        step = Step(leaf, place, place.gates)
        self.points.append(step)
        part = Part(dict.fromkeys(gives or (), step), (step,))
        self._leaves[place.memo, leaf] = part
        return part

    def _miss(self, tag: AnyTag, leaf: Leaf, place: Place) -> None:
        if self.missing is not None:
            self.missing[tag.key] = tag
        elif not tag.has_default:
            available = [*place.given, *place.fed]
            raise MissingServiceError(tag.key, needed_by=f"layer {leaf.name}", available=available)


def _sides(merge: Merge) -> Iterator[Shape]:
    """Go through ``a | b | c`` from left to right; merged two by two, 1,000 layers would be copied 500 times."""
    sides: list[Shape] = []
    shape: Shape = merge
    while isinstance(shape, Merge):
        sides.append(shape.right)
        shape = shape.left
    sides.append(shape)
    return reversed(sides)
