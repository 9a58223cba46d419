"""Mistakes with layers and runtimes: each error names what was given and says what to write."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
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
    UnknownReplacementError,
)
from chatmemory.effect.layers.mock import UnimplementedError
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

make: Any = kernel.Layer
succeed: Any = partial(make.succeed, GreeterTag)
sync: Any = partial(make.sync, GreeterTag)
effect: Any = partial(make.effect, GreeterTag)
scoped: Any = partial(make.scoped, GreeterTag)
mock: Any = partial(make.mock, GreeterTag)
given: Any = layer
wire: Any = kernel.wire
runtime: Any = kernel.ManagedRuntime
guest = Layer.succeed(GuestTag, "Ann")
NEEDS_FUNCTION = "not an asynchronous context manager"


class SilentGreeter:
    """A fake that lacks a method, and has misspelt another one."""

    def gret(self, name: str) -> Effect[str]:
        return Effect.succeed(name)


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


async def released_by_nothing() -> None:
    release: Any = lambda *_: None  # noqa: E731  short
    await use(Layer.acquire_release(GuestTag, Effect.succeed("Ann"), release))


needs_greeter = Layer.scoped(GuestTag, guest_of, GreeterTag)
circle = [Layer.scoped(GreeterTag, opens, GuestTag), needs_greeter]

MAKING = [
    Wrong(
        "succeed, the wrong way round",
        lambda: make.succeed(greeter, GreeterTag),
        TypeError,
        "not a tag",
        "class ",
    ),
    Wrong(
        "succeed, a protocol",
        lambda: make.succeed(Greeter, greeter),
        TypeError,
        "Greeter",
        "write GreeterTag",
    ),
    Wrong("succeed, a class", lambda: succeed(PoliteGreeter), TypeError, "class", "PoliteGreeter("),
    Wrong("succeed, a misfit", lambda: succeed(5), TypeError, "lacks greet, leave", "Layer.mock("),
    Wrong("succeed, a half", lambda: succeed(SilentGreeter()), TypeError, "it has 'gret'", "add "),
    Wrong("succeed, an effect", lambda: succeed(one), TypeError, "an effect", "Layer.effect("),
    Wrong("sync, a service", lambda: sync(greeter), TypeError, "takes a function", "lambda: ..."),
    Wrong("sync, a coroutine function", lambda: sync(answer), TypeError, "answer", "promise("),
    Wrong("sync, a misfit", lambda: use(sync(dict)), TypeError, "lacks greet", "Layer.mock("),
    Wrong("effect, a service", lambda: effect(greeter), TypeError, "not an effect", "succeed(value)"),
    Wrong("effect, no call", lambda: effect(greet_layer), TypeError, "greet_layer", "greet_layer()"),
    Wrong("effect, one need", lambda: effect(one, needs=GuestTag), TypeError, "list", "[GuestTag]"),
    Wrong("effect, a misfit", lambda: use(effect(one)), TypeError, "1 is no Greeter", "Layer.mock("),
    Wrong("scoped, a service", lambda: scoped(greeter), TypeError, "a function", "open_service"),
    Wrong("scoped, opened", lambda: scoped(opens()), TypeError, "a function", "open_service"),
    Wrong("scoped, a plain one", lambda: use(scoped(PoliteGreeter)), TypeError, NEEDS_FUNCTION, "@async"),
    Wrong("scoped, a generator", lambda: use(scoped(yields)), TypeError, NEEDS_FUNCTION, "@async"),
    Wrong("scoped, a coroutine", lambda: use(scoped(answer)), TypeError, "answer", "@async"),
    Wrong("scoped, no async", lambda: use(scoped(opens_plainly)), TypeError, "Generator", "@async"),
    Wrong("scoped, a misfit", lambda: use(scoped(opens_silent)), TypeError, "lacks greet", "Layer.mock("),
    Wrong("release, nothing", released_by_nothing, TypeError, "None", "Effect.succeed("),
    Wrong("mock, misspelt", lambda: mock(gret=len), TypeError, "'gret'", "did you mean 'greet'?"),
    Wrong(
        "mock, a value",
        lambda: mock(greet="hi"),
        TypeError,
        "Greeter.greet is a method",
        "greet=lambda *_: Effect.succeed('hi')",
    ),
    Wrong(
        "mock, a plain value",
        lambda: use(mock(greet=len), lambda r: r.run(GreeterTag.use(greets))),
        TypeError,
        "greets has returned 3",
        "Effect.succeed(value)",
    ),
    Wrong(
        "mock, another method",
        lambda: use(mock(), lambda r: r.run(GreeterTag.use(greets))),
        UnimplementedError,
        "GreeterTag.greet",
        "give it to Layer.mock",
    ),
    Wrong("suspend, a layer", lambda: make.suspend(layer), TypeError, "takes a function", "lambda: layer"),
]

COMPOSING = [
    Wrong("| a service", lambda: given | greeter, TypeError, "not a layer", "Layer.succeed(Tag, service)"),
    Wrong("| a tag", lambda: given | GuestTag, TypeError, "GuestTag", "Layer.succeed(GuestTag, service)"),
    Wrong("| no call", lambda: given | greet_layer, TypeError, "function greet_layer", "greet_layer()"),
    Wrong(">> an effect", lambda: given >> one, TypeError, "an effect", "layer.provide_to(effect)"),
    Wrong(
        "feed_keep, a class",
        lambda: given.feed_keep(PoliteGreeter),
        TypeError,
        "PoliteGreeter",
        "Layer.succeed(",
    ),
    Wrong(
        "replace, a fake",
        lambda: given.replace(greeter),
        TypeError,
        "not a layer",
        "Layer.succeed(Tag, service)",
    ),
    Wrong(
        "replace, nobody's",
        lambda: use(given.replace(guest)),
        UnknownReplacementError,
        "GuestTag",
        "stack | layer",
    ),
    Wrong("provide_to, no call", lambda: given.provide_to(greet_layer), TypeError, "greet_layer", "call it"),
    Wrong("provide", lambda: given.provide(one), AttributeError, "'provide'", "layer.provide_to(effect)"),
    Wrong("build", lambda: given.build, AttributeError, "'build'", "async with ManagedRuntime(layer)"),
    Wrong("wire, a list", lambda: wire([layer, guest]), TypeError, "not a layer", "wire(*layers)"),
    Wrong(
        "wire, one fake",
        lambda: wire(layer, override=layer),
        TypeError,
        "a list of layers",
        "override=[layer]",
    ),
    Wrong("wire, one tag", lambda: wire(layer, expose=GreeterTag), TypeError, "list", "expose=[GreeterTag]"),
    Wrong("wire, a name", lambda: wire(layer, expose=["Greeter"]), TypeError, "'Greeter'", "(Tag[Greeter])"),
    Wrong(
        "wire, twice",
        lambda: wire(layer, Layer.succeed(GreeterTag, greeter)),
        AmbiguousServiceError,
        "both",
        "override=[",
    ),
    Wrong(
        "wire, a need",
        lambda: wire(needs_greeter),
        MissingServiceError,
        "by layer GuestTag",
        "(GreeterTag, service)",
    ),
    Wrong("wire, a circle", lambda: wire(*circle), LayerCycleError, "GuestTag -> ", "by a third layer"),
    Wrong("a need", lambda: use(needs_greeter), MissingServiceError, "GreeterTag, needed by", ">> the layer"),
    Wrong(
        "two fakes",
        lambda: use(given.replace(layer, succeed(greeter))),
        AmbiguousServiceError,
        "GreeterTag",
        "leave one",
    ),
]


@for_each("wrong", [*MAKING, *COMPOSING])
async def test_the_error_says_what_was_given_and_what_to_write(wrong: Wrong) -> None:
    await check(wrong)


async def test_a_resource_that_does_not_fit_is_closed() -> None:
    closed: list[bool] = []

    @asynccontextmanager
    async def open_silent() -> AsyncGenerator[Any]:
        yield SilentGreeter()
        closed.append(True)

    with pytest.raises(TypeError, match="it lacks greet"):
        await use(Layer.scoped(GreeterTag, open_silent))
    assert closed == [True]
