"""What the kernel costs beside plain coroutines and beside ``returns``, in one run: ``python benchmarks/kernel.py``.

Times are CPU time of the process, the least of 7 rounds, so that other programs on the machine hardly show.
Targets were set on a machine that awaits a coroutine in 0.063 us; compare the first line.
"""

from __future__ import annotations

import gc
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import reduce
from itertools import pairwise
from operator import or_, rshift
from typing import Any

import anyio
from attrs import frozen
from returns.future import FutureResult

from chatmemory.effect.do import Do
from chatmemory.effect.effect import Effect
from chatmemory.effect.layers.layer import Layer
from chatmemory.effect.outcome import Outcome, Success
from chatmemory.effect.running.runtime import ManagedRuntime
from chatmemory.effect.services.ids import TimeOrderedIds
from chatmemory.effect.tag import Tag
from chatmemory_layers import stacks

ROUNDS = 7
MICROSECONDS = 1e6
MILLISECONDS = 1e3


@frozen
class Line:
    name: str
    figure: float
    unit: str
    beside: str = ""
    target: float | None = None
    measured_over: float = 0.0

    def __str__(self) -> str:
        over = self.figure - self.measured_over
        verdict = (
            ""
            if self.target is None
            else f"{'ok' if over <= self.target else 'MISSED':>7} <= {self.target:g}"
        )
        return f"{self.name:<44}{self.figure:>10.2f} {self.unit:<3}{self.beside:>18}{verdict}"


async def least_seconds(work: Callable[[], Awaitable[object]], *, times: int) -> float:
    """Return the CPU seconds that awaiting *work* once takes."""
    rounds: list[float] = []
    for _ in range(ROUNDS):
        gc.collect()
        start = time.process_time()
        for _ in range(times):
            await work()
        rounds.append((time.process_time() - start) / times)
    return min(rounds)


async def one() -> int:
    return 1


async def one_succeeds() -> Outcome[int, str]:
    return Success(1)


async def five_awaits() -> int:
    total = 0
    for _ in range(5):
        total += await one()
    return total


def effect_one() -> Effect[int, str]:
    return Effect.from_outcome(one_succeeds)


def effect_more(value: int) -> Effect[int, str]:
    return Effect.succeed(value + 1)


def effect_binds(count: int) -> Effect[int, str]:
    effect = effect_one()
    for _ in range(count):
        effect = effect.bind(effect_more)
    return effect


@Effect.gen
async def five_steps(do: Do[str]) -> int:
    total = 0
    for _ in range(5):
        total += await do(effect_one())
    return total


def future_one() -> FutureResult[int, str]:
    return FutureResult(one_succeeds())


def future_more(value: int) -> FutureResult[int, str]:
    return FutureResult.from_value(value + 1)


def future_binds(count: int) -> FutureResult[int, str]:
    future = future_one()
    for _ in range(count):
        future = future.bind(future_more)
    return future


async def effects_and_coroutines() -> list[Line]:
    async def microseconds(work: Callable[[], Awaitable[object]]) -> float:
        return await least_seconds(work, times=2000) * MICROSECONDS

    raw = await microseconds(one)
    raw_5 = await microseconds(five_awaits)
    leaf = await microseconds(effect_one)
    bind_20 = await microseconds(lambda: effect_binds(20))
    future_20 = await microseconds(lambda: future_binds(20))
    gen_5 = await microseconds(five_steps)
    ids = TimeOrderedIds()
    start = time.process_time()
    for _ in range(100_000):
        ids.message_id()
    one_id = (time.process_time() - start) / 100_000 * MICROSECONDS
    return [
        Line("coroutine, awaited", raw, "us"),
        Line("effect, made and awaited (over the coroutine)", leaf, "us", target=1.2, measured_over=raw),
        Line("effect, map x1", await microseconds(lambda: effect_one().map(abs)), "us"),
        Line("effect, bind x5", await microseconds(lambda: effect_binds(5)), "us"),
        Line("effect, bind x20", bind_20, "us", f"{future_20 / bind_20:.1f}x faster", target=15),
        Line("FutureResult, made and awaited", await microseconds(future_one), "us"),
        Line("FutureResult, bind x5", await microseconds(lambda: future_binds(5)), "us"),
        Line("FutureResult, bind x20", future_20, "us"),
        Line("coroutine of 5 awaits", raw_5, "us"),
        Line("Effect.gen of 5 steps", gen_5, "us", f"{gen_5 / raw_5:.1f}x the coroutine"),
        Line("time-ordered id", one_id, "us", target=1),
    ]


@asynccontextmanager
async def open_service(*needs: object) -> AsyncGenerator[object]:
    yield needs


def value(tag: Any, *needs: Any) -> Layer[Any, Any, Any]:
    """Return a layer that only computes."""
    return Layer.effect(tag, Effect.all([need.get() for need in needs]), needs=needs)


def resource(tag: Any, *needs: Any) -> Layer[Any, Any, Any]:
    """Return a layer whose context manager lives in a task of its own."""
    return Layer.scoped(tag, open_service, *needs)


async def layers(kind: Callable[..., Layer[Any, Any, Any]], count: int) -> list[Line]:
    tags: list[Any] = [type(f"Service{number}", (Tag,), {}) for number in range(count)]
    wide = [kind(tag) for tag in tags]
    chain = [wide[0], *(kind(tag, need) for need, tag in pairwise(tags))]
    graphs: dict[str, Callable[[], Layer[Any, Any, Any]]] = {
        "wide, by |": lambda: reduce(or_, wide),
        "chain, by >>": lambda: reduce(rshift, chain),
    }
    lines: list[Line] = []
    for name, make in graphs.items():

        async def build_and_close(make: Callable[[], Layer[Any, Any, Any]] = make) -> None:
            async with ManagedRuntime(make()):
                pass

        milliseconds = await least_seconds(build_and_close, times=10) * MILLISECONDS
        lines.append(Line(f"{count} {kind.__name__}s, {name}", milliseconds, "ms", target=4))
    return lines


async def stack() -> Line:
    async def build_and_close() -> None:
        async with ManagedRuntime(stacks.testing()):
            pass

    milliseconds = await least_seconds(build_and_close, times=10) * MILLISECONDS
    return Line("the stack for tests, made, opened and closed", milliseconds, "ms")


async def main() -> None:
    for line in [
        *await effects_and_coroutines(),
        *await layers(value, 100),
        *await layers(resource, 100),
        await stack(),
    ]:
        print(line)


if __name__ == "__main__":
    anyio.run(main)
