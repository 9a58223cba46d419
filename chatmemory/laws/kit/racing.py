"""``race``: many at once, as the laws of concurrency need them."""

from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeAlias

import anyio

Runner: TypeAlias = Callable[[], Coroutine[Any, Any, None]]


async def race(runners: Sequence[Runner], meanwhile: Runner | None = None) -> None:
    """Run all *runners* at once, and *meanwhile* until they are done; the first broken law is raised by itself."""
    broken: list[AssertionError] = []

    async def run(runner: Runner) -> None:
        try:
            await runner()
        except AssertionError as error:
            broken.append(error)

    async with anyio.create_task_group() as others:
        if meanwhile is not None:
            others.start_soon(run, meanwhile)
        async with anyio.create_task_group() as racing:
            for runner in runners:
                racing.start_soon(run, runner)
        others.cancel_scope.cancel()
    if broken:
        raise broken[0]
