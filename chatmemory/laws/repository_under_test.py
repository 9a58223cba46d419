"""``RepositoryUnderTest``: what every group of laws knows of the repository that it tests, and how it opens it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, Final

from chatmemory.contracts import MessageRepositoryTag
from chatmemory.effect import Layer
from chatmemory.laws.cancellation import Cancellation
from chatmemory.laws.law import EventLoop
from chatmemory.laws.witness import Witness, open_witness

MOMENTS: Final = 20  # at which a cancellation can strike


class RepositoryUnderTest:
    """To be set by a subclass, on the class or in a fixture.

    Attributes:
        repository: a layer that needs nothing more; built and released again in every case.
        is_durable: whether what it keeps outlives its release.  The laws about that are skipped otherwise.
        event_loop: what the cases run on.
        examples: how many programs the equivalence law tries.
        steps: operations in each of them.
        shrinks: whether a program that fails is made as short as can be, which may take a minute.
        rounds: how often the laws of cancelling cancel.
        patience_seconds: how long one answer may take before the repository counts as hanging.
    """

    repository: Layer[MessageRepositoryTag, Any, Any]
    is_durable: bool = True
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

    @asynccontextmanager
    async def open(self, **witness: Any) -> AsyncGenerator[Witness]:
        """Open the repository, in a space of conversations of its own."""
        async with open_witness(self.repository, patience_seconds=self.patience_seconds, **witness) as opened:
            yield opened
