"""``MemoryRepositoryUnderTest``: what every group of laws knows of the memory repository that it tests."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from chatmemory.conversation.message_repository import MessageRepositoryTag
from chatmemory.effect import Layer
from chatmemory.laws.kit.under_test import UnderTest
from chatmemory.laws.memories.memory_witness import MemoryWitness, open_memory_witness
from chatmemory.longterm.memory_repository import MemoryRepositoryTag


class MemoryRepositoryUnderTest(UnderTest):
    """A memory repository.

    Attributes:
        repository: a layer that needs nothing more; built and released again in every case.
        keeps_conversations: whether it gives a message repository over the same store as well.
    """

    repository: (
        Layer[MemoryRepositoryTag, Any, Any] | Layer[MemoryRepositoryTag | MessageRepositoryTag, Any, Any]
    )
    keeps_conversations: bool = True

    @asynccontextmanager
    async def open(self, **witness: Any) -> AsyncGenerator[MemoryWitness]:
        """Open the repository, in a space of users and ids of its own."""
        opening = open_memory_witness(
            self.repository,
            keeps_conversations=self.keeps_conversations,
            patience_seconds=self.patience_seconds,
            **witness,
        )
        async with opening as opened:
            yield opened
