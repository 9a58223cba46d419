"""``race``: runs several effects at once; the first one decides, the others are interrupted and waited for."""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import TypeVar

from chatmemory.effect.context import Context
from chatmemory.effect.defects import defect_of
from chatmemory.effect.outcome import (
    Cause,
    Exit,
    Failure,
    Outcome,
    Success,
    exit_from_exception,
    exit_from_outcome,
    outcome_from_exit,
)
from chatmemory.effect.runs import Runs
from chatmemory.effect.suspended import has_event_loop

__all__ = ["run_race"]

A = TypeVar("A")
E = TypeVar("E")
R = TypeVar("R")


async def run_race(effects: Sequence[Runs[A, E, R]], context: Context[R]) -> Outcome[A, E]:
    """Run *effects* at once, end as the first one that succeeds, and interrupt the others.

    Args:
        effects: at least one; without an event loop they run one after the other.
        context: their services.

    Returns:
        the first value.  When all fail, the first defect is raised; without a defect, the first failure is the outcome.
    """
    exits: list[Exit[A, E]] = []  # in the order in which they ended
    winner: Exit[A, E] | None = None

    async def run(place: int) -> None:
        nonlocal winner
        try:
            exit_ = exit_from_outcome(await effects[place].run_supervised(context))
        except BaseException as exception:
            if defect_of(exception) is None:
                raise
            exit_ = exit_from_exception(exception)  # kept, because another effect may still succeed
        exits.append(exit_)
        if winner is None and type(exit_) is Success:
            winner = exit_

    if has_event_loop():
        import anyio

        async with anyio.create_task_group() as tasks:

            async def compete(place: int) -> None:
                # Each task starts the next one: trio starts the tasks of a group in any order, and the effects shall
                # start from left to right on both backends.
                if place + 1 < len(effects):
                    tasks.start_soon(compete, place + 1)
                await run(place)
                if winner is not None:
                    tasks.cancel_scope.cancel()

            tasks.start_soon(compete, 0)
    else:
        for place in range(len(effects)):
            if winner is None:
                await run(place)
    if winner is not None:
        return outcome_from_exit(winner)
    return outcome_from_exit(
        Failure(Cause(tuple(reason for exit_ in exits for reason in exit_.failure().reasons)))
    )
