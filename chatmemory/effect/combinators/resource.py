"""Effects that end in order: finalizers and uninterruptible regions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Never

from typing_extensions import TypeVar

from chatmemory.effect.checks.mistakes import no_effect
from chatmemory.effect.context import Context
from chatmemory.effect.outcome import Exit, Outcome, exit_from_exception, exit_from_outcome
from chatmemory.effect.runs import Runs
from chatmemory.effect.suspended import shield

A = TypeVar("A")
E = TypeVar("E")
R = TypeVar("R")
R2 = TypeVar("R2")


async def run_shielded(effect: Runs[A, E, R], context: Context[R]) -> Outcome[A, E]:
    """Run *effect* to its end even if the surrounding scope is cancelled."""
    with shield():
        try:
            running = effect.run_in(context)  # only makes the coroutine
        except AttributeError:
            raise no_effect(effect) from None
        return await running


async def run_finalized(
    effect: Runs[A, E, R],
    finalizer: Callable[[Exit[A, E]], Runs[Any, Never, R2]],
    context: Context[R | R2],
) -> Outcome[A, E]:
    """Run *effect*, then the effect that *finalizer* makes from its exit, which cannot be interrupted."""
    try:
        outcome = await effect.run_in(context)
    except BaseException as exception:
        await run_shielded(finalizer(exit_from_exception(exception)), context)
        raise
    await run_shielded(finalizer(exit_from_outcome(outcome)), context)
    return outcome
