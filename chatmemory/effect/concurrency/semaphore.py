"""``Semaphore``: permits that limit how many fibers do something at the same time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, final

from typing_extensions import TypeVar

from chatmemory.effect.context import Context
from chatmemory.effect.effect import Effect
from chatmemory.effect.outcome import Outcome
from chatmemory.effect.suspended import new_event

if TYPE_CHECKING:
    import anyio

__all__ = ["Semaphore"]

A = TypeVar("A")
E = TypeVar("E")
R = TypeVar("R")


@final
class Semaphore:
    """A number of permits: ``effect.pipe(semaphore.with_permits(2))``.

    Waiting fibers are served in the order in which they came, so a fiber that needs many permits is not overtaken by others
    that need few.
    """

    __slots__ = ("_free", "_permits", "_waiting")

    def __init__(self, permits: int) -> None:
        self._permits = permits
        self._free = permits
        self._waiting: deque[tuple[int, anyio.Event]] = deque()

    def with_permits(self, permits: int) -> Callable[[Effect[A, E, R]], Effect[A, E, R]]:
        """Return a function that makes an effect hold *permits* while it runs, and return them however it ends.

        Raises:
            ValueError: the semaphore has fewer permits.
        """
        if not 0 <= permits <= self._permits:
            msg = f"{permits} permits were asked for, and there are {self._permits}"
            raise ValueError(msg)

        def limit(effect: Effect[A, E, R]) -> Effect[A, E, R]:
            async def run(context: Context[R]) -> Outcome[A, E]:
                await self._take(permits)
                try:
                    return await effect.run_in(context)
                finally:
                    self._give_back(permits)

            return Effect.in_context(run)

        return limit

    def available(self) -> int:
        """Return the number of permits that are free."""
        return self._free

    async def _take(self, permits: int) -> None:
        if not self._waiting and permits <= self._free:
            self._free -= permits
            return
        place = (permits, new_event())
        self._waiting.append(place)
        try:
            await place[1].wait()
        except BaseException:
            if place in self._waiting:
                self._waiting.remove(place)
                self._give_back(0)  # the next waiter may need fewer permits
            else:
                self._give_back(permits)
            raise

    def _give_back(self, permits: int) -> None:
        self._free += permits
        while self._waiting and self._waiting[0][0] <= self._free:
            taken, granted = self._waiting.popleft()
            self._free -= taken
            granted.set()
