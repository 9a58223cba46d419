"""Mistakes with runtimes: each error names what was given and says what to write."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from chatmemory.effect import (
    Effect,
    EffectInterrupted,
    Layer,
    ManagedRuntime,
    MissingServiceError,
    SuspendedError,
    ThreadRuntime,
)
from tests.effect.wrong_use import (
    Greeter,
    GreeterTag,
    GuestTag,
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

runtime: Any = kernel.ManagedRuntime
asks: Any = GreeterTag.get()

RUNNING = [
    Wrong(
        "runtime, no call", lambda: runtime(greet_layer), TypeError, "function greet_layer", "greet_layer()"
    ),
    Wrong("runtime, a tag", lambda: runtime(GreeterTag), TypeError, "GreeterTag", "Layer.succeed(GreeterTag"),
    Wrong(
        "runtime, a service",
        lambda: runtime(greeter),
        TypeError,
        "not a layer",
        "Layer.succeed(Tag, service)",
    ),
    Wrong(
        "runtime, a runtime",
        lambda: runtime(runtime(layer)),
        TypeError,
        "not a layer",
        "that the runtime was made of",
    ),
    Wrong(
        "thread, no call",
        lambda: kernel.ThreadRuntime(greet_layer),
        TypeError,
        "greet_layer",
        "greet_layer()",
    ),
    Wrong(
        "not opened",
        lambda: runtime(layer).run(one),
        EffectInterrupted,
        "nobody has opened",
        "async with Managed",
    ),
    Wrong(
        "opened twice",
        lambda: use(layer, lambda r: r.__aenter__()),
        RuntimeError,
        "open already",
        "ManagedRuntime(layer)",
    ),
    Wrong(
        "run, no call",
        lambda: use(layer, lambda r: r.run(greets)),
        TypeError,
        "function greets",
        "call it, greets()",
    ),
    Wrong(
        "run, a coroutine",
        lambda: use(layer, lambda r: r.run(answer())),
        TypeError,
        "answer",
        "Effect.promise(",
    ),
    Wrong(
        "run_sync that waits",
        lambda: use(layer, lambda r: r.run_sync(Effect.sleep(1))),
        SuspendedError,
        "waits",
        "await it",
    ),
    Wrong(
        "service, a protocol",
        lambda: use(layer, lambda r: r.service(Greeter)),
        TypeError,
        "Greeter",
        "write GreeterTag",
    ),
    Wrong(
        "service, not there",
        lambda: use(layer, lambda r: r.service(GuestTag)),
        MissingServiceError,
        "GuestTag",
        "stack | Layer.succeed(GuestTag",
    ),
    Wrong(
        "no runtime",
        asks.run,
        MissingServiceError,
        "available: nothing",
        "a runtime whose",
    ),
]


@for_each("wrong", RUNNING)
async def test_the_error_says_what_was_given_and_what_to_write(wrong: Wrong) -> None:
    await check(wrong)


async def test_a_closed_runtime_says_how_it_is_opened_again() -> None:
    async with ManagedRuntime(layer) as opened:
        pass
    await check(
        Wrong("closed", lambda: opened.run(one), EffectInterrupted, "was closed", "enter the runtime again")
    )
    async with opened:
        assert (await opened.run(GreeterTag.get())).unwrap() is greeter


async def test_the_second_of_two_tasks_that_open_one_runtime_at_once_is_refused() -> None:
    opening, may_open = anyio.Event(), anyio.Event()

    @asynccontextmanager
    async def open_slowly() -> AsyncGenerator[str]:
        opening.set()
        await may_open.wait()
        yield "Ann"

    slow = ManagedRuntime(Layer.scoped(GuestTag, open_slowly))

    async def enter() -> None:
        async with slow as opened:
            assert (await opened.run(GuestTag.get())).unwrap() == "Ann"

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(enter)
        await opening.wait()
        await check(Wrong("at once", slow.__aenter__, RuntimeError, "open already", "ManagedRuntime(layer)"))
        may_open.set()


def test_a_thread_that_waits_for_itself_is_told_to_await() -> None:
    with ThreadRuntime(layer) as opened:
        waits = Effect.sync(lambda: opened.run_blocking(one))
        with pytest.raises(RuntimeError, match=r"wait for itself.*await runtime\.run\(effect\)"):
            opened.run_blocking(waits)
    with pytest.raises(EffectInterrupted, match="enter the runtime again"):
        opened.run_blocking(one)
