"""``Cancellation``: cancels an operation at some point, with anyio or asyncio.

``race``: runs many functions at once, for the laws of concurrency.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Final, TypeAlias, final

import anyio
from anyio.lowlevel import checkpoint
from attrs import frozen

TURN_SECONDS: Final = (
    0.0002  # a fifth of a fast commit: some rounds cancel before it, some during it, some after it
)


@final
@frozen
class Cancellation:
    """Cancels after some turns of the event loop, or, for odd counts, after as many units of real time.

    Attributes:
        by_asyncio: by ``Task.cancel``, twice in a row, which a task can swallow; otherwise by a cancel scope of
            anyio, which cancels again at every wait until the task ends.
    """

    after: int
    by_asyncio: bool

    async def of(self, work: Callable[[], Coroutine[Any, Any, object]]) -> None:
        """Start *work*, cancel it, and return when it has ended."""

        async def begin() -> None:
            # Made here: a task that is cancelled before it starts then leaves no unawaited coroutine.
            await work()

        if self.by_asyncio:
            task = asyncio.create_task(begin())
            await self._moment()
            task.cancel()
            await checkpoint()
            task.cancel()
            await asyncio.wait([task])
            if not task.cancelled():
                task.result()
            return
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(begin)
            await self._moment()
            tasks.cancel_scope.cancel()

    async def _moment(self) -> None:
        if self.after % 2:
            await anyio.sleep(self.after * TURN_SECONDS)
            return
        for _ in range(self.after):
            await checkpoint()


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
