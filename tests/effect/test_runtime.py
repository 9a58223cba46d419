"""Managed runtimes: Effect's cases, and running without an event loop."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import pytest
from numbered_layers import Journal, One, Two

from chatmemory.effect import (
    Cause,
    Effect,
    EffectFailed,
    EffectInterrupted,
    Failure,
    Interrupt,
    Layer,
    ManagedRuntime,
    MemoMap,
    MissingServiceError,
    Success,
    SuspendedError,
)


async def sleep_forever() -> Success[None]:
    await anyio.sleep_forever()
    raise AssertionError


forever = Effect.from_outcome(sleep_forever)


@pytest.mark.anyio
async def test_memoizes_the_layer_build() -> None:
    journal = Journal()
    async with ManagedRuntime(journal.layer(1)) as runtime:
        await runtime.run(One.get())
        await runtime.run(One.get())
    assert journal == ["a1", "r1"]


@pytest.mark.anyio
async def test_provides_context() -> None:
    async with ManagedRuntime(Layer.succeed(One, 1)) as runtime:
        assert await runtime.run(One.get()) == Success(1)
        assert await runtime.service(One) == 1


@pytest.mark.anyio
async def test_allows_sharing_a_memo_map() -> None:
    journal = Journal()
    layer = journal.layer(1)
    memo = MemoMap()
    async with ManagedRuntime(layer, memo), ManagedRuntime(layer >> journal.layer(2), memo):
        assert journal == ["a1", "a2"]
    assert journal == ["a1", "a2", "r2", "r1"]


@pytest.mark.anyio
async def test_is_closed_after_async_with() -> None:
    journal = Journal()
    async with ManagedRuntime(journal.layer(1)) as runtime:
        assert journal == ["a1"]
    assert journal == ["a1", "r1"]
    with pytest.raises(EffectInterrupted):
        await runtime.run(One.get())
    asked_too_late = Effect.from_outcome(lambda: runtime.run(One.get()))
    assert await asked_too_late.exit() == Success(Failure(Cause((Interrupt(),))))


@pytest.mark.anyio
async def test_a_runtime_that_nobody_opened_says_how_it_is_opened() -> None:
    journal = Journal()
    runtime = ManagedRuntime(journal.layer(1))
    with pytest.raises(EffectInterrupted, match="nobody has opened the runtime: async with "):
        await runtime.service(One)
    with pytest.raises(EffectInterrupted, match="nobody has opened"):
        runtime.run_sync(Effect.succeed(1))
    async with runtime:
        assert journal == ["a1"]
    with pytest.raises(EffectInterrupted, match="was closed"):
        await runtime.service(One)


@pytest.mark.anyio
async def test_a_runtime_that_was_left_opens_anew_and_whole() -> None:
    journal = Journal()
    runtime = ManagedRuntime(journal.layer(1))
    for _ in range(2):
        async with runtime:
            assert await runtime.run(One.get()) == Success(1)
    assert journal == ["a1", "r1", "a1", "r1"]
    with pytest.raises(EffectInterrupted, match="was closed"):
        await runtime.service(One)


@pytest.mark.anyio
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


@pytest.mark.anyio
async def test_a_runtime_that_is_open_refuses_to_be_opened_again() -> None:
    journal = Journal()
    runtime = ManagedRuntime(journal.layer(1))
    async with runtime:
        with pytest.raises(RuntimeError, match=r"open already.*ManagedRuntime\(layer\)"):
            await runtime.__aenter__()
        assert await runtime.run(One.get()) == Success(1)
    assert journal == ["a1", "r1"]


@pytest.mark.anyio
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


@pytest.mark.anyio
async def test_fibers_are_interrupted_on_dispose() -> None:
    journal = Journal()
    interrupted: list[str] = []
    runtime = ManagedRuntime(journal.layer(1))

    async def run() -> None:
        with pytest.raises(EffectInterrupted):
            await runtime.run(forever.ensuring(journal.write("finalizer")))
        interrupted.append("yes")

    async with anyio.create_task_group() as tasks:
        await runtime.__aenter__()
        tasks.start_soon(run)
        await anyio.wait_all_tasks_blocked()
        await runtime.__aexit__(None, None, None)
        assert journal == ["a1", "finalizer", "r1"]
    assert interrupted == ["yes"]


@pytest.mark.anyio
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


@pytest.mark.anyio
async def test_a_typed_failure_of_the_layer_is_raised() -> None:
    with pytest.raises(EffectFailed) as caught:
        async with ManagedRuntime(Layer.fail(One, "broken")):
            raise AssertionError
    assert caught.value.error == "broken"


@pytest.mark.anyio
async def test_a_typed_failure_of_an_effect_is_its_outcome() -> None:
    async with ManagedRuntime(Layer.succeed(One, 1)) as runtime:
        assert await runtime.run(One.use(Effect.fail)) == Failure(1)


@pytest.mark.anyio
async def test_a_cancelled_run_is_cancelled() -> None:
    async with ManagedRuntime(Layer.succeed(One, 1)) as runtime:
        with anyio.move_on_after(0.01) as timer:
            await runtime.run(forever)
        assert timer.cancelled_caught


def test_can_be_built_synchronously() -> None:
    journal = Journal()

    @asynccontextmanager
    async def opened(one: int) -> AsyncGenerator[int]:
        journal.append("open")
        yield one + 1
        journal.append("close")

    layer = journal.layer(1).feed_keep(Layer.scoped(Two, opened, One))
    with ManagedRuntime(layer) as runtime:
        assert runtime.run_sync(Two.get()) == Success(2)
    assert journal == ["a1", "open", "close", "r1"]


def test_a_layer_that_waits_cannot_be_built_synchronously() -> None:
    @asynccontextmanager
    async def opened() -> AsyncGenerator[int]:
        await Suspending()
        yield 1

    with (
        pytest.raises(SuspendedError, match="needs an event loop"),
        ManagedRuntime(Layer.scoped(One, opened)),
    ):
        raise AssertionError


def test_a_synchronous_runtime_reports_a_missing_service() -> None:
    journal = Journal()
    with (
        pytest.raises(MissingServiceError, match="Two, needed by layer One"),
        ManagedRuntime(journal.layer(1, Two)),
    ):
        raise AssertionError


class Suspending:
    """What an event loop would resume."""

    def __await__(self) -> AsyncGenerator[None]:
        yield
