"""Every container of ``returns``, into an effect and back."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from returns.context import (
    RequiresContext,
    RequiresContextFutureResult,
    RequiresContextIOResult,
    RequiresContextResult,
)
from returns.future import Future, FutureResult, future_safe
from returns.io import IO, IOFailure, IOResult, IOSuccess
from returns.maybe import Nothing, Some
from returns.pipeline import flow, pipe
from returns.pointfree import alt, bind, lash, map_
from returns.result import safe

from chatmemory.effect import Context, Effect, Failure, Success, Tag, containers

pytestmark = pytest.mark.anyio


class Price(Tag[int]): ...


SHELF = Context.of(Price, 3)


async def test_maybe() -> None:
    assert await containers.from_maybe(Some(1)) == Success(1)
    assert await containers.from_maybe(Nothing) == Failure(None)
    assert containers.to_maybe(Effect.succeed(1)) == Some(1)
    assert containers.to_maybe(Effect.fail("no")) == Nothing


async def test_result() -> None:
    assert await Effect.from_result(Success(1)) == Success(1)
    assert await Effect.from_result(Failure("no")) == Failure("no")
    assert containers.to_result(Effect.fail("no")) == Failure("no")


async def test_io() -> None:
    assert await containers.from_io(lambda: IO(1)) == Success(1)
    assert containers.to_io(Effect.succeed(1)) == IO(1)


async def test_io_result() -> None:
    assert await containers.from_io_result(lambda: IOSuccess(1)) == Success(1)
    assert await containers.from_io_result(lambda: IOFailure("no")) == Failure("no")
    assert containers.to_io_result(Effect.fail("no")) == IOFailure("no")
    assert await Effect.succeed(1).awaitable() == IOSuccess(1)


async def test_future() -> None:
    assert await containers.from_future(lambda: Future.from_value(1)) == Success(1)
    assert await containers.to_future(Effect.succeed(1)) == IO(1)


async def test_future_result() -> None:
    assert await containers.from_future_result(lambda: FutureResult.from_value(1)) == Success(1)
    assert await containers.from_future_result(lambda: FutureResult.from_failure("no")) == Failure("no")
    assert await containers.to_future_result(Effect.fail("no")) == IOFailure("no")
    assert await Effect.succeed(1).future_result() == IOSuccess(1)


async def test_a_future_given_as_a_function_runs_again() -> None:
    effect = containers.from_future_result(lambda: FutureResult.from_value(1))
    assert await effect == await effect == Success(1)


async def test_context() -> None:
    reader: RequiresContext[int, Context[Price]] = RequiresContext(lambda context: context.get(Price))
    assert await containers.from_context(reader).provide(SHELF) == Success(3)
    assert containers.to_context(Price.get())(SHELF) == 3


async def test_context_result() -> None:
    reader: RequiresContextResult[Any, int, Context[Price]] = RequiresContextResult(
        lambda context: Failure(context.get(Price))
    )
    assert await containers.from_context_result(reader).provide(SHELF) == Failure(3)
    assert containers.to_context_result(Price.use(Effect.fail))(SHELF) == Failure(3)


async def test_context_io_result() -> None:
    reader: RequiresContextIOResult[int, Any, Context[Price]] = RequiresContextIOResult(
        lambda context: IOResult.from_value(context.get(Price))
    )
    assert await containers.from_context_io_result(reader).provide(SHELF) == Success(3)
    assert containers.to_context_io_result(Price.get())(SHELF) == IOSuccess(3)


async def test_context_future_result() -> None:
    reader: RequiresContextFutureResult[int, Any, Context[Price]] = RequiresContextFutureResult(
        lambda context: FutureResult.from_value(context.get(Price))
    )
    assert await containers.from_context_future_result(reader).provide(SHELF) == Success(3)
    assert await containers.to_context_future_result(Price.use(Effect.fail))(SHELF) == IOFailure(3)


@safe(exceptions=(ValueError,))
def parse(text: str, *, base: int = 10) -> int:
    return int(text, base)


@future_safe(exceptions=(KeyError,))
async def look_up(name: str) -> str:
    return {"one": "1", "many": "a lot"}[name]


async def test_functions_under_safe_bind_into_effects() -> None:
    number = containers.from_safe(parse)
    assert await number("12", base=8) == Success(10)
    assert await Effect.succeed("3").bind(number) == Success(3)
    assert isinstance((await Effect.succeed("three").bind(number)).failure(), ValueError)


async def test_functions_under_future_safe_bind_into_effects() -> None:
    found = Effect.succeed("one").bind(containers.from_future_safe(look_up))
    assert await found == await found == Success("1")  # a FutureResult could not be awaited twice
    assert await found.bind(containers.from_safe(parse)) == Success(1)
    assert isinstance((await containers.from_future_safe(look_up)("none")).failure(), KeyError)


async def test_a_function_under_safe_runs_when_its_effect_does_and_its_defects_stay_defects() -> None:
    calls: list[str] = []

    @containers.from_safe
    @safe(exceptions=(ValueError,))
    def write(text: str) -> None:
        calls.append(text)
        raise RuntimeError("torn")

    effect = write("a")
    assert calls == []
    with pytest.raises(RuntimeError, match="torn"):
        await effect
    assert calls == ["a"]


async def test_the_pointfree_functions_take_an_effect() -> None:
    count = flow(Effect.succeed("ab"), map_(len), bind(lambda size: Effect.succeed(size + 1)))
    assert await count == Success(3)
    failed = flow(Effect.fail("no"), alt(len), lash(lambda size: Effect.succeed(size + 1)))
    assert await failed == Success(3)
    assert await pipe(map_(len), map_(str))(Effect.succeed("ab")) == Success("2")


def test_the_kernel_does_not_load_them_unasked() -> None:
    code = "import sys, chatmemory.effect.containers; sys.exit('returns.future' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
