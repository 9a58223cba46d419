"""Mistakes with effects, do-notation and schedules: each error names what was given and says what to write."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import anyio
import pytest

from chatmemory.effect import Do, Effect, Schedule, SuspendedError
from tests.effect.wrong_use import (
    Greeter,
    GreeterTag,
    Wrong,
    answer,
    check,
    failing,
    greeter,
    kernel,
    layer,
    one,
)
from tests.for_each import for_each

pytestmark = pytest.mark.anyio

fx: Any = kernel.Effect
made: Any = one
failed: Any = failing
plan: Any = kernel.Schedule
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


async def awaited_fiber() -> None:
    await (await made.fork()).unwrap()


async def without_do(name: str) -> str:
    return name


MAKING = [
    Wrong("sync, a value", lambda: fx.sync(1), TypeError, "not 1", "lambda: ..."),
    Wrong("sync, a coroutine function", lambda: fx.sync(answer), TypeError, "answer", "Effect.promise("),
    Wrong("promise, a coroutine", lambda: fx.promise(answer()), TypeError, "a coroutine", "(lambda: ask"),
    Wrong("promise, a plain one", lambda: fx.promise(read), TypeError, "read has returned 1", "Effect.sync("),
    Wrong(
        "attempt, a coroutine",
        lambda: fx.attempt(answer(), OSError, to=str),
        TypeError,
        "coroutine",
        "lambda: ",
    ),
    Wrong(
        "attempt, a plain one", lambda: fx.attempt(read, OSError, to=str), TypeError, "read", "attempt_sync("
    ),
    Wrong(
        "attempt_sync, a coroutine function",
        lambda: fx.attempt_sync(answer, OSError, to=str),
        TypeError,
        "answer is a coroutine function",
        "Effect.attempt(function, OSError, to=...)",
    ),
    Wrong(
        "attempt, an exception",
        lambda: fx.attempt(answer, OSError("full"), to=str),
        TypeError,
        "OSError('full')",
        "write OSError",
    ),
    Wrong("from_outcome, a value", lambda: fx.from_outcome(answer), TypeError, "42", "return Success(value)"),
    Wrong(
        "from_outcome, a plain one", lambda: fx.from_outcome(outcome), TypeError, "outcome has", "`async def`"
    ),
    Wrong("a fiber awaited", awaited_fiber, TypeError, "a fiber is not an effect", "await fiber.join()"),
    Wrong("coroutine, a plain one", lambda: fx.coroutine(read), TypeError, "read", "above an `async def`"),
    Wrong(
        "coroutine, a value", lambda: fx.coroutine(answer)().run(), TypeError, "42", "return Success(value)"
    ),
    Wrong("from_result, a value", lambda: fx.from_result(1).run(), TypeError, "1", "Effect.succeed(value)"),
    Wrong("all, arguments", lambda: fx.all(one, one), TypeError, "one tuple or list", "all((one, another))"),
    Wrong("all, one effect", lambda: fx.all(one), TypeError, "not an effect", "Effect.all([...])"),
    Wrong("all, coroutines", lambda: fx.all([answer()]), TypeError, "answer", "Effect.promise(function)"),
    Wrong("all, functions", lambda: fx.all([program]), TypeError, "function program", "call it, program()"),
    Wrong("all, a word", lambda: fx.all([one], concurrency="all"), TypeError, "'all'", "concurrency=None"),
    Wrong("all, 0 at once", lambda: fx.all([one], concurrency=0), ValueError, "not 0", "None for all"),
    Wrong("race_all, nothing", lambda: fx.race_all([]), ValueError, "no effects", "give it one effect"),
    Wrong("race, a value", lambda: made.race(1), TypeError, "1 is not an effect", "Effect.succeed(value)"),
    Wrong(
        "zip, an outcome", lambda: made.zip(one.run_sync()), TypeError, "Success: 1", "without awaiting it"
    ),
    Wrong("sleep, text", lambda: fx.sleep("1 second"), TypeError, "'1 second'", "0.5 for half a second"),
    Wrong("sleep, a span", lambda: fx.sleep(timedelta(1)), TypeError, "timedelta", "total_seconds()"),
]

GOING_ON = [
    Wrong("bind, an effect", lambda: made.bind(one), TypeError, "awaited and not called", HANDED_OVER),
    Wrong("bind, a value", lambda: made.bind(str), TypeError, "str has returned '1'", "or use map"),
    Wrong("bind, a coroutine", lambda: made.bind(lambda _: answer()), TypeError, "answer", "Effect.promise("),
    Wrong("bind, no function", lambda: made.bind(5), TypeError, "not 5", "lambda value: effect"),
    Wrong("map, no function", lambda: made.map(5), TypeError, "effect.map takes a function", "lambda value:"),
    Wrong(
        "alt, no function", lambda: failed.alt(5), TypeError, "effect.alt takes a function", "lambda error"
    ),
    Wrong("lash, no function", lambda: failed.lash(5), TypeError, "not 5", "lambda error: effect"),
    Wrong("tap, no function", lambda: made.tap(5), TypeError, "not 5", "lambda value: effect"),
    Wrong("tap_error, no function", lambda: failed.tap_error(5), TypeError, "not 5", "lambda error: effect"),
    Wrong(
        "catch_cause, no function", lambda: failed.catch_cause(5), TypeError, "not 5", "lambda cause: effect"
    ),
    Wrong("fork_in, a number", lambda: made.fork_in(5), TypeError, "not 5", "async with Scope() as scope"),
    Wrong(
        "while_input, a truth", lambda: plan.recurs(2).while_input(True), TypeError, "True", "lambda error:"
    ),
    Wrong(
        "until_input, a truth", lambda: plan.recurs(2).until_input(True), TypeError, "True", "lambda error:"
    ),
    Wrong("tap, nothing", lambda: made.tap(lambda _: None), TypeError, "has returned None", "or use map"),
    Wrong("tap_error, nothing", lambda: failed.tap_error(repr), TypeError, "repr has returned", "or use map"),
    Wrong(
        "lash, a value", lambda: failed.lash(len), TypeError, "len has returned 7", "Effect.succeed(value)"
    ),
    Wrong("ensuring, a function", lambda: made.ensuring(program), TypeError, "function program", "program()"),
    Wrong("on_exit, nothing", lambda: made.on_exit(lambda _: None), TypeError, "None", "Effect.succeed("),
    Wrong("timeout, text", lambda: made.timeout("5s", str), TypeError, "'5s'", "0.5 for half a second"),
    Wrong("timeout, an error", lambda: made.timeout(5, "late"), TypeError, "'late'", "lambda: TooLate()"),
    Wrong("retry, a number", lambda: failed.retry(3), TypeError, "not 3", "Schedule.recurs(3)"),
    Wrong("retry, seconds", lambda: failed.retry(0.5), TypeError, "not 0.5", "Schedule.spaced(0.5)"),
    Wrong("retry, no call", lambda: failed.retry(plan.recurs), TypeError, "Schedule.recurs", "call it"),
    Wrong("repeat, a number", lambda: made.repeat(3), TypeError, "not 3", "Schedule.recurs(3)"),
    Wrong("provide, a layer", lambda: made.provide(layer), TypeError, "Layer", "layer.provide_to(effect)"),
    Wrong("provide, a dict", lambda: made.provide({}), TypeError, "not {}", "Context.of(Tag, service)"),
    Wrong(
        "provide, a tag", lambda: made.provide(GreeterTag), TypeError, "GreeterTag", "Context.of(GreeterTag"
    ),
    Wrong(
        "catch, an error", lambda: kernel.catch(OSError(1), str), TypeError, "OSError(1)", "catch(OSError,"
    ),
    Wrong("catch, a name", lambda: kernel.catch("TooLate", str), TypeError, "'TooLate'", "catch(TooLate,"),
    Wrong("catch, an effect", lambda: kernel.catch(str, one), TypeError, "not an effect", "lambda error:"),
    Wrong("catch, a value", lambda: failed.pipe(kernel.catch(str, len)), TypeError, "len", "Effect.succeed("),
    Wrong(
        "catch of a value",
        lambda: kernel.catch(str, read)(5),
        TypeError,
        "5 is not an effect",
        "succeed(value)",
    ),
    Wrong("catch as a method", lambda: failed.catch(str, read), AttributeError, "catch", "pipe(catch("),
    Wrong("then", lambda: made.then(str), AttributeError, "then", "bind(function) goes on"),
    Wrong("a letter too many", lambda: made.mapp(str), AttributeError, "'mapp'", "did you mean 'map'?"),
]

RUNNING = [
    Wrong("unwrap before it runs", lambda: made.unwrap, AttributeError, "unwrap", "await effect.or_raise()"),
    Wrong("its value's part", lambda: made.role, AttributeError, "'role'", "(await effect.or_raise()).role"),
    Wrong("truth of an effect", lambda: bool(made), TypeError, "has not run", "if await effect.or_raise():"),
    Wrong(
        "truth of an outcome", lambda: bool(one.run_sync()), TypeError, "neither true nor", ".value_or(False)"
    ),
    Wrong("a success's part", lambda: made.run_sync().role, AttributeError, "'role'", "outcome.unwrap()"),
    Wrong(
        "a failure's value", lambda: failed.run_sync().value, AttributeError, "'value'", "outcome.failure()"
    ),
    Wrong("a call", made, TypeError, "awaited and not called", "`await effect`"),
    Wrong("run_sync that waits", lambda: Effect.sleep(1).run_sync(), SuspendedError, "waits", "effect.run()"),
    Wrong("asyncio.run", lambda: asyncio.Runner().run(made), ValueError, "coroutine", "give effect.run()"),
    Wrong("start_soon", started_soon, TypeError, "awaited and not called", "start_soon(effect.run)"),
    Wrong(
        "do, a value",
        lambda: does(lambda do: do(3)),
        TypeError,
        "3 is not an effect",
        "Effect.succeed(value)",
    ),
    Wrong("do, a coroutine", lambda: does(lambda do: do(answer())), TypeError, "answer", "Effect.promise("),
    Wrong("do, no call", lambda: does(lambda do: do(program)), TypeError, "function program", "program()"),
    Wrong(
        "do, an outcome",
        lambda: does(lambda do: do(one.run_sync())),
        TypeError,
        "Success",
        "without awaiting",
    ),
    Wrong(
        "do, a tag", lambda: does(lambda do: do(GreeterTag)), TypeError, "GreeterTag", "service(GreeterTag)"
    ),
    Wrong(
        "do.service", lambda: does(lambda do: do.service(Greeter)), TypeError, "Greeter", "write GreeterTag"
    ),
    Wrong("gen without do", lambda: fx.gen(without_do), TypeError, "parameter `do`", "do: Do[E, R], name)"),
    Wrong("gen, a plain one", lambda: fx.gen(read), TypeError, "read is not a coroutine", "an `async def`"),
    Wrong("gen below", lambda: fx.gen(staticmethod(read)), TypeError, "read", "above @Effect.gen, not below"),
]

SCHEDULES = [
    Wrong("recurs, text", lambda: plan.recurs("3"), TypeError, "'3'", "Schedule.recurs(3)"),
    Wrong("up_to, a number", lambda: plan.spaced(1).up_to(3), TypeError, "what 3 is", "up_to(times=3)"),
    Wrong("spaced, text", lambda: plan.spaced("1s"), TypeError, "'1s'", "0.5 for half a second"),
    Wrong("exponential, a span", lambda: plan.exponential(timedelta(1)), TypeError, "timedelta", "total_sec"),
    Wrong("spaced, below 0", lambda: plan.spaced(-1), ValueError, "-1", "must be 0 or more"),
    Wrong("a plan or 3", lambda: Schedule.spaced(1) | 3, TypeError, "not 3", "Schedule.recurs(3)"),
    Wrong("a plan and 3", lambda: Schedule.spaced(1) & 3, TypeError, "not 3", "Schedule.recurs(3)"),
]

TAGS = [
    Wrong("a protocol", lambda: fx.service(Greeter), TypeError, "Greeter", "write GreeterTag"),
    Wrong("a service", lambda: fx.service(greeter), TypeError, "not a tag", "class GreeterTag(Tag[Greeter])"),
    Wrong(
        "a name", lambda: fx.service("GreeterTag"), TypeError, "'GreeterTag' is not a tag", "(Tag[Greeter])"
    ),
    Wrong("a tag that is called", GreeterTag, TypeError, "instantiated", "Layer.succeed(GreeterTag"),
    Wrong("a tag's method", lambda: kernel_tag.greet("Ann"), AttributeError, "'greet'", "service.greet(...)"),
    Wrong("a bare tag", lambda: kernel.Layer.succeed(kernel.Tag, 1), TypeError, "Tag", "class GreeterTag("),
    Wrong("a tag's pattern", lambda: kernel.Context.of(kernel.Tag[str], ""), TypeError, "Tag[str]", "class "),
    Wrong("use, an effect", lambda: layer.provide_to(kernel_tag.use(one)), TypeError, "called", HANDED_OVER),
]

kernel_tag: Any = GreeterTag


@for_each("wrong", [*MAKING, *GOING_ON, *RUNNING, *SCHEDULES, *TAGS])
async def test_the_error_says_what_was_given_and_what_to_write(wrong: Wrong) -> None:
    await check(wrong)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_task_of_asyncio_says_how_an_effect_is_given() -> None:
    await check(
        Wrong("create_task", lambda: asyncio.create_task(made), TypeError, "coroutine", "effect.run()")
    )
    await check(Wrong("a group's", in_group, TypeError, "coroutine", "give effect.run()"))
    waiting = Wrong(
        "wait", lambda: asyncio.wait([made]), AttributeError, "add_done", "create_task(effect.run())"
    )
    await check(waiting)
