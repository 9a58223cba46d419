"""Plans a layer, checks it before anything is opened, and opens its parts in order.

``layer.py`` defines what layers are made of.  A leaf is opened once however often it occurs in a graph, with what feeds
it at its first place; where a replacement reaches it, it counts as another leaf.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack
from functools import partial
from typing import Any, Final, TypeAlias, assert_never, final

from chatmemory.effect.checks import fitting
from chatmemory.effect.context import Context
from chatmemory.effect.key import MissingServiceError, short_name
from chatmemory.effect.layers.layer import AnyTag, Feed, Leaf, Merge, Replace, Shape, Suspend, sides
from chatmemory.effect.layers.layer_errors import (
    AmbiguousServiceError,
    LayerCycleError,
    ShadowedServiceError,
    UnknownReplacementError,
)
from chatmemory.effect.outcome import Outcome, Success, exception_of


@final
class Step:
    """One leaf to open, at its place in a graph.

    Attributes:
        leaf: the leaf.
        place: what feeds it.
        is_changed: a replacement reaches it: it is one, or is fed with one.
        is_unused: it fed only layers that were replaced, so it is not opened.
        service: its service, once it is open.
    """

    __slots__ = ("is_changed", "is_unused", "leaf", "place", "service")

    def __init__(self, leaf: Leaf, place: Place) -> None:
        self.leaf = leaf
        self.place = place
        self.is_changed = False
        self.is_unused = False
        self.service: Any = None

    def taken(self) -> Iterator[Step]:
        """Yield the steps that feed it: those that it asks for, or all that it sees if its needs are unknown."""
        fed = self.place.fed
        if self.leaf.needs is None:
            yield from fed.values()
        else:
            yield from (fed[tag.key] for tag in self.leaf.needs if tag.key in fed)

    def held(self) -> Iterator[Step]:
        """Yield the steps that are opened for it; a fake has to name its needs, or it would open what it replaces."""
        if self.leaf.needs is not None or not self.place.is_for_fake:
            yield from self.taken()


Gives: TypeAlias = dict[str, Step]
Built: TypeAlias = dict[tuple[Leaf, tuple[object, ...]], Step]
"""The steps by their leaf and the replacements that reach it."""


@final
class Fake:
    """What a layer replaces a service with.

    Attributes:
        shape: what is opened instead of a leaf.
        wraps: whether it needs the service that it gives, which it gets from the leaf that it replaces.
        is_reference: whether the service has a default, which the fake replaces where no leaf gives the service.
    """

    __slots__ = ("is_reference", "shape", "wraps")

    def __init__(self, shape: Shape, *, wraps: bool, is_reference: bool) -> None:
        self.shape = shape
        self.wraps = wraps
        self.is_reference = is_reference


Fakes: TypeAlias = Mapping[str, Fake]
"""The fakes of one replacement, by the keys of their services."""


@final
class Place:
    """Where a part of a graph is: what feeds it, and which replacements it is in.

    Attributes:
        fed: the steps that feed it, by the keys of their services.
        fakes: the fakes that replace leaves here, the outermost replacement first.
        within: the replacements around it, and the leaf that it wraps.
        is_all_changed: a replacement of a reference is around it: any leaf may use that without naming it.
        is_for_fake: it is in a fake.
    """

    __slots__ = ("fakes", "fed", "is_all_changed", "is_for_fake", "within")

    def __init__(
        self,
        fed: Mapping[str, Step],
        fakes: tuple[Fakes, ...] = (),
        within: tuple[object, ...] = (),
        *,
        is_all_changed: bool = False,
        is_for_fake: bool = False,
    ) -> None:
        self.fed = fed
        self.fakes = fakes
        self.within = within
        self.is_all_changed = is_all_changed
        self.is_for_fake = is_for_fake

    def but(self, **changes: Any) -> Place:
        """Return this place with other attributes."""
        return Place(**{name: getattr(self, name) for name in Place.__slots__} | changes)

    def fed_by(self, gives: Gives) -> Place:
        """Return the place that also sees *gives*."""
        return self.but(fed={**self.fed, **gives})


Guard: TypeAlias = Callable[[Callable[[AsyncExitStack], Awaitable[Any]]], Awaitable[Any]]
"""Calls a function that opens one resource, with the stack that closes it."""


@final
class Plan:
    """The steps to open, each after those that feed it, and the steps that give the services of the layer."""

    __slots__ = ("_given", "_gives", "built", "steps")

    def __init__(self, given: Context[Any], gives: Gives, built: Built) -> None:
        self._given = given
        self._gives = gives
        self.built = built
        self.steps = [step for step in built.values() if not step.is_unused]

    async def open(self, guard: Guard) -> Context[Any]:
        """Open every step, and return *given* with the services of the layer.

        Raises:
            EffectFailed: a layer failed; a failure that is an exception is raised as it is.
        """
        for step in self.steps:
            leaf = step.leaf
            if leaf.open is None:
                step.service = leaf.service
                continue
            fed = {key: one.service for key, one in step.place.fed.items() if not one.is_unused}
            context: Context[Any] = Context({**self._given.services, **fed})
            try:
                outcome: Outcome[Any, Any] = await guard(partial(leaf.open, context))
            except MissingServiceError as missing:
                missing.name_consumer(_consumer(leaf, missing.key))
                missing.is_fed_only = any(one.tag.key == missing.key for one, _ in self.built)
                raise
            if type(outcome) is not Success:
                raise exception_of(outcome.failure())
            step.service = fitting(leaf.tag, outcome.unwrap())
        services: Context[Any] = Context({key: step.service for key, step in self._gives.items()})
        return self._given.merge(services)


def make_plan(shape: Shape, given: Context[Any], built: Mapping[Any, Step]) -> Plan:
    """Return the plan for *shape*.

    Args:
        shape: what to open.
        given: the services that are there already.
        built: the steps that are open already, to be shared.

    Raises:
        MissingServiceError: a leaf needs a service that no layer gives.
        LayerCycleError: a suspended layer contains itself.
        ShadowedServiceError: a layer gives a service that no part would use.
        UnknownReplacementError, AmbiguousServiceError: a replacement replaces nothing, or two replace the same service.
    """
    planner = _Planner(given, built)
    gives = planner.part(shape, Place({}))
    planner.drop_unused(gives)
    return Plan(given, gives, planner.steps)


_NOTHING: Final[Context[Any]] = Context.empty()


@final
class _Planner:
    """Plans one shape; with *needs* it notes the services that are missing instead of raising."""

    def __init__(
        self, given: Context[Any], built: Mapping[Any, Step], needs: dict[str, AnyTag] | None = None
    ) -> None:
        self.steps: Built = {}
        self._given = given
        self._built = built
        self._needs = needs
        self._parts: dict[tuple[Place, Shape], Gives] = {}
        self._sightings: list[tuple[Leaf, Place]] = []
        self._met: list[str] = []
        self._opened: list[Suspend] = []
        self._lost: set[Step] = set()

    def part(self, shape: Shape, place: Place) -> Gives:
        """Return the steps of the services that *shape* gives at *place*."""
        known = self._parts.get((place, shape))  # a graph may be used on many paths
        if known is None:
            known = self._parts[place, shape] = self._plan(shape, place)
        return known

    def drop_unused(self, gives: Gives) -> None:
        """Mark the steps that fed only replaced layers."""
        used = set(gives.values())
        for step in reversed(self.steps.values()):
            step.is_unused = step in self._lost and step not in used
            if step.is_unused:
                self._lost.update(step.taken())
            else:
                used.update(step.held())

    def _plan(self, shape: Shape, place: Place) -> Gives:
        match shape:
            case Leaf():
                return {shape.tag.key: self._leaf_or_fake(shape, place)}
            case Merge():
                return self._merge(shape, place)
            case Feed():
                return self._feed(shape, place)
            case Suspend():
                return self._suspend(shape, place)
            case Replace():
                return self._replace(shape, place)
            case _:
                assert_never(shape)

    def _leaf_or_fake(self, leaf: Leaf, place: Place) -> Step:
        """Return the step that gives the service of *leaf*: its own, or the step of the outermost fake."""
        key = leaf.tag.key
        self._met.append(key)
        for depth, fakes in enumerate(place.fakes):
            if key in fakes:
                return self._fake(leaf, fakes[key], place, depth)
        return self._leaf(leaf, place)

    def _fake(self, leaf: Leaf, fake: Fake, place: Place, depth: int) -> Step:
        """Return the step of *fake*, which belongs to the replacement at *depth* of *place*."""
        key, outer = leaf.tag.key, place.fakes[:depth]
        at = place.but(fakes=outer, is_for_fake=True)
        if not fake.wraps:
            self._lost.update(Step(leaf, place).taken())
        else:
            others = {name: one for name, one in place.fakes[depth].items() if name != key}
            beneath = place.but(fakes=(*outer, others, *place.fakes[depth + 1 :]))
            if not any(key in fakes for fakes in beneath.fakes) and _is_wrapper(leaf, place):
                return self._leaf(leaf, place)  # it goes around the source, not around other wrappers
            old = self._leaf_or_fake(leaf, beneath)
            old.is_changed = True
            at = at.fed_by({key: old}).but(within=(*place.within, leaf))
        step = self.part(fake.shape, at)[key]
        step.is_changed = True
        return step

    def _leaf(self, leaf: Leaf, place: Place) -> Step:
        if leaf.needs != ():
            self._sightings.append((leaf, place))
        step = Step(leaf, place)
        step.is_changed = bool(place.within) and (
            place.is_all_changed or any(fed.is_changed for fed in step.taken())
        )
        key = leaf, place.within if step.is_changed else ()
        if (known := self.steps.get(key) or self._built.get(key)) is not None:
            return known
        for tag in leaf.needs or ():
            if tag.key not in place.fed and tag not in self._given:
                self._miss(tag, leaf, place)
        self.steps[key] = step
        return step

    def _miss(self, tag: AnyTag, leaf: Leaf, place: Place) -> None:
        if self._needs is not None:
            self._needs[tag.key] = tag
        elif not tag.has_default:
            available = [*self._given, *place.fed]
            missing = MissingServiceError(tag.key, needed_by=f"layer {leaf.name}", available=available)
            missing.is_fed_only = tag.key in self._met
            raise missing

    def _merge(self, merge: Merge, place: Place) -> Gives:
        gives: Gives = {}
        begun = len(self._sightings)
        for side in sides(merge):
            ended = len(self._sightings)
            part = self.part(side, place)
            for key, shadowed in _given_twice(gives, part):
                for leaf, where in self._sightings[begun:ended]:
                    if _is_fed(leaf, where, key, shadowed):
                        raise ShadowedServiceError.merged(key, consumer=leaf.name)
            gives |= part
        return gives

    def _feed(self, feed: Feed, place: Place) -> Gives:
        below = self.part(feed.dependency, place)
        begun = len(self._sightings)
        above = self.part(feed.consumer, place.fed_by(below))
        for key, shadowed in _given_twice(below, above):
            inside = self._sightings[begun:]
            takers = [leaf for leaf, where in inside if _is_fed(leaf, where, key, shadowed)]
            is_taken = any(leaf.needs is not None or leaf.tag.key == key for leaf in takers)
            # If the consumer's own service feeds other parts of it, the consumer does not only add the service.
            has_its_own = any(_is_fed(leaf, where, key, above[key]) for leaf, where in inside)
            if not is_taken and (has_its_own or not takers):
                raise ShadowedServiceError.fed(key)
        return {**below, **above} if feed.keeps else above

    def _suspend(self, suspended: Suspend, place: Place) -> Gives:
        if suspended in self._opened:
            circle = self._opened[self._opened.index(suspended) :]
            raise LayerCycleError([known.name for known in (*circle, suspended)])
        self._opened.append(suspended)
        part = self.part(suspended.make(), place)
        self._opened.pop()
        return part

    def _replace(self, replace: Replace, place: Place) -> Gives:
        fakes = _fakes(replace)
        # A service with a default exists even where no leaf gives it: its fake feeds everything inside.
        references = {
            key: self.part(fake.shape, place)[key] for key, fake in fakes.items() if fake.is_reference
        }
        begun = len(self._met)
        inside = place.fed_by(references).but(
            fakes=(*place.fakes, fakes),
            within=(*place.within, replace),
            is_all_changed=place.is_all_changed or bool(references),
        )
        gives = self.part(replace.inner, inside)
        met = set(self._met[begun:])
        unmet = [key for key in fakes if key not in met and key not in references]
        if unmet:
            raise UnknownReplacementError(unmet, available=met)
        return {**references, **gives}


def _given_twice(first: Gives, second: Gives) -> Iterator[tuple[str, Step]]:
    """Yield the services that both give by different leaves, each with the step of *first*."""
    for key, step in first.items():
        if key in second and second[key].leaf is not step.leaf:
            yield key, step


def _is_fed(leaf: Leaf, place: Place, key: str, step: Step) -> bool:
    """Return whether the leaf may get the service from *step*."""
    is_asked_for = leaf.needs is None or any(tag.key == key for tag in leaf.needs)
    return is_asked_for and place.fed.get(key) is step


def _is_wrapper(leaf: Leaf, place: Place) -> bool:
    key = leaf.tag.key
    return key in place.fed if leaf.needs is None else any(tag.key == key for tag in leaf.needs)


def _consumer(leaf: Leaf, missing: str) -> str:
    is_its_own = leaf.needs is None and leaf.tag.key == missing
    cure = ", which goes around another one if it says so by needs=[...]" if is_its_own else ""
    return f"layer {leaf.name}{cure}"


def _fakes(replace: Replace) -> Fakes:
    """Return the fakes of *replace* by the keys of their services.

    Raises:
        AmbiguousServiceError: two of them give the same service.
    """
    found: dict[str, Fake] = {}
    for whole in replace.fakes:
        own: dict[str, Fake] = {}
        for shape in sides(whole):  # each is opened where its service is given
            needs: dict[str, AnyTag] = {}
            for key, step in _Planner(_NOTHING, {}, needs).part(shape, Place({})).items():
                own[key] = Fake(shape, wraps=key in needs, is_reference=step.leaf.tag.has_default)
        if twice := found.keys() & own.keys():
            raise AmbiguousServiceError(
                f"two replacements give {', '.join(map(short_name, sorted(twice)))}: leave one of them out"
            )
        found |= own
    return found
