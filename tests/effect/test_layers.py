"""Layers are composed, shared and built: ``|``, ``>>``, ``feed_keep``, ``suspend``, ``mock``, ``failing_with``."""

import operator
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import reduce
from typing import Any

import pytest
from attrs import frozen

from chatmemory.effect import (
    Effect,
    EffectFailed,
    Layer,
    ManagedRuntime,
    MissingServiceError,
    Success,
    Tag,
)
from tests.effect.numbered_layers import Journal, One, Pace, Three, Two, build_and_release, services
from tests.for_each import for_each

pytestmark = pytest.mark.anyio

ONE = Layer.succeed(One, 1)
SUM = One.get().bind(lambda one: Two.get().map(lambda two: one + two))


async def test_what_a_composition_gives() -> None:
    assert [repr(ONE), repr(ONE | ONE)] == ["Layer(One)", "Layer(graph)"]
    next_one = Layer.effect(Two, One.get().map(lambda one: one + 1))
    assert await services(ONE.feed_keep(next_one), One, Two) == [1, 2]
    assert await services(ONE | Layer.succeed(One, 2), One) == [2]  # of the right side
    assert await services(Layer.succeed(Two, 2) >> (ONE >> Layer.effect(Three, SUM)), Three) == [3]
    async with ManagedRuntime(ONE >> next_one) as runtime:
        assert await runtime.service(Two) == 2
        with pytest.raises(MissingServiceError, match="Service not found: One"):
            await runtime.service(One)


async def test_a_reference_needs_no_layer_and_yields_to_one() -> None:
    @asynccontextmanager
    async def open_(pace: int) -> AsyncGenerator[int]:
        yield pace

    opened = Layer.scoped(One, open_, Pace)
    wired = Layer.effect(One, Effect.service(Pace), needs=[Pace])
    assert await services(opened, One) == await services(wired, One) == [50]
    seven = Layer.succeed(Pace, 7)
    assert await services(seven >> opened, One) == await services(seven >> wired, One) == [7]


async def refusal_of(layer: Layer[Any, Any]) -> object:
    """Return the typed failure with which *layer* cannot be built."""
    with pytest.raises(EffectFailed) as failed:
        await build_and_release(layer)
    return failed.value.error


@frozen
class RefusedError:
    """What a layer may fail with."""


async def test_a_raised_effect_failed_of_the_named_class_becomes_the_failure_and_nothing_else_does() -> None:
    def raising(error: Exception) -> Layer[One, RefusedError]:
        @asynccontextmanager
        async def open_() -> AsyncGenerator[int]:
            raise error
            yield 0

        return Layer.scoped(One, open_).failing_with(RefusedError)

    refused = RefusedError()
    assert await refusal_of(raising(EffectFailed(refused))) is refused
    for other in (EffectFailed(KeyError("a")), OSError("disk full")):
        with pytest.raises(type(other)) as raised:
            await build_and_release(raising(other))
        assert raised.value is other
    failing = Layer.effect(One, Effect.fail("broken")).failing_with(RefusedError)
    assert await refusal_of(failing) == "broken"


class Shop:
    def price(self, item: str) -> Effect[int]:
        raise NotImplementedError

    def stock(self, item: str) -> Effect[int]:
        raise NotImplementedError


class ShopTag(Tag[Shop]): ...


async def test_a_mock_has_the_members_that_it_is_given() -> None:
    async with ManagedRuntime(Layer.mock(ShopTag, price=lambda item: Effect.succeed(len(item)))) as runtime:
        assert await runtime.run(ShopTag.use(lambda shop: shop.price("tea"))) == Success(3)


SHARED: list[tuple[Callable[[Any, Any, Any], Layer[Any, Any]], str]] = [
    (lambda one, two, _: one | two, "a1 a2 r2 r1"),
    (lambda one, two, three: one >> two >> three, "a1 a2 a3 r3 r2 r1"),
    (lambda one, *_: one | one, "a1 r1"),
    (lambda one, *_: one | one.feed_keep(one), "a1 r1"),
    (lambda one, two, _: one >> (one | two), "a1 a2 r2 r1"),
    (lambda one, two, three: (one >> two) | (one >> three), "a1 a2 a3 r3 r2 r1"),
    (lambda one, *_: Layer.suspend(lambda: one) | Layer.suspend(lambda: one), "a1 r1"),
    (lambda one, *_: one.failing_with(OSError) | one, "a1 r1"),
]


@for_each(("compose", "entries"), SHARED)
async def test_a_layer_that_occurs_twice_is_built_once(
    compose: Callable[..., Layer[Any, Any]], entries: str
) -> None:
    journal = Journal()
    await build_and_release(compose(*map(journal.layer, (1, 2, 3))))
    assert journal == entries.split()


async def test_a_layer_that_occurs_twice_keeps_what_its_first_place_feeds_it() -> None:
    doubled = Layer.effect(Two, One.get().map(lambda one: 2 * one))
    copied = Layer.effect(Three, Two.get())
    both = (ONE >> doubled >> copied) | (Layer.succeed(One, 2) >> doubled)
    assert await services(both, Three, Two) == [2, 2]


async def test_a_suspended_layer_is_made_once_when_it_is_first_built() -> None:
    journal = Journal()

    def make() -> Layer[One]:
        journal.append("made")
        return journal.layer(1)

    layer = Layer.suspend(make)
    assert journal == []
    for _ in range(2):
        await build_and_release(layer)
    assert journal == ["made", *["a1", "r1"] * 2]


def numbered(count: int) -> list[Any]:
    return [type(f"Service{number}", (Tag,), {}) for number in range(count)]


def counting(tags: list[Any], number: int) -> Layer[Any]:
    """Give *number*, which is one more than the service before, so that nothing is left out unnoticed."""
    if number == 0:
        return Layer.succeed(tags[0], 0)
    before = tags[number - 1]
    return Layer.effect(tags[number], before.get().map(lambda value: value + 1), needs=[before])


NESTINGS: dict[str, Callable[[list[Layer[Any]]], Layer[Any]]] = {
    "left": lambda layers: reduce(operator.rshift, layers),
    "right": lambda layers: reduce(lambda below, above: above >> below, reversed(layers)),
    "keep": lambda layers: reduce(lambda below, above: below.feed_keep(above), layers),
}


@for_each("nesting", NESTINGS)
async def test_100_layers_that_need_each_other_build_and_one_of_them_is_replaced(nesting: str) -> None:
    tags = numbered(100)
    chain = NESTINGS[nesting]([counting(tags, number) for number in range(100)])
    assert await services(chain, tags[-1]) == [99]
    assert await services(chain.replace(Layer.succeed(tags[50], 1_000)), tags[-1]) == [1_049]


async def test_100_layers_side_by_side_build_and_one_of_them_is_replaced() -> None:
    tags = numbered(100)
    wide = reduce(operator.or_, [Layer.succeed(tag, number) for number, tag in enumerate(tags)])
    replaced = wide.replace(Layer.succeed(tags[50], -1))
    assert await services(replaced, *tags) == [*range(50), -1, *range(51, 100)]


async def test_a_graph_that_is_used_on_many_paths_is_walked_once() -> None:
    tags = numbered(60)
    graphs = [Layer.succeed(tags[0], 0), Layer.succeed(tags[1], 1)]
    for number in range(2, 60):  # as many paths as the 60th Fibonacci number
        value = tags[number - 1].get().map(lambda value: value + 1)
        graphs.append((graphs[-1] | graphs[-2]) >> Layer.effect(tags[number], value))
    assert await services(graphs[-1], tags[-1]) == [59]
