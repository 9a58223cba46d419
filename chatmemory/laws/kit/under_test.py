"""``UnderTest``: the settings of all laws about the thing under test."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, Final, Generic, TypeVar

from chatmemory.effect import Layer, ManagedRuntime
from chatmemory.laws.kit.concurrency import Cancellation
from chatmemory.laws.kit.law import EventLoop

W = TypeVar("W")

MOMENTS: Final = 20  # the number of points at which a cancellation can happen


class UnderTest:
    """The settings, which a subclass sets on the class or in a fixture.

    Attributes:
        is_durable: whether the stored data survives a release.  Otherwise the laws about that are skipped.
        keeps_log: whether the repository has a ``log`` of events.  Otherwise the laws about events are skipped.
        event_loop: the event loop of the cases.
        examples: the number of sequences that the equivalence law tries.
        steps: the number of operations in each of them.
        shrinks: whether a failing sequence is made as short as possible, which may take a minute.
        rounds: the number of cancellations in each law of cancellation.
        patience_seconds: the time limit of an answer, after which the repository counts as hanging.
    """

    is_durable: bool = True
    keeps_log: bool = True
    event_loop: EventLoop = "asyncio"
    examples: int = 60
    steps: int = 20
    shrinks: bool = True
    rounds: int = 100
    patience_seconds: float = 20.0

    def cancellation(self, round_: int) -> Cancellation:
        """Return the cancellation of a round: its time varies, and on asyncio every other group of rounds uses ``Task.cancel``."""
        groups, after = divmod(round_, MOMENTS)
        return Cancellation(after, by_asyncio=self.event_loop == "asyncio" and groups % 2 == 1)


class RepositoryUnderTest(UnderTest, Generic[W]):
    """A repository under test, and its witness.

    Attributes:
        repository: a layer without requirements; it is built and released again in every case.
    """

    repository: Layer[Any, Any, Any]

    async def witness(self, runtime: ManagedRuntime[Any], **witness: Any) -> W:
        """Return a witness for the repository that *runtime* has built."""
        raise NotImplementedError

    @asynccontextmanager
    async def open(self, **witness: Any) -> AsyncGenerator[W]:
        """Build the repository for a witness with its own space, and release it at the end."""
        async with ManagedRuntime(self.repository) as runtime:
            yield await self.witness(runtime, patience_seconds=self.patience_seconds, **witness)
