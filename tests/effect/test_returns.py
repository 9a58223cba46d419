"""Effects and the containers of ``returns``."""

from typing import Any

import pytest
from returns.future import FutureResult
from returns.io import IOFailure, IOSuccess
from returns.pipeline import flow, pipe
from returns.pointfree import alt, bind, lash, map_
from returns.result import safe

from chatmemory.effect import Effect, Failure, Success
from tests.for_each import for_each

pytestmark = pytest.mark.anyio


@for_each("outcome", [Success(1), Failure("no")])
async def test_a_result_becomes_an_effect_which_can_run_again(outcome: Any) -> None:
    effect = Effect.from_result(outcome)
    assert await effect == await effect == outcome


async def test_an_effect_becomes_a_future_result() -> None:
    assert await FutureResult(Effect.succeed(1).run()) == IOSuccess(1)
    assert await FutureResult(Effect.fail("no").run()) == IOFailure("no")


@safe(exceptions=(ValueError,))
def parse(text: str) -> int:
    return int(text)


async def test_a_function_under_safe_is_a_step() -> None:
    assert await Effect.succeed("3").bind(lambda text: Effect.from_result(parse(text))) == Success(3)
    failed = await Effect.succeed("three").bind(lambda text: Effect.from_result(parse(text)))
    assert isinstance(failed.failure(), ValueError)


async def test_the_pointfree_functions_take_an_effect() -> None:
    count = flow(Effect.succeed("ab"), map_(len), bind(lambda size: Effect.succeed(size + 1)))
    assert await count == Success(3)
    failed = flow(Effect.fail("no"), alt(len), lash(lambda size: Effect.succeed(size + 1)))
    assert await failed == Success(3)
    assert await pipe(map_(len), map_(str))(Effect.succeed("ab")) == Success("2")
