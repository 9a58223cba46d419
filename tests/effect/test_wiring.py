"""``wire`` composes a bag of layers, and says what is wrong with it before anything is acquired."""

from __future__ import annotations

from typing import Any

import pytest
from numbered_layers import Journal, One, Three, Two, build_and_release

from chatmemory.effect import (
    AmbiguousServiceError,
    Effect,
    Layer,
    LayerCycleError,
    ManagedRuntime,
    MissingServiceError,
    Reference,
    Tag,
    UnknownReplacementError,
    wire,
)


@pytest.mark.anyio
async def test_layers_find_each_other_in_any_order() -> None:
    journal = Journal()
    await build_and_release(wire(journal.layer(3, One, Two), journal.layer(2, One), journal.layer(1)))
    assert journal == ["a1", "a2", "a3", "r3", "r2", "r1"]


@pytest.mark.anyio
async def test_all_services_are_given_unless_some_are_exposed() -> None:
    journal = Journal()
    bag = journal.layer(1), journal.layer(2, One), journal.layer(3)
    async with ManagedRuntime(wire(*bag)) as runtime:
        assert [await runtime.service(tag) for tag in (One, Two, Three)] == [1, 2, 3]
    journal.clear()
    await build_and_release(wire(*bag, expose=[Two]))
    assert journal == ["a1", "a2", "r2", "r1"]


@pytest.mark.anyio
async def test_an_override_replaces_a_layer_that_is_then_never_built() -> None:
    journal = Journal()
    doubled = Layer.effect(Two, One.get().map(lambda one: 2 * one), needs=[One])
    app = wire(journal.layer(1, Three), doubled, override=[Layer.succeed(One, 21)])
    async with ManagedRuntime(app) as runtime:
        assert await runtime.service(Two) == 42
        assert await runtime.service(One) == 21
    assert journal == []


@pytest.mark.anyio
async def test_an_override_wins_over_a_layer_that_gives_more() -> None:
    both = Layer.succeed(One, 1) | Layer.succeed(Two, 2)
    sum_ = One.get().bind(lambda one: Two.get().map(lambda two: one + two))
    app = wire(Layer.effect(Three, sum_, needs=[One, Two]), both, override=[Layer.succeed(One, 10)])
    async with ManagedRuntime(app) as runtime:
        assert [await runtime.service(tag) for tag in (One, Two, Three)] == [10, 2, 12]


@pytest.mark.anyio
async def test_an_override_replaces_what_is_deep_in_a_layer_of_the_bag() -> None:
    journal = Journal()
    hidden = journal.layer(3) >> journal.layer(1, Three) >> Layer.effect(Two, One.get(), needs=[One])
    async with ManagedRuntime(wire(hidden, override=[Layer.succeed(One, 21)])) as runtime:
        assert await runtime.service(Two) == 21
    assert journal == []


@pytest.mark.anyio
async def test_an_override_is_fed_by_the_bag_and_by_what_surrounds_the_layer_that_it_replaces() -> None:
    sum_ = Two.get().bind(lambda two: Three.get().map(lambda three: two + three))
    stack = Layer.succeed(Three, 3) >> Layer.succeed(One, 1)
    app = wire(stack, Layer.succeed(Two, 20), override=[Layer.effect(One, sum_, needs=[Two, Three])])
    async with ManagedRuntime(app) as runtime:
        assert await runtime.service(One) == 23


@pytest.mark.anyio
async def test_an_override_that_asks_for_its_own_service_goes_around_the_layer() -> None:
    around = Layer.effect(One, One.get().map(lambda one: -one), needs=[One])
    app = wire(Layer.succeed(One, 1), Layer.effect(Two, One.get(), needs=[One]), override=[around])
    async with ManagedRuntime(app) as runtime:
        assert [await runtime.service(tag) for tag in (One, Two)] == [-1, -1]


@pytest.mark.anyio
async def test_an_override_of_a_reference_reaches_layers_that_do_not_name_it() -> None:
    class Pace(Reference[int]):
        @classmethod
        def default(cls) -> int:
            return 50

    asks = Layer.effect(One, Effect.service(Pace))
    async with ManagedRuntime(wire(asks, override=[Layer.succeed(Pace, 7)])) as runtime:
        assert await runtime.service(One) == 7


def test_an_override_that_reaches_no_layer_is_reported() -> None:
    with pytest.raises(UnknownReplacementError, match=r"Two cannot be replaced.*: One"):
        wire(Layer.succeed(One, 1), override=[Layer.succeed(Two, 2)])


def test_two_overrides_of_one_service_are_ambiguous() -> None:
    with pytest.raises(AmbiguousServiceError, match="two replacements give One"):
        wire(Layer.succeed(One, 1), override=[Layer.succeed(One, 2), Layer.succeed(One, 3)])


def test_a_missing_service_is_reported_with_its_consumer() -> None:
    with pytest.raises(
        MissingServiceError, match=r"Service not found: One, needed by layer Two \(available: Two\)"
    ):
        wire(Journal().layer(2, One))


def test_an_exposed_service_that_nobody_gives_is_reported() -> None:
    with pytest.raises(MissingServiceError, match="Service not found: Two, needed by expose"):
        wire(Layer.succeed(One, 1), expose=[Two])


def test_two_layers_of_one_service_are_ambiguous() -> None:
    with pytest.raises(AmbiguousServiceError, match=r"One is given by both layer One and layer One\|Two"):
        wire(Layer.succeed(One, 1), Layer.succeed(One, 2) | Layer.succeed(Two, 2))


def test_one_layer_named_twice_is_not_ambiguous() -> None:
    layer = Layer.succeed(One, 1)
    wire(layer, layer)


def test_a_cycle_is_reported_in_the_order_of_needs() -> None:
    journal = Journal()
    with pytest.raises(LayerCycleError) as caught:
        wire(journal.layer(1, Two), journal.layer(2, Three), journal.layer(3, One))
    names = str(caught.value).removeprefix("dependency cycle: ").split(" -> ")
    rotated = names[names.index("One") : -1] + names[: names.index("One")]
    assert rotated == ["One", "Two", "Three"]


@pytest.mark.anyio
async def test_a_reference_is_fed_from_the_bag_and_missed_by_nobody() -> None:
    class Pace(Reference[int]):
        @classmethod
        def default(cls) -> int:
            return 50

    paced = Layer.effect(One, Effect.service(Pace), needs=[Pace])
    async with ManagedRuntime(wire(paced)) as runtime:
        assert await runtime.service(One) == 50
    async with ManagedRuntime(wire(paced, Layer.succeed(Pace, 7))) as runtime:
        assert await runtime.service(One) == 7


@pytest.mark.anyio
async def test_a_bag_of_1000_layers_with_two_dependencies_each_builds() -> None:
    tags: list[Any] = [type(f"Service{number}", (Tag,), {}) for number in range(1000)]

    def counting(number: int) -> Layer[Any]:
        if number < 2:
            return Layer.succeed(tags[number], number)
        value: Effect[int, Any, Any] = tags[number - 1].get().map(lambda value: value + 1)
        return Layer.effect(tags[number], value, needs=[tags[number - 1], tags[number - 2]])

    async with ManagedRuntime(wire(*map(counting, range(1000)))) as runtime:
        assert await runtime.service(tags[-1]) == 999
