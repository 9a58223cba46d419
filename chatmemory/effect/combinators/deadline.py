"""Effects and time: ``sleep`` and ``timeout``, by the provided ``Clock``, which a test can control."""

from __future__ import annotations

from collections.abc import Callable
from typing import Never

import anyio
from typing_extensions import TypeVar

from chatmemory.effect.context import Context
from chatmemory.effect.defects import defect_of
from chatmemory.effect.outcome import Failure, Outcome, Success
from chatmemory.effect.runs import Runs
from chatmemory.effect.services.clock import ClockTag, SystemClock
from chatmemory.effect.suspended import SuspendedError, has_event_loop, new_event

A = TypeVar("A")
E = TypeVar("E")
E2 = TypeVar("E2")
R = TypeVar("R")


async def sleep_for(seconds: float, context: Context[Never]) -> Outcome[None, Never]:
    """Wait for *seconds* of the provided ``Clock``."""
    if not has_event_loop():
        raise SuspendedError
    await context.get(ClockTag).sleep(seconds)
    return Success(None)


async def wait_forever() -> Never:
    """Wait until the task is cancelled."""
    await new_event().wait()
    raise AssertionError("nobody knows that event")


async def run_for(
    effect: Runs[A, E, R], seconds: float, on_timeout: Callable[[], E2], context: Context[R]
) -> Outcome[A, E | E2]:
    """Run *effect*, and cancel it after *seconds*."""
    clock = context.get(ClockTag)
    # The event loop uses this clock too and needs no task to wake up: 17 µs instead of 73 µs.
    if isinstance(clock, SystemClock):
        with anyio.move_on_after(seconds):
            return await effect.run_in(context)
        return Failure(on_timeout())
    outcome: Outcome[A, E] | None = None
    defect: Exception | None = None

    async def ring() -> None:
        await clock.sleep(seconds)
        tasks.cancel_scope.cancel()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ring)
        try:
            outcome = await effect.run_in(context)
        except BaseException as raised:  # raised below, outside the task group, which would wrap it
            if (defect := defect_of(raised)) is None:
                raise
        tasks.cancel_scope.cancel()
    if defect is not None:
        raise defect
    return Failure(on_timeout()) if outcome is None else outcome
