"""Containers of ``returns``, into an effect and back."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from returns.future import FutureResult, future_safe
from returns.io import IOFailure, IOSuccess
from returns.pipeline import flow, pipe
from returns.pointfree import alt, bind, lash, map_
from returns.result import safe

from chatmemory.effect import Effect, Failure, Success, containers
from tests.for_each import for_each

pytestmark = pytest.mark.anyio


INTO: list[tuple[Effect[Any, Any], Success[Any] | Failure[Any]]] = [
    (Effect.from_result(Success(1)), Success(1)),
    (Effect.from_result(Failure("no")), Failure("no")),
    (containers.from_future_safe(lambda: FutureResult.from_value(1))(), Success(1)),
    (containers.from_future_safe(lambda: FutureResult.from_failure("no"))(), Failure("no")),
]


@for_each(("effect", "outcome"), INTO)
async def test_a_container_becomes_an_effect_which_can_run_again(
    effect: Effect[Any, Any], outcome: object
) -> None:
    assert await effect == await effect == outcome


async def test_an_effect_becomes_a_container() -> None:
    one, no = Effect.succeed(1), Effect.fail("no")
    assert await one.awaitable() == await one.future_result() == IOSuccess(1)
    assert await no.awaitable() == await no.future_result() == IOFailure("no")


@safe(exceptions=(ValueError,))
def parse(text: str, *, base: int = 10) -> int:
    return int(text, base)


@future_safe(exceptions=(KeyError,))
async def look_up(name: str) -> str:
    return {"one": "1", "many": "a lot"}[name]


async def test_functions_under_safe_and_future_safe_bind_into_effects() -> None:
    number = containers.from_safe(parse)
    assert await number("12", base=8) == Success(10)
    assert await Effect.succeed("3").bind(number) == Success(3)
    assert isinstance((await Effect.succeed("three").bind(number)).failure(), ValueError)

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
