"""Managed runtimes: Effect's cases, and running without an event loop."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from chatmemory.effect import (
    Effect,
    EffectFailed,
    EffectInterrupted,
    Failure,
    Interrupt,
    Layer,
    ManagedRuntime,
    Success,
)
from tests.effect.numbered_layers import Journal, One, Two

pytestmark = pytest.mark.anyio

forever: Effect[Any] = Effect.never()


async def test_a_runtime_that_was_left_opens_anew_and_whole() -> None:
    journal = Journal()
    runtime = ManagedRuntime(journal.layer(1))
    for _ in range(2):
        async with runtime:
            assert await runtime.run(One.get()) == Success(1)
    assert journal == ["a1", "r1", "a1", "r1"]
    with pytest.raises(EffectInterrupted, match=r"was closed.*enter the runtime again"):
        await runtime.service(One)
    with pytest.raises(EffectInterrupted):
        await runtime.run(One.get())
    asked_too_late = Effect.from_outcome(lambda: runtime.run(One.get()))
    assert await asked_too_late.exit() == Success(Failure(Interrupt()))


async def test_a_child_that_was_left_opens_anew_with_the_services_of_its_parent() -> None:
    journal = Journal()
    async with ManagedRuntime(journal.layer(1)) as runtime:
        child = runtime.child(journal.layer(2, One))
        for _ in range(2):
            async with child:
                assert await child.run(Two.get()) == Success(2)
    assert journal == ["a1", "a2", "r2", "a2", "r2", "r1"]
    with pytest.raises(EffectInterrupted, match="was closed"):
        await child.__aenter__()


async def test_a_runtime_whose_layer_failed_can_be_opened_again() -> None:
    attempts: list[int] = []

    def acquire() -> Effect[int, str]:
        attempts.append(1)
        return Effect.fail("not yet") if len(attempts) == 1 else Effect.succeed(1)

    runtime = ManagedRuntime(Layer.effect(One, Effect.succeed(None).bind(lambda _: acquire())))
    with pytest.raises(EffectFailed, match="not yet"):
        await runtime.__aenter__()
    async with runtime:
        assert await runtime.run(One.get()) == Success(1)


async def test_a_runtime_can_be_closed_in_another_task_than_it_was_opened_in() -> None:
    journal: list[str] = []

    @asynccontextmanager
    async def opened() -> AsyncGenerator[int]:
        async with anyio.create_task_group():
            yield 1
        journal.append("closed")

    runtime = ManagedRuntime(Layer.scoped(One, opened) >> Layer.effect(Two, One.get()))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(runtime.__aenter__)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(runtime.__aexit__, None, None, None)
    assert journal == ["closed"]


async def test_a_cancelled_run_is_cancelled() -> None:
    async with ManagedRuntime(Layer.succeed(One, 1)) as runtime:
        with anyio.CancelScope() as scope:
            await runtime.run(Effect.sync(scope.cancel).bind(lambda _: forever))
        assert scope.cancelled_caught
