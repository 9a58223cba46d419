"""``Layer.replace`` puts a fake in the place of every layer that gives its service, however deep, before anything opens."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import reduce
from itertools import pairwise
from typing import Any

import pytest
from numbered_layers import Journal, One, Three, Two, build_and_release

from chatmemory.effect import (
    AmbiguousServiceError,
    Effect,
    Layer,
    ManagedRuntime,
    MemoMap,
    MissingServiceError,
    Reference,
    Schedule,
    Tag,
    UnknownReplacementError,
)
from tests.for_each import for_each

pytestmark = pytest.mark.anyio

FAKE = Layer.succeed(One, 100)


class Pace(Reference[int]):
    @classmethod
    def default(cls) -> int:
        return 50


class Source(Tag[list[str]]): ...


async def services(layer: Layer[Any, Any], *tags: Any) -> list[Any]:
    async with ManagedRuntime(layer) as runtime:
        return [await runtime.service(tag) for tag in tags]


def twice_one(*, tag: Any = Two) -> Layer[Any, Any, Any]:
    return Layer.effect(tag, One.get().map(lambda one: 2 * one), needs=[One])


AROUND: dict[str, Callable[[Layer[One]], Layer[Any, Any]]] = {
    "nothing": lambda real: real,
    ">>": lambda real: real >> Layer.effect(One, One.get(), needs=[One]),
    "|": lambda real: Layer.succeed(Three, 3) | real,
    "feed_keep": lambda real: Layer.succeed(Three, 3).feed_keep(real),
    "fresh": lambda real: real.fresh(),
    "suspend": lambda real: Layer.suspend(lambda: real),
    "tap": lambda real: real.tap(lambda _: Effect.succeed(None)),
    "tap_error": lambda real: real.tap_error(lambda _: Effect.succeed(None)),
    "tap_cause": lambda real: real.tap_cause(lambda _: Effect.succeed(None)),
    "failing_with": lambda real: real.failing_with(OSError),
    "map_error": lambda real: real.map_error(str),
    "or_die": lambda real: real.or_die(),
    "or_else": lambda real: real.or_else(lambda _: Layer.succeed(One, 3)),
    "catch_cause": lambda real: real.catch_cause(lambda _: Layer.succeed(One, 3)),
    "retry": lambda real: real.retry(Schedule.recurs(1)),
    "passthrough": lambda real: real >> Layer.succeed(Three, 3).passthrough(One),
    "update_service": lambda real: real >> Layer.effect(One, One.get(), needs=[One]).update_service(One, abs),
    "replace": lambda real: real.replace(Layer.succeed(One, 4)),
    "all": lambda real: Layer.suspend(lambda: real.retry(Schedule.recurs(1)).tap_error(Effect.fail)).fresh(),
}


@for_each("around", AROUND)
async def test_a_layer_is_replaced_under_whatever_stands_around_it_and_is_not_built(around: str) -> None:
    journal = Journal()
    stack = AROUND[around](journal.layer(1)).feed_keep(twice_one())
    assert await services(stack.replace(FAKE), One, Two) == [100, 200]
    assert journal == []


async def test_a_layer_that_a_projection_gives_is_replaced_with_what_it_came_from() -> None:
    journal = Journal()
    stack = journal.layer(1).project(One, Two, lambda one: one + 1)
    assert await services(stack.replace(Layer.succeed(Two, 7)), Two) == [7]
    assert journal == []


async def test_the_recovery_from_a_failure_is_replaced_too() -> None:
    journal = Journal()
    recovered = Layer.fail(Two, "broken").or_else(lambda _: journal.layer(1) >> twice_one())
    stack = Layer.succeed(One, 1) | recovered
    assert await services(stack.replace(FAKE), One, Two) == [100, 200]
    assert journal == []


async def test_what_fed_only_the_replaced_layer_is_not_built() -> None:
    journal = Journal()
    stack = journal.layer(3) >> journal.layer(2, Three) >> journal.layer(1, Two)
    await build_and_release(stack.replace(FAKE))
    assert journal == []


async def test_what_feeds_another_layer_as_well_is_built() -> None:
    journal = Journal()
    stack = journal.layer(3) >> (journal.layer(1, Three) | journal.layer(2, Three))
    await build_and_release(stack.replace(FAKE))
    assert journal == ["a3", "a2", "r2", "r3"]


async def test_what_the_stack_gives_itself_is_built() -> None:
    journal = Journal()
    await build_and_release(journal.layer(3).feed_keep(journal.layer(1, Three)).replace(FAKE))
    assert journal == ["a3", "r3"]


async def test_what_nobody_was_known_to_need_is_built() -> None:
    journal = Journal()
    await build_and_release((journal.layer(3) >> (journal.layer(1, Two) | journal.layer(2))).replace(FAKE))
    assert journal == ["a3", "a2", "r2", "r3"]


async def test_what_a_layer_of_unknown_needs_may_ask_for_is_built() -> None:
    journal = Journal()
    asks_in_secret = Layer.effect(Two, Three.get())
    stack = journal.layer(3) >> (journal.layer(1, Three) | asks_in_secret)
    assert await services(stack.replace(FAKE), One, Two) == [100, 3]
    assert journal == ["a3", "r3"]


async def test_what_a_recovery_may_ask_for_is_built() -> None:
    journal = Journal()
    recovered = Layer.fail(Two, "broken").or_else(lambda _: Layer.effect(Two, Three.get(), needs=[Three]))
    stack = journal.layer(3) >> (journal.layer(1, Three) | recovered)
    assert await services(stack.replace(FAKE), One, Two) == [100, 3]
    assert journal == ["a3", "r3"]


async def test_what_only_a_replaced_layer_of_unknown_needs_could_see_is_not_built() -> None:
    journal = Journal()
    await build_and_release((journal.layer(3) >> Layer.effect(One, Three.get())).replace(FAKE))
    assert journal == []


async def test_a_fake_of_unknown_needs_opens_nothing_that_it_replaces() -> None:
    journal = Journal()
    fake = Layer.effect(One, Effect.succeed(100))
    await build_and_release((journal.layer(3) >> journal.layer(1, Three)).replace(fake))
    assert journal == []


async def test_what_is_not_built_is_out_of_sight() -> None:
    journal = Journal()
    says_too_little = Layer.effect(Two, Three.get(), needs=())
    stack = journal.layer(3) >> (journal.layer(1, Three) | says_too_little)
    with pytest.raises(MissingServiceError, match="Service not found: Three, needed by layer Two"):
        await build_and_release(stack.replace(FAKE))


async def test_layers_that_wrap_the_service_are_replaced_with_it() -> None:
    source = Layer.succeed(Source, ["real"])
    shouting = Layer.effect(
        Source, Source.get().map(lambda said: [text.upper() for text in said]), needs=[Source]
    )
    reader = Layer.effect(One, Source.get().map(id), needs=[Source])
    said = ["fake"]
    stack = (source >> shouting >> shouting).feed_keep(reader)
    assert await services(stack.replace(Layer.succeed(Source, said)), Source, One) == [said, id(said)]


def wrapping(journal: Journal) -> Layer[One, Any, One]:
    return Layer.effect(
        One,
        One.get().tap(lambda one: journal.write(f"around {one}")).map(lambda one: one + 10),
        needs=[One],
    )


async def test_a_fake_that_asks_for_its_own_service_goes_around_the_layer() -> None:
    journal = Journal()
    stack = journal.layer(1).feed_keep(twice_one())
    assert await services(stack.replace(wrapping(journal)), One, Two) == [11, 22]
    assert journal == ["a1", "around 1", "r1"]


async def test_a_fake_that_asks_for_its_own_service_without_saying_so_is_told_how() -> None:
    fake: Layer[One] = Layer.effect(One, One.get())  # it needs One
    cure = r"needed by layer One, which goes around another one if it says so by needs=\[\.\.\.\]"
    with pytest.raises(MissingServiceError, match=cure):
        await build_and_release(Layer.succeed(One, 1).replace(fake))


async def test_what_the_stack_itself_puts_around_the_layer_stays_outside() -> None:
    journal = Journal()
    stack = journal.layer(1).retry(Schedule.recurs(1)) >> Layer.effect(
        One, One.get().map(lambda one: -one), needs=[One]
    )
    assert await services(stack.replace(wrapping(journal)), One) == [-11]
    assert journal == ["a1", "around 1", "r1"]


async def test_a_fake_around_two_layers_is_built_around_each() -> None:
    stack = (Layer.succeed(One, 1) >> twice_one()) | (Layer.succeed(One, 2) >> twice_one(tag=Three))
    assert await services(stack.replace(wrapping(Journal())), Two, Three) == [22, 24]


async def test_a_later_replacement_goes_around_the_earlier_one() -> None:
    stack = Layer.succeed(One, 1).feed_keep(twice_one())
    doubling = Layer.effect(One, One.get().map(lambda one: 2 * one), needs=[One])
    assert await services(stack.replace(wrapping(Journal())).replace(doubling), One, Two) == [22, 44]
    assert await services(stack.replace(FAKE).replace(doubling), One, Two) == [200, 400]
    assert await services(stack.replace(doubling).replace(FAKE), One, Two) == [100, 200]


async def test_a_fake_that_a_later_one_replaces_is_not_built() -> None:
    journal = Journal()
    await build_and_release(Layer.succeed(One, 1).replace(journal.layer(1)).replace(FAKE))
    assert journal == []


async def test_what_is_inside_a_fake_can_be_replaced_later() -> None:
    journal = Journal()
    fake = journal.layer(3) >> Layer.effect(One, Three.get(), needs=[Three])
    stack = Layer.succeed(One, 1).feed_keep(twice_one()).replace(fake)
    assert await services(stack.replace(Layer.succeed(Three, 7)), One, Two) == [7, 14]
    assert journal == []


async def test_a_fake_sees_what_could_be_seen_from_the_place_of_the_layer() -> None:
    hidden = Layer.succeed(Three, 3) >> (Layer.succeed(One, 1) >> twice_one())
    fake = Layer.effect(One, Three.get().map(lambda three: 10 * three), needs=[Three])
    assert await services(hidden.replace(fake), Two) == [60]


async def test_fakes_see_each_other() -> None:
    stack = Layer.succeed(Three, 3) >> (Layer.succeed(One, 1) >> twice_one())
    fake = Layer.effect(One, Three.get().map(lambda three: 10 * three), needs=[Three])
    assert await services(stack.replace(fake, Layer.succeed(Three, 4)), Two) == [80]


async def test_a_fake_that_needs_what_is_not_there_is_reported_before_anything_is_acquired() -> None:
    journal = Journal()
    stack = journal.layer(2).feed_keep(journal.layer(1))
    with pytest.raises(MissingServiceError, match="Service not found: Three, needed by layer One"):
        await build_and_release(stack.replace(Layer.effect(One, Three.get(), needs=[Three])))
    assert journal == []


async def test_a_layer_of_two_services_is_built_for_the_one_that_is_not_replaced() -> None:
    both = Layer.succeed(One, 1) | Layer.succeed(Three, 3)
    stack = both >> Layer.succeed(Two, 2).passthrough(One, Three)
    assert await services(stack.replace(FAKE), One, Three) == [100, 3]


async def test_a_fake_that_gives_several_services_replaces_each() -> None:
    journal = Journal()
    stack = journal.layer(1) | journal.layer(2)
    fakes = Layer.succeed(Three, 3) >> (FAKE | Layer.effect(Two, Three.get()))
    assert await services(stack.replace(fakes), One, Two) == [100, 3]
    assert journal == []


async def test_a_fake_is_built_once_wherever_it_stands() -> None:
    journal = Journal()
    fake = journal.layer(1)
    stack = (Layer.succeed(One, 1) >> twice_one()) | (Layer.succeed(One, 2) >> twice_one(tag=Three))
    await build_and_release(stack.replace(fake) | fake)
    assert journal == ["a1", "r1"]


async def test_the_original_beside_the_replaced_one_keeps_its_services() -> None:
    journal = Journal()
    real, consumer = journal.layer(1), twice_one()
    stack = real >> consumer
    beside = stack | stack.replace(FAKE).project(Two, Three, lambda two: two)
    assert await services(beside, Two, Three) == [2, 200]
    assert journal == ["a1", "r1"]


async def test_runtimes_that_share_layers_share_those_that_a_fake_does_not_reach() -> None:
    journal = Journal()
    stack = journal.layer(3).feed_keep(journal.layer(1)).feed_keep(twice_one())
    replaced = stack.replace(FAKE)
    memo = MemoMap()
    async with ManagedRuntime(stack, memo) as real, ManagedRuntime(replaced, memo) as faked:
        assert await real.service(Two) == 2
        assert await faked.service(Two) == 200
        async with ManagedRuntime(replaced, memo.fork()) as again:
            assert await again.service(Two) == 200
    assert journal == ["a3", "a1", "r1", "r3"]


async def test_a_layer_that_a_fake_feeds_is_shared_by_the_runtimes_of_one_replacement() -> None:
    journal = Journal()
    replaced = (Layer.succeed(One, 1) >> journal.layer(2, One)).replace(FAKE)
    memo = MemoMap()
    async with ManagedRuntime(replaced, memo), ManagedRuntime(replaced, memo.fork()):
        assert journal == ["a2"]


async def test_a_fresh_layer_stays_fresh_when_a_fake_feeds_it() -> None:
    journal = Journal()
    consumer = journal.layer(2, One)
    stack = Layer.succeed(One, 1) >> (consumer | consumer.fresh())
    await build_and_release(stack.replace(FAKE))
    assert journal == ["a2", "a2", "r2", "r2"]


async def test_a_reference_is_replaced_where_a_layer_gives_it_and_where_its_default_would_do() -> None:
    paced = Layer.effect(One, Effect.service(Pace))
    held = Layer.succeed(Pace, 1) >> Layer.effect(Two, Effect.service(Pace), needs=[Pace])
    stack = (paced | held).replace(Layer.succeed(Pace, 7))
    async with ManagedRuntime(stack) as runtime:
        assert [await runtime.service(tag) for tag in (One, Two)] == [7, 7]
        assert (await runtime.run(Effect.service(Pace))).unwrap() == 7


async def test_a_fake_goes_around_the_default_of_a_reference() -> None:
    paced = Layer.effect(One, Effect.service(Pace))
    slower = Layer.effect(Pace, Effect.service(Pace).map(lambda pace: pace // 2), needs=[Pace])
    assert await services(paced.replace(slower), One) == [25]


async def test_a_replacement_that_reaches_nobody_is_reported_before_anything_is_acquired() -> None:
    journal = Journal()
    stack: Layer[Any] = journal.layer(3) >> journal.layer(2, Three)
    with pytest.raises(UnknownReplacementError) as caught:
        await build_and_release(stack.replace(FAKE))
    assert str(caught.value) == (
        "One cannot be replaced, because nothing here gives it; what is given here: Three, Two; "
        "to add a service, write stack | layer"
    )
    assert journal == []


async def test_each_service_of_a_replacement_has_to_reach_somebody() -> None:
    stack: Layer[Any] = Layer.succeed(Two, 2)
    with pytest.raises(UnknownReplacementError, match="One cannot be replaced"):
        await build_and_release(stack.replace(Layer.succeed(Two, 20) | FAKE))


async def test_two_fakes_of_one_service_are_ambiguous() -> None:
    with pytest.raises(AmbiguousServiceError, match="two replacements give One"):
        await build_and_release(Layer.succeed(One, 1).replace(FAKE, Layer.succeed(One, 2)))


async def test_a_suspended_layer_is_made_no_earlier_than_without_a_replacement() -> None:
    journal = Journal()

    def make() -> Layer[One]:
        journal.append("made")
        return journal.layer(1)

    replaced = Layer.suspend(make).replace(FAKE)
    assert journal == []
    assert await services(replaced, One) == [100]
    assert journal == ["made"]


@for_each("nesting", ["chain", "keep", "wide", "deep"])
async def test_a_layer_is_replaced_among_1000(nesting: str) -> None:
    tags: list[Any] = [type(f"Service{number}", (Tag,), {}) for number in range(1000)]
    after = [
        Layer.effect(tag, before.get().map(lambda value: value + 1), needs=[before])
        for before, tag in pairwise(tags)
    ]
    layers: list[Layer[Any, Any, Any]] = [Layer.succeed(tags[0], 0), *after]
    graph = {
        "chain": lambda: reduce(operator.rshift, layers),
        "keep": lambda: reduce(lambda below, above: below.feed_keep(above), layers),
        "wide": lambda: reduce(operator.or_, [Layer.succeed(tag, number) for number, tag in enumerate(tags)]),
        "deep": lambda: reduce(lambda below, above: above >> below, reversed(layers)),
    }[nesting]()
    given = await services(graph.replace(Layer.succeed(tags[500], 10_000)), tags[-1])
    assert given == [999 if nesting == "wide" else 10_499]
