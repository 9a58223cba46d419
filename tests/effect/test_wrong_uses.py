"""Mistakes with effects, do-notation, schedules, tags and runtimes: each error says what was given and what to write."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from typing import Any

import anyio
import pytest

from chatmemory.effect import (
    Do,
    Effect,
    EffectInterrupted,
    Layer,
    ManagedRuntime,
    MissingServiceError,
    Schedule,
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
    failing,
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

fx: Any = kernel.Effect
made: Any = one
failed: Any = failing
plan: Any = kernel.Schedule
runtime: Any = kernel.ManagedRuntime
opened = partial(use, layer)
kernel_tag: Any = GreeterTag
asks: Any = kernel_tag.get()
HANDED_OVER = "where a function is wanted, write `lambda _: effect`"


def read() -> int:
    return 1


async def in_group(*_: object) -> None:
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(made)


async def started_soon() -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(made)


@Effect.gen
async def program(_: Do[Any]) -> int:
    return 1


def does(step: Callable[[Any], Any]) -> Effect[Any, Any, Any]:
    """A program whose only step is what *step* makes of ``do``."""

    @Effect.gen
    async def steps(do: Do[Any, Any]) -> Any:
        return await step(do)

    return steps()


def outcome() -> Any:
    return kernel.Success(1)


MAKING = [
    Wrong(lambda: fx.sync(1), "not 1", "lambda: ..."),
    Wrong(lambda: fx.sync(answer), "answer", "Effect.promise("),
    Wrong(lambda: fx.promise(answer()), "a coroutine", "(lambda: ask"),
    Wrong(lambda: fx.promise(read), "read has returned 1", "Effect.sync("),
    Wrong(lambda: fx.attempt(answer(), OSError, to=str), "coroutine", "lambda: "),
    Wrong(lambda: fx.attempt(read, OSError, to=str), "read", "attempt_sync("),
    Wrong(
        lambda: fx.attempt_sync(answer, OSError, to=str), "answer is a coroutine", "Effect.attempt(function"
    ),
    Wrong(lambda: fx.attempt(answer, OSError("full"), to=str), "OSError('full')", "write OSError"),
    Wrong(lambda: fx.from_outcome(answer), "42", "return Success(value)"),
    Wrong(lambda: fx.from_outcome(outcome), "outcome has", "`async def`"),
    Wrong(lambda: fx.coroutine(read), "read", "above an `async def`"),
    Wrong(lambda: fx.coroutine(answer)().run(), "42", "return Success(value)"),
    Wrong(lambda: fx.from_result(1).run(), "1", "Effect.succeed(value)"),
    Wrong(lambda: fx.all(one), "not an effect", "Effect.all([...])"),
    Wrong(lambda: fx.all([answer()]), "answer", "Effect.promise(function)"),
    Wrong(lambda: fx.all([program]), "function program", "call it, program()"),
    Wrong(lambda: fx.all([one], concurrency="all"), "'all'", "concurrency=None"),
    Wrong(lambda: fx.all([one], concurrency=0), "not 0", "None for all", ValueError),
    Wrong(lambda: fx.sleep("1 second"), "'1 second'", "0.5 for half a second"),
]

GOING_ON = [
    Wrong(lambda: made.bind(one), "awaited and not called", HANDED_OVER),
    Wrong(lambda: made.bind(str), "str has returned '1'", "or use map"),
    Wrong(lambda: made.bind(lambda _: answer()), "answer", "Effect.promise("),
    Wrong(lambda: made.bind(5), "not 5", "lambda value: effect"),
    Wrong(lambda: made.map(5), "effect.map takes a function", "lambda value:"),
    Wrong(lambda: failed.alt(5), "effect.alt takes a function", "lambda error"),
    Wrong(lambda: failed.lash(5), "not 5", "lambda error: effect"),
    Wrong(lambda: made.tap(5), "not 5", "lambda value: effect"),
    Wrong(lambda: failed.tap_error(5), "not 5", "lambda error: effect"),
    Wrong(lambda: made.tap(lambda _: None), "has returned None", "or use map"),
    Wrong(lambda: failed.tap_error(repr), "repr has returned", "or use map"),
    Wrong(lambda: failed.lash(len), "len has returned 7", "Effect.succeed(value)"),
    Wrong(lambda: made.on_exit(lambda _: None), "None", "Effect.succeed("),
    Wrong(lambda: made.on_exit(5), "not 5", "lambda ended: ..."),
    Wrong(lambda: made.timeout("5s", str), "'5s'", "0.5 for half a second"),
    Wrong(lambda: made.timeout(5, "late"), "'late'", "lambda: TooLate()"),
    Wrong(lambda: failed.retry(3), "not 3", "Schedule.recurs(3)"),
    Wrong(lambda: failed.retry(0.5), "not 0.5", "Schedule.exponential(0.1)"),
    Wrong(lambda: made.provide(layer), "Layer", "runtime.run(effect)"),
    Wrong(lambda: made.provide({}), "not {}", "Context.of(Tag, service)"),
    Wrong(lambda: kernel.catch(OSError(1), str), "OSError(1)", "catch(OSError,"),
    Wrong(lambda: kernel.catch("TooLate", str), "'TooLate'", "catch(TooLate,"),
    Wrong(lambda: kernel.catch(str, one), "not an effect", "lambda error:"),
    Wrong(lambda: failed.pipe(kernel.catch(str, len)), "len", "Effect.succeed("),
    Wrong(lambda: kernel.catch(str, read)(5), "5 is not an effect", "succeed(value)"),
]

RUNNING = [
    Wrong(lambda: bool(made), "has not run", "if await effect.or_raise():"),
    Wrong(lambda: bool(one.run_sync()), "neither true nor", ".value_or(False)"),
    Wrong(made, "awaited and not called", "`await effect`"),
    Wrong(lambda: Effect.sleep(1).run_sync(), "waits", "effect.run()", SuspendedError),
    Wrong(lambda: Effect.never().run_sync(), "waits", "effect.run()", SuspendedError),
    Wrong(lambda: asyncio.Runner().run(made), "coroutine", "give effect.run()", ValueError),
    Wrong(started_soon, "awaited and not called", "start_soon(effect.run)"),
    Wrong(lambda: does(lambda do: do(3)), "3 is not an effect", "Effect.succeed(value)"),
    Wrong(lambda: does(lambda do: do(answer())), "answer", "Effect.promise("),
    Wrong(lambda: does(lambda do: do(program)), "function program", "program()"),
    Wrong(lambda: does(lambda do: do(one.run_sync())), "Success", "without awaiting"),
    Wrong(lambda: does(lambda do: do(GreeterTag)), "GreeterTag", "service(GreeterTag)"),
    Wrong(lambda: does(lambda do: do.service(Greeter)), "Greeter", "write GreeterTag"),
]

SCHEDULES = [
    Wrong(lambda: plan.recurs("3"), "'3'", "Schedule.recurs(3)"),
    Wrong(lambda: plan.exponential(timedelta(1)), "timedelta", "0.5 for half a second"),
    Wrong(lambda: Schedule.spaced(1) | 3, "not 3", "Schedule.recurs(3)"),
    Wrong(lambda: Schedule.spaced(1) & 3, "not 3", "Schedule.recurs(3)"),
]

TAGS = [
    Wrong(lambda: fx.service(Greeter), "Greeter", "write GreeterTag"),
    Wrong(lambda: fx.service(greeter), "not a tag", "class GreeterTag(Tag[Greeter])"),
    Wrong(lambda: fx.service("GreeterTag"), "'GreeterTag' is not a tag", "(Tag[Greeter])"),
    Wrong(GreeterTag, "instantiated", "Layer.succeed(GreeterTag"),
    Wrong(lambda: kernel.Layer.succeed(kernel.Tag, 1), "Tag", "class GreeterTag("),
    Wrong(lambda: kernel.Context.of(kernel.Tag[str], ""), "Tag[str]", "class "),
    Wrong(lambda: opened(lambda r: r.run(kernel_tag.use(one))), "called", HANDED_OVER),
]

UNOPENED = ("nobody has opened the runtime", "async with Managed", EffectInterrupted)

RUNTIMES = [
    Wrong(lambda: runtime(greet_layer), "function greet_layer", "greet_layer()"),
    Wrong(lambda: runtime(GreeterTag), "GreeterTag", "Layer.succeed(GreeterTag"),
    Wrong(lambda: runtime(greeter), "not a layer", "Layer.succeed(Tag, service)"),
    Wrong(lambda: kernel.ThreadRuntime(greet_layer), "greet_layer", "greet_layer()"),
    Wrong(lambda: runtime(layer).run(one), *UNOPENED),
    Wrong(lambda: runtime(layer).run_sync(one), *UNOPENED),
    Wrong(lambda: runtime(layer).service(GreeterTag), *UNOPENED),
    Wrong(lambda: opened(lambda r: r.__aenter__()), "open already", "ManagedRuntime(layer)", RuntimeError),
    Wrong(lambda: opened(lambda r: r.run(greets)), "function greets", "call it, greets()"),
    Wrong(lambda: opened(lambda r: r.run(answer())), "answer", "Effect.promise("),
    Wrong(lambda: opened(lambda r: r.run_sync(Effect.sleep(1))), "waits", "await it", SuspendedError),
    Wrong(lambda: opened(lambda r: r.service(Greeter)), "Greeter", "write GreeterTag"),
    Wrong(
        lambda: opened(lambda r: r.service(GuestTag)),
        "GuestTag",
        "stack | Layer.succeed(",
        MissingServiceError,
    ),
    Wrong(asks.run, "available: nothing", "a runtime whose", MissingServiceError),
]


@for_each("mistake", [*MAKING, *GOING_ON, *RUNNING, *SCHEDULES, *TAGS, *RUNTIMES])
async def test_the_error_says_what_was_given_and_what_to_write(mistake: Wrong) -> None:
    await check(mistake)


async def test_the_second_of_two_tasks_that_open_one_runtime_at_once_is_refused() -> None:
    opening, may_open = anyio.Event(), anyio.Event()

    @asynccontextmanager
    async def open_slowly() -> AsyncGenerator[str]:
        opening.set()
        await may_open.wait()
        yield "Ann"

    slow = ManagedRuntime(Layer.scoped(GuestTag, open_slowly))

    async def enter() -> None:
        async with slow as entered:
            assert (await entered.run(GuestTag.get())).unwrap() == "Ann"

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(enter)
        await opening.wait()
        await check(Wrong(slow.__aenter__, "open already", "ManagedRuntime(layer)", RuntimeError))
        may_open.set()


def test_a_thread_that_waits_for_itself_is_told_to_await() -> None:
    with ThreadRuntime(layer) as there:
        assert there.run_blocking(Effect.from_outcome(lambda: there.run(one))).unwrap() == 1
        waits = Effect.sync(lambda: there.run_blocking(one))
        with pytest.raises(RuntimeError, match=r"wait for itself.*await runtime\.run\(effect\)"):
            there.run_blocking(waits)
    with pytest.raises(EffectInterrupted, match="enter the runtime again"):
        there.run_blocking(one)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_task_of_asyncio_says_how_an_effect_is_given() -> None:
    await check(Wrong(lambda: asyncio.create_task(made), "coroutine", "effect.run()"))
    await check(Wrong(in_group, "coroutine", "give effect.run()"))
