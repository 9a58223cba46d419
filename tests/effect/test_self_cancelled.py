"""Code that ends in CancelledError although nobody cancelled it has a defect, and takes nothing else with it."""

import asyncio
from typing import Never

import anyio
import anyio.lowlevel
import pytest

from chatmemory.effect import (
    Context,
    Die,
    Effect,
    Exit,
    Layer,
    ManagedRuntime,
    Stream,
    TestClock,
)
from chatmemory.effect.defects import SelfCancelledError
from chatmemory.effect.services.clock import ClockTag
from tests.effect.numbered_layers import One, Two
from tests.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.anyio


async def cancel_myself() -> Never:
    await anyio.lowlevel.checkpoint()
    raise asyncio.CancelledError


SELF_CANCELLED: Effect[int] = Effect.promise(cancel_myself)


def is_its_defect(exit_: Exit[object, object]) -> bool:
    reason = exit_.failure()
    return isinstance(reason, Die) and isinstance(reason.defect, SelfCancelledError)


async def test_exit_shows_it_as_a_defect_and_a_finalizer_sees_the_same() -> None:
    seen: list[Exit[int, Never]] = []
    finalized = SELF_CANCELLED.on_exit(lambda exit_: Effect.sync(lambda: seen.append(exit_)))
    assert is_its_defect(await finalized.exit().or_raise())
    assert is_its_defect(*seen)


async def test_a_cancellation_that_was_asked_for_passes_through_exit() -> None:
    ended: list[object] = []
    async with anyio.create_task_group() as tasks:

        async def wait() -> None:
            ended.append(await Effect.sleep(PATIENCE_SECONDS).exit())

        tasks.start_soon(wait)
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    assert ended == []


async def test_all_at_once_succeeds_with_no_hole() -> None:
    both = Effect.all([SELF_CANCELLED, Effect.succeed(1)], concurrency=2)
    assert is_its_defect(await both.exit().or_raise())


async def test_a_timeout_by_another_clock_does_not_take_it_for_being_late() -> None:
    timed = SELF_CANCELLED.timeout(PATIENCE_SECONDS, lambda: "late")
    assert is_its_defect(await timed.provide(Context.of(ClockTag, TestClock())).exit().or_raise())


async def test_a_layer_that_cannot_be_opened_says_so() -> None:
    layers = Layer.effect(One, SELF_CANCELLED) | Layer.effect(Two, SELF_CANCELLED)
    with pytest.raises(SelfCancelledError), anyio.fail_after(PATIENCE_SECONDS):
        async with ManagedRuntime(layers):
            pass


async def test_a_stream_does_not_end_as_if_it_were_complete() -> None:
    values = Stream.from_iterable([1, 2, 3]).tap(
        lambda value: SELF_CANCELLED if value == 2 else Effect.succeed(value)
    )
    with anyio.fail_after(PATIENCE_SECONDS):
        assert is_its_defect(await values.run_collect().exit().or_raise())
