"""Several effects at once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from typing_extensions import TypeVar

from chatmemory.effect.context import Context
from chatmemory.effect.defects import defect_of
from chatmemory.effect.outcome import Failure, Outcome, Success
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
                await work_off(lambda effect: effect.run_supervised(context))
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
