"""Several effects at once: all of them, or the first that succeeds."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

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

A = TypeVar("A")
E = TypeVar("E")
R = TypeVar("R")


async def run_all(
    effects: Sequence[Runs[A, E, R]], concurrency: int | None, context: Context[R]
) -> Outcome[list[A], E]:
    """Run *effects*, at most *concurrency* at once; the first that does not succeed ends the others."""
    values: list[Any] = [None] * len(effects)
    waiting = iter(enumerate(effects))
    failures: list[Failure[E]] = []
    defects: list[Exception] = []

    async def work_off(run: Callable[[Runs[A, E, R]], Awaitable[Outcome[A, E]]]) -> None:
        # The workers share one iterator: a free worker takes the next effect.
        for place, effect in waiting:
            outcome = await run(effect)
            if type(outcome) is not Success:
                failures.append(outcome)
                return
            values[place] = outcome.unwrap()

    workers = len(effects) if concurrency is None else min(concurrency, len(effects))
    if workers <= 1 or not has_event_loop():
        await work_off(lambda effect: effect.run_in(context))
        return failures[0] if failures else Success(values)

    import anyio

    async with anyio.create_task_group() as tasks:

        async def work_until_trouble() -> None:
            try:
                await work_off(lambda effect: effect.run_in(context))
            except BaseException as raised:  # raised below, outside the task group, which would wrap it
                if (defect := defect_of(raised)) is None:
                    raise
                defects.append(defect)
            if failures or defects:
                tasks.cancel_scope.cancel()

        for _ in range(workers):
            tasks.start_soon(work_until_trouble)
    if defects:
        raise defects[0]
    return failures[0] if failures else Success(values)


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
            exit_ = exit_from_outcome(await effects[place].run_in(context))
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
