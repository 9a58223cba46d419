"""Layers that cannot work are refused before anything is acquired, and wrong arguments where they are given."""

from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import Any

import pytest

from chatmemory.effect import (
    AmbiguousServiceError,
    Effect,
    Layer,
    LayerCycleError,
    MissingServiceError,
    ShadowedServiceError,
    UnknownReplacementError,
)
from chatmemory.effect.layers.layer import UnimplementedError
from tests.effect.numbered_layers import Journal, One, Three, Two, build_and_release, services
from tests.effect.wrong_use import (
    Greeter,
    GreeterTag,
    GuestTag,
    PoliteGreeter,
    Wrong,
    answer,
    check,
    greet_layer,
    greeter,
    greets,
    kernel,
    layer,
    one,
    use,
)
from tests.for_each import for_each

pytestmark = pytest.mark.anyio

FAKE = Layer.succeed(One, 100)
ONE, TWO = Layer.succeed(One, 1), Layer.succeed(Two, 2)
UNKNOWN = Layer.effect(Two, One.get())
Make = Callable[..., Layer[Any, Any]]


def in_a_circle(of: Make) -> Layer[Any, Any]:
    first: Layer[Any] = Layer.suspend(lambda: second >> of(1))
    second: Layer[Any] = Layer.suspend(lambda: first >> of(2))
    return of(3) | first


def of_itself(_: Make) -> Layer[Any, Any]:
    layer: Layer[Any, Any] = Layer.suspend(lambda: layer).failing_with(OSError)
    return layer


MISSING, CYCLE = MissingServiceError, LayerCycleError
UNKNOWN_FAKE, AMBIGUOUS = UnknownReplacementError, AmbiguousServiceError
NOT_REPLACED = (
    "^One cannot be replaced, because nothing here gives it; what is given here: Three, Two; "
    r"to add a service, write stack \| layer$"
)
WRAPS = r"needed by layer One, which goes around another one if it says so by needs=\[\.\.\.\]"
ASKS_MORE = Layer.effect(One, Three.get(), needs=[Three])
REFUSED: list[tuple[type[Exception], str, Make]] = [
    (MISSING, r": Three, needed by layer Two \(available: One\)", lambda of: of(1) >> of(2, One, Three)),
    (MISSING, "Three, needed by layer Two", lambda of: of(1) >> of(2, Three).failing_with(OSError)),
    (MISSING, "^Service not found: One, needed by layer Two", lambda _: UNKNOWN),
    (MISSING, "Three, needed by layer One", lambda of: of(2).feed_keep(of(1)).replace(ASKS_MORE)),
    (MISSING, WRAPS, lambda _: ONE.replace(Layer.effect(One, One.get()))),
    (CYCLE, "dependency cycle: suspend", in_a_circle),
    (CYCLE, "dependency cycle: suspend", of_itself),
    (UNKNOWN_FAKE, NOT_REPLACED, lambda of: (of(3) >> of(2, Three)).replace(FAKE)),
    (UNKNOWN_FAKE, "One cannot be replaced", lambda of: of(2).replace(TWO | FAKE)),
    (AMBIGUOUS, "two replacements give One", lambda of: of(1).replace(FAKE, ONE)),
]


@for_each(("error", "text", "make"), REFUSED)
async def test_a_graph_that_cannot_work_is_refused_before_anything_is_acquired(
    error: type[Exception], text: str, make: Make
) -> None:
    journal = Journal()
    graph = make(journal.layer)
    with pytest.raises(error, match=text):
        await build_and_release(graph)
    assert journal == []


STACKS: list[Make] = [
    lambda of: of(1).feed_keep(of(2, One)),
    lambda of: (one := of(1)) | (one >> of(2, One)),
    lambda of: of(1).feed_keep(UNKNOWN),
    lambda of: of(1).feed_keep(of(2, One)).failing_with(OSError),
    lambda of: Layer.suspend(lambda: of(1).feed_keep(of(2, One))),
]
LATE = (
    "One on the right of | does not reach layer Two on the left, which is fed with another One: "
    "write stack.replace(fake), not stack | fake"
)
UNTAKEN = (
    "One is fed to layers that have a One of their own and take none from outside: "
    "to replace theirs, write stack.replace(fake), not fake >> stack; otherwise leave it out"
)


@for_each("stack", STACKS)
async def test_a_fake_that_a_stack_would_ignore_is_refused_before_anything_is_acquired(stack: Make) -> None:
    journal = Journal()
    for ignored, text in (
        (stack(journal.layer) | FAKE, LATE),
        (FAKE >> stack(journal.layer), UNTAKEN),
        (FAKE.feed_keep(stack(journal.layer)), UNTAKEN),
    ):
        with pytest.raises(ShadowedServiceError) as caught:
            await build_and_release(ignored)
        assert str(caught.value) == text
    assert journal == []


async def test_a_bystander_of_unknown_needs_hides_no_stack_that_uses_its_own_service() -> None:
    journal = Journal()
    bystander = Layer.effect(Three, Effect.succeed(3))
    with pytest.raises(ShadowedServiceError):
        await build_and_release(FAKE >> (bystander | journal.layer(1).feed_keep(journal.layer(2, One))))
    await build_and_release(FAKE >> (UNKNOWN | journal.layer(1)))
    assert journal == ["a1", "r1"]


ASKING = Layer.effect(One, One.get(), needs=[One])
THREE_OF_ONE = Layer.effect(Three, One.get(), needs=[One])
UNSHADOWED: list[tuple[Layer[Any, Any, Any], int]] = [
    (ONE | TWO | FAKE, 100),  # One has fed nobody
    (ONE | (ONE >> ASKING), 1),  # only the right side takes it
    (FAKE.feed_keep(ASKING), 100),
    (FAKE.feed_keep(Layer.effect(One, One.get())), 100),
    (FAKE.feed_keep(ASKING.feed_keep(UNKNOWN)), 100),
    # A part takes it, although others take the one beside it.
    (FAKE >> (Layer.effect(Two, One.get(), needs=[One]) | ONE.feed_keep(THREE_OF_ONE)), 1),
]


@for_each(("graph", "value"), UNSHADOWED)
async def test_a_service_that_is_given_twice_and_ignored_by_nobody_is_no_mistake(
    graph: Layer[Any, Any], value: int
) -> None:
    assert await services(graph, One) == [value]


async def test_the_same_layer_with_another_dependency_is_no_shadow_of_itself() -> None:
    journal = Journal()
    stack = ONE >> journal.layer(2, One)
    await build_and_release(stack.feed_keep(journal.layer(3, Two)) | stack.replace(FAKE))
    assert sorted(journal) == ["a2", "a2", "a3", "r2", "r2", "r3"]


make: Any = kernel.Layer
succeed: Any = partial(make.succeed, GreeterTag)
sync: Any = partial(make.sync, GreeterTag)
effect: Any = partial(make.effect, GreeterTag)
scoped: Any = partial(make.scoped, GreeterTag)
mock: Any = partial(make.mock, GreeterTag)
given: Any = layer
guest = Layer.succeed(GuestTag, "Ann")
NEEDS_FUNCTION = "not an asynchronous context manager"


class SilentGreeter:
    """A fake that lacks a method."""

    def gret(self, name: str) -> Effect[str]:
        return Effect.succeed(name)


def ask_greeter(runtime: Any) -> Any:
    return runtime.service(GreeterTag)


async def yields() -> AsyncGenerator[Greeter]:
    yield greeter


@contextmanager
def opens_plainly() -> Generator[Greeter]:
    yield greeter


@asynccontextmanager
async def opens(_: object = None) -> AsyncGenerator[Greeter]:
    yield greeter


@asynccontextmanager
async def opens_silent() -> AsyncGenerator[Any]:
    yield SilentGreeter()


@asynccontextmanager
async def guest_of(_: Greeter) -> AsyncGenerator[str]:
    yield "Ann"


async def greeted(layer: Any) -> None:
    await use(layer, lambda r: r.run(GreeterTag.use(greets)))


needs_greeter = Layer.scoped(GuestTag, guest_of, GreeterTag)

MAKING = [
    Wrong(lambda: make.succeed(greeter, GreeterTag), "not a tag", "class "),
    Wrong(lambda: make.succeed(Greeter, greeter), "Greeter", "write GreeterTag"),
    Wrong(lambda: succeed(PoliteGreeter), "class", "PoliteGreeter("),
    Wrong(lambda: succeed(5), "lacks greet, leave", "Layer.mock("),
    Wrong(lambda: succeed(SilentGreeter()), "lacks greet, leave", "add "),
    Wrong(lambda: succeed(one), "an effect", "Layer.effect("),
    Wrong(lambda: sync(greeter), "takes a function", "lambda: ..."),
    Wrong(lambda: sync(answer), "answer", "promise("),
    Wrong(lambda: use(sync(dict)), "lacks greet", "Layer.mock("),
    Wrong(lambda: effect(greeter), "not an effect", "succeed(value)"),
    Wrong(lambda: effect(greet_layer), "greet_layer", "greet_layer()"),
    Wrong(lambda: effect(one, needs=GuestTag), "list", "[GuestTag]"),
    Wrong(lambda: use(effect(one)), "1 is no Greeter", "Layer.mock("),
    Wrong(lambda: scoped(greeter), "a function", "open_service"),
    Wrong(lambda: scoped(opens()), "a function", "open_service"),
    Wrong(lambda: use(scoped(PoliteGreeter)), NEEDS_FUNCTION, "@async"),
    Wrong(lambda: use(scoped(yields)), NEEDS_FUNCTION, "@async"),
    Wrong(lambda: use(scoped(answer)), "answer", "@async"),
    Wrong(lambda: use(scoped(opens_plainly)), "Generator", "@async"),
    Wrong(lambda: use(scoped(opens_silent)), "lacks greet", "Layer.mock("),
    Wrong(lambda: mock(gret=len), "'gret'", "did you mean 'greet'?"),
    Wrong(lambda: mock(greet="hi"), "Greeter.greet is a method", "greet=lambda *_: Effect.succeed('hi')"),
    Wrong(lambda: greeted(mock(greet=len)), "greets has returned 3", "Effect.succeed(value)"),
    Wrong(lambda: greeted(mock()), "GreeterTag.greet", "give it to Layer.mock", UnimplementedError),
    Wrong(lambda: make.suspend(layer), "takes a function", "lambda: layer"),
]

COMPOSING = [
    Wrong(lambda: given | greeter, "not a layer", "Layer.succeed(Tag, service)"),
    Wrong(lambda: given | GuestTag, "GuestTag", "Layer.succeed(GuestTag, service)"),
    Wrong(lambda: given | greet_layer, "function greet_layer", "greet_layer()"),
    Wrong(lambda: given >> one, "an effect", "runtime.run(effect)"),
    Wrong(lambda: given.feed_keep(PoliteGreeter), "PoliteGreeter", "Layer.succeed("),
    Wrong(lambda: given.replace(greeter), "not a layer", "Layer.succeed(Tag, service)"),
    Wrong(lambda: use(given.replace(guest)), "GuestTag", "stack | layer", UNKNOWN_FAKE),
    Wrong(lambda: use(needs_greeter), "GreeterTag, needed by", ">> the layer", MISSING),
    Wrong(
        lambda: use(given >> Layer.succeed(One, 1) >> needs_greeter),
        "GreeterTag",
        "layer.feed_keep(consumer)",
        MISSING,
    ),
    Wrong(
        lambda: use(given >> needs_greeter, ask_greeter), "GreeterTag", "layer.feed_keep(consumer)", MISSING
    ),
    Wrong(lambda: use(given.replace(layer, succeed(greeter))), "GreeterTag", "leave one", AMBIGUOUS),
]


@for_each("mistake", [*MAKING, *COMPOSING])
async def test_the_error_says_what_was_given_and_what_to_write(mistake: Wrong) -> None:
    await check(mistake)


async def test_a_resource_that_does_not_fit_is_closed() -> None:
    closed: list[bool] = []

    @asynccontextmanager
    async def open_silent() -> AsyncGenerator[Any]:
        yield SilentGreeter()
        closed.append(True)

    with pytest.raises(TypeError, match="it lacks greet"):
        await use(Layer.scoped(GreeterTag, open_silent))
    assert closed == [True]
