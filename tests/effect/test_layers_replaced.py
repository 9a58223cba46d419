"""``Layer.replace`` puts a fake in the place of every layer that gives its service, however deep, before anything opens."""

from collections.abc import Callable
from typing import Any

import pytest

from chatmemory.effect import (
    Delegating,
    Effect,
    Layer,
    ManagedRuntime,
    MissingServiceError,
    Success,
    Tag,
)
from tests.effect.numbered_layers import Journal, One, Pace, Three, Two, build_and_release, services
from tests.effect.wrong_use import Greeter, GreeterTag, PoliteGreeter
from tests.for_each import for_each

pytestmark = pytest.mark.anyio

FAKE = Layer.succeed(One, 100)
ONE = Layer.succeed(One, 1)


class Source(Tag[list[str]]): ...


def twice_one(*, tag: Any = Two) -> Layer[Any, Any, Any]:
    return Layer.effect(tag, One.get().map(lambda one: 2 * one), needs=[One])


AROUND: dict[str, Callable[[Layer[One]], Layer[Any, Any]]] = {
    "nothing": lambda real: real,
    ">>": lambda real: real >> Layer.effect(One, One.get(), needs=[One]),
    "|": lambda real: Layer.succeed(Three, 3) | real,
    "feed_keep": lambda real: Layer.succeed(Three, 3).feed_keep(real),
    "suspend": lambda real: Layer.suspend(lambda: real),
    "failing_with": lambda real: real.failing_with(OSError),
    "replace": lambda real: real.replace(Layer.succeed(One, 4)),
    "all": lambda real: Layer.suspend(lambda: real.failing_with(OSError)).failing_with(KeyError),
}


@for_each("around", AROUND)
async def test_a_layer_is_replaced_under_whatever_stands_around_it_and_is_not_built(around: str) -> None:
    journal = Journal()
    stack = AROUND[around](journal.layer(1)).feed_keep(twice_one())
    assert await services(stack.replace(FAKE), One, Two) == [100, 200]
    assert journal == []


IN_SECRET = Layer.effect(Two, Three.get())
BUILT: list[tuple[str, Callable[[Any], Layer[Any, Any]], str]] = [
    ("what fed only it is not", lambda of: of(3) >> of(2, Three) >> of(1, Two), ""),
    ("though it may ask for more", lambda of: of(3) >> Layer.effect(One, Three.get()), ""),
    ("what feeds another", lambda of: of(3) >> (of(1, Three) | of(2, Three)), "a3 a2 r2 r3"),
    ("what a secret may ask for", lambda of: of(3) >> (of(1, Three) | IN_SECRET), "a3 r3"),
    ("what is given itself", lambda of: of(3).feed_keep(of(1, Three)), "a3 r3"),
    ("what nobody is known to need", lambda of: of(3) >> (of(1, Two) | of(2)), "a3 a2 r2 r3"),
]


@for_each(("rule", "stack", "entries"), BUILT)
async def test_what_is_still_built_when_a_layer_is_replaced(
    rule: str, stack: Callable[..., Layer[Any, Any]], entries: str
) -> None:
    for fake in (FAKE, Layer.effect(One, Effect.succeed(100))):  # the second one does not say what it needs
        journal = Journal()
        await build_and_release(stack(journal.layer).replace(fake))
        assert journal == entries.split(), rule


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


class LoudGreeter(Delegating[Greeter]):
    def greet(self, name: str) -> Effect[str]:
        return self.inner.greet(name.upper())


async def test_a_wrapper_passes_on_what_it_does_not_define() -> None:
    stack = Layer.succeed(GreeterTag, PoliteGreeter()).replace(LoudGreeter.around(GreeterTag))
    async with ManagedRuntime(stack) as runtime:
        greeter = await runtime.service(GreeterTag)
        assert await greeter.greet("Ann") == await PoliteGreeter().greet("ANN")
        assert await greeter.leave() == Success(None)


async def test_what_the_stack_itself_puts_around_the_layer_stays_outside() -> None:
    journal = Journal()
    minus = Layer.effect(One, One.get().map(lambda one: -one), needs=[One])
    stack = journal.layer(1).failing_with(OSError) >> minus
    assert await services(stack.replace(wrapping(journal)), One) == [-11]
    assert journal == ["a1", "around 1", "r1"]


async def test_a_fake_around_two_layers_is_built_around_each() -> None:
    stack = (ONE >> twice_one()) | (Layer.succeed(One, 2) >> twice_one(tag=Three))
    assert await services(stack.replace(wrapping(Journal())), Two, Three) == [22, 24]


async def test_a_later_replacement_goes_around_the_earlier_one_or_takes_its_place() -> None:
    journal = Journal()
    stack = ONE.feed_keep(twice_one())
    doubling = Layer.effect(One, One.get().map(lambda one: 2 * one), needs=[One])
    assert await services(stack.replace(wrapping(journal)).replace(doubling), One, Two) == [22, 44]
    assert await services(stack.replace(FAKE).replace(doubling), One, Two) == [200, 400]
    assert await services(stack.replace(doubling).replace(FAKE), One, Two) == [100, 200]
    journal.clear()
    await build_and_release(ONE.replace(journal.layer(1)).replace(FAKE))
    assert journal == []


async def test_a_fake_sees_what_its_place_sees_and_other_fakes() -> None:
    hidden = Layer.succeed(Three, 3) >> (ONE >> twice_one())
    fake = Layer.effect(One, Three.get().map(lambda three: 10 * three), needs=[Three])
    assert await services(hidden.replace(fake), Two) == [60]
    assert await services(hidden.replace(fake, Layer.succeed(Three, 4)), Two) == [80]


async def test_a_fake_that_gives_several_services_replaces_each_and_may_be_replaced_inside() -> None:
    journal = Journal()
    stack = journal.layer(1) | journal.layer(2)
    fakes = journal.layer(3) >> (FAKE | Layer.effect(Two, Three.get(), needs=[Three]))
    replaced = stack.replace(fakes).replace(Layer.succeed(Three, 7))
    assert await services(replaced, One, Two) == [100, 7]
    assert journal == []
    assert await services(stack.replace(fakes), One, Two) == [100, 3]
    assert journal == ["a3", "r3"]


async def test_a_fake_is_built_once_wherever_it_stands() -> None:
    journal = Journal()
    fake = journal.layer(1)
    stack = (ONE >> twice_one()) | (Layer.succeed(One, 2) >> twice_one(tag=Three))
    await build_and_release(stack.replace(fake) | fake)
    assert journal == ["a1", "r1"]


async def test_the_original_beside_the_replaced_one_keeps_its_services() -> None:
    journal = Journal()
    stack = journal.layer(1) >> twice_one()
    beside = stack | (stack.replace(FAKE) >> Layer.effect(Three, Two.get(), needs=[Two]))
    assert await services(beside, Two, Three) == [2, 200]
    assert journal == ["a1", "r1"]


async def test_a_child_shares_the_layers_of_its_parent_that_a_fake_does_not_reach() -> None:
    journal = Journal()
    stack = journal.layer(3).feed_keep(journal.layer(1)).feed_keep(twice_one())
    replaced = stack.replace(FAKE)
    async with ManagedRuntime(stack) as real, real.child(replaced) as faked:
        assert await real.service(Two) == 2
        assert await faked.service(Two) == 200
        async with faked.child(replaced) as again:
            assert await again.service(Two) == 200
    assert journal == ["a3", "a1", "r1", "r3"]


async def test_a_layer_that_a_fake_feeds_is_shared_within_one_replacement() -> None:
    journal = Journal()
    replaced = (ONE >> journal.layer(2, One)).replace(FAKE)
    async with ManagedRuntime(replaced) as runtime, runtime.child(replaced):
        assert journal == ["a2"]


async def test_a_layer_that_may_use_a_replaced_reference_is_built_for_each_side() -> None:
    paced: Layer[One] = Layer.effect(
        One, Effect.service(Pace), needs=[]
    )  # it names no reference, as none has to
    inside = (paced >> Layer.effect(Three, One.get(), needs=[One])).replace(Layer.succeed(Pace, 7))
    assert await services((paced >> twice_one()) | inside, Two, Three) == [100, 7]


async def test_a_reference_is_replaced_where_a_layer_gives_it_and_where_its_default_would_do() -> None:
    paced = Layer.effect(One, Effect.service(Pace))
    held = Layer.succeed(Pace, 1) >> Layer.effect(Two, Effect.service(Pace), needs=[Pace])
    async with ManagedRuntime((paced | held).replace(Layer.succeed(Pace, 7))) as runtime:
        assert [await runtime.service(tag) for tag in (One, Two)] == [7, 7]
        assert (await runtime.run(Effect.service(Pace))).unwrap() == 7
    slower = Layer.effect(Pace, Effect.service(Pace).map(lambda pace: pace // 2), needs=[Pace])
    assert await services(paced.replace(slower), One) == [25]
