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
from returns.future import Future, FutureResult
from returns.io import IO, IOFailure, IOResult, IOSuccess
from returns.maybe import Nothing, Some

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


def test_the_kernel_does_not_load_them_unasked() -> None:
    code = "import sys, chatmemory.effect.containers; sys.exit('returns.future' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
