"""``UnderTest``: what every law may be told about the thing that it tests, whatever it is."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, Final, Generic, TypeVar

from chatmemory.effect import Layer, ManagedRuntime
from chatmemory.laws.kit.concurrency import Cancellation
from chatmemory.laws.kit.law import EventLoop

W = TypeVar("W")

MOMENTS: Final = 20  # at which a cancellation can strike


class UnderTest:
    """To be set by a subclass, on the class or in a fixture.

    Attributes:
        is_durable: whether what it keeps outlives its release.  The laws about that are skipped otherwise.
        keeps_log: whether it has a ``log`` of events.  The laws about events are skipped otherwise.
        event_loop: what the cases run on.
        examples: how many programs the equivalence law tries.
        steps: operations in each of them.
        shrinks: whether a program that fails is made as short as can be, which may take a minute.
        rounds: how often the laws of cancelling cancel.
        patience_seconds: how long one answer may take before the repository counts as hanging.
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
        """Return the way to cancel in a round: sooner or later, by anyio and, on asyncio, by every other group of rounds."""
        groups, after = divmod(round_, MOMENTS)
        return Cancellation(after, by_asyncio=self.event_loop == "asyncio" and groups % 2 == 1)


class RepositoryUnderTest(UnderTest, Generic[W]):
    """A repository, and who speaks with it.

    Attributes:
        repository: a layer that needs nothing more; built and released again in every case.
    """

    repository: Layer[Any, Any, Any]

    async def witness(self, runtime: ManagedRuntime[Any], **witness: Any) -> W:
        """Return who speaks with the repository that *runtime* has built."""
        raise NotImplementedError

    @asynccontextmanager
    async def open(self, **witness: Any) -> AsyncGenerator[W]:
        """Build the repository for a witness with a space of its own, and release it in the end."""
        async with ManagedRuntime(self.repository) as runtime:
            yield await self.witness(runtime, patience_seconds=self.patience_seconds, **witness)
