"""``Conveyor``: passes the values of streams that run in tasks of their own to one consumer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, Never, final

from typing_extensions import TypeVar

from chatmemory.effect.concurrency.queue import Queue
from chatmemory.effect.context import Context
from chatmemory.effect.defects import defect_of
from chatmemory.effect.effect import Effect
from chatmemory.effect.outcome import Outcome, Success
from chatmemory.effect.scope import Scope
from chatmemory.effect.stream.pull import Open, opened

__all__ = ["Conveyor"]

A = TypeVar("A")
B = TypeVar("B")


@final
class Conveyor(Generic[B]):
    """A queue and the tasks that fill it.  The first task that fails ends the queue, after the values that it holds."""

    __slots__ = ("_loading", "_queue", "failure")

    def __init__(self, queue: Queue[B]) -> None:
        self._queue = queue
        self._loading = 0
        self.failure: Exception | None = None

    async def load(
        self,
        open_: Open[A],
        offers_of: Callable[[Sequence[A]], Sequence[Effect[bool]]],
        context: Context[Any],
        scope: Scope,
    ) -> None:
        """Start to fill the queue from a stream, until *scope* is closed.

        The stream is opened, pulled and released in one task, so its source may hold a task group.

        Args:
            open_: opens the stream.
            offers_of: makes from each chunk the effects that offer its values to the queue.
            context: the services of the stream.
            scope: ends the task.
        """

        async def run(context: Context[Any]) -> Outcome[None, Never]:
            try:
                async with opened(open_, context) as pull:
                    while chunk := await pull():
                        for offer in offers_of(chunk):
                            await offer.run_in(context)
                            if self.failure is not None:
                                return Success(None)
            except BaseException as exception:  # raised when the consumer pulls
                if (failure := defect_of(exception)) is None:
                    raise
                self.fail(failure)
            finally:
                self._loading -= 1
                if self._loading == 0:
                    self._end()
            return Success(None)

        self._loading += 1
        await Effect.in_context(run).fork_in(scope).run_in(context)

    def fail(self, failure: Exception) -> None:
        """End the queue, and raise *failure* in the consumer after the remaining values; only the first failure counts."""
        self.failure = self.failure or failure
        self._end()

    def _end(self) -> None:
        self._queue.end().run_sync()

    async def pull(self, limit: int) -> list[B]:
        """Take between 1 and *limit* values; an empty list means the end."""
        values = await self._queue.receive(limit)
        if not values and self.failure is not None:
            raise self.failure
        return values
