"""``retry``: runs an effect again after a failure, as a schedule says.

``schedule.py`` decides when; clock and random source come from the context, so that tests can control them.
"""

from __future__ import annotations

from collections.abc import Callable

from typing_extensions import TypeVar

from chatmemory.effect.context import Context
from chatmemory.effect.outcome import Outcome, Success
from chatmemory.effect.runs import Runs
from chatmemory.effect.services.clock import ClockTag
from chatmemory.effect.services.random import RandomTag
from chatmemory.effect.services.schedule import Schedule

A = TypeVar("A")
E = TypeVar("E")
R = TypeVar("R")


async def run_retried(
    effect: Runs[A, E, R],
    schedule: Schedule[E],
    goes_on: Callable[[E], bool],
    context: Context[R],
) -> Outcome[A, E]:
    """Run *effect* until it succeeds, *schedule* is over, or *goes_on* refuses the error; return its last outcome."""
    clock = context.get(ClockTag)
    pause_after = schedule.start(context.get(RandomTag))
    while True:
        outcome = await effect.run_in(context)
        if type(outcome) is Success:
            return outcome
        error = outcome.failure()
        if not goes_on(error):
            return outcome
        pause = pause_after(error)
        if pause is None:
            return outcome
        await clock.sleep(pause)
