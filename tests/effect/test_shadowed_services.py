"""A layer put beside a stack that goes on with its own one is an error: it would be ignored without a word."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from numbered_layers import Journal, One, Three, Two, build_and_release

from chatmemory.effect import Effect, Layer, ManagedRuntime, ShadowedServiceError
from tests.for_each import for_each

pytestmark = pytest.mark.anyio

FAKE = Layer.succeed(One, 100)
UNKNOWN = Layer.effect(Two, One.get())

STACKS: dict[str, Callable[[Journal], Layer[Any, Any]]] = {
    "kept": lambda journal: journal.layer(1).feed_keep(journal.layer(2, One)),
    "fed beside itself": lambda journal: (one := journal.layer(1)) | (one >> journal.layer(2, One)),
    "to a layer of unknown needs": lambda journal: journal.layer(1).feed_keep(UNKNOWN),
    "recovered": lambda journal: journal.layer(1).feed_keep(journal.layer(2, One)).or_else(Layer.fail),
    "suspended": lambda journal: Layer.suspend(lambda: journal.layer(1).feed_keep(journal.layer(2, One))),
    "tapped": lambda journal: (
        journal.layer(1).feed_keep(journal.layer(2, One)).tap(lambda _: Effect.succeed(1))
    ),
}


@for_each("stack", STACKS)
async def test_a_merge_that_comes_too_late_for_a_layer_on_its_left_is_reported(stack: str) -> None:
    journal = Journal()
    with pytest.raises(ShadowedServiceError) as caught:
        await build_and_release(STACKS[stack](journal) | FAKE)
    assert str(caught.value) == (
        "One on the right of | does not reach layer Two on the left, which is fed with another One: "
        "write stack.replace(fake), not stack | fake"
    )
    assert journal == []


@for_each("stack", STACKS)
@for_each("feed", [Layer.__rshift__, Layer.feed_keep])
async def test_a_feed_that_nobody_takes_because_they_have_their_own_is_reported(
    stack: str, feed: Callable[[Layer[Any, Any], Layer[Any, Any]], Layer[Any, Any]]
) -> None:
    journal = Journal()
    with pytest.raises(ShadowedServiceError) as caught:
        await build_and_release(feed(FAKE, STACKS[stack](journal)))
    assert str(caught.value) == (
        "One is fed to layers that have a One of their own and take none from outside: "
        "to replace theirs, write stack.replace(fake), not fake >> stack; otherwise leave it out"
    )
    assert journal == []


async def test_a_bystander_of_unknown_needs_hides_no_stack_that_uses_its_own_service() -> None:
    journal = Journal()
    bystander = Layer.effect(Three, Effect.succeed(3))
    with pytest.raises(ShadowedServiceError):
        await build_and_release(FAKE >> (bystander | journal.layer(1).feed_keep(journal.layer(2, One))))
    await build_and_release(FAKE >> (UNKNOWN | journal.layer(1)))
    assert journal == ["a1", "r1"]


async def test_a_merge_over_what_has_fed_nobody_is_right_biased() -> None:
    async with ManagedRuntime(Layer.succeed(One, 1) | Layer.succeed(Two, 2) | FAKE) as runtime:
        assert await runtime.service(One) == 100


async def test_a_merge_over_what_only_the_right_side_takes_is_no_shadow() -> None:
    journal = Journal()
    one = journal.layer(1)
    async with ManagedRuntime(one | (one >> Layer.effect(One, One.get(), needs=[One]))) as runtime:
        assert await runtime.service(One) == 1


async def test_a_merge_over_the_same_layer_is_no_shadow() -> None:
    journal = Journal()
    one = journal.layer(1)
    await build_and_release(one.feed_keep(journal.layer(2, One)) | one.fresh())
    assert journal == ["a1", "a2", "a1", "r1", "r2", "r1"]


@for_each(
    "consumer",
    [
        Layer.effect(One, One.get(), needs=[One]),
        Layer.effect(One, One.get()),
        Layer.succeed(Three, 3).passthrough(One),
        Layer.effect(One, One.get(), needs=[One]).feed_keep(UNKNOWN),
    ],
)
async def test_a_feed_of_what_the_consumer_takes_and_gives_is_no_shadow(
    consumer: Layer[Any, Any, Any],
) -> None:
    async with ManagedRuntime(FAKE.feed_keep(consumer)) as runtime:
        assert await runtime.service(One) == 100
