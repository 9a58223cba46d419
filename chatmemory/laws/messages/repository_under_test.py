"""``RepositoryUnderTest``: what every group of laws knows of the repository that it tests, and how it opens it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from chatmemory.conversation.message_repository import MessageRepositoryTag
from chatmemory.effect import Layer
from chatmemory.laws.kit.under_test import UnderTest
from chatmemory.laws.messages.witness import Witness, open_witness


class RepositoryUnderTest(UnderTest):
    """A message repository.

    Attributes:
        repository: a layer that needs nothing more; built and released again in every case.
    """

    repository: Layer[MessageRepositoryTag, Any, Any]

    @asynccontextmanager
    async def open(self, **witness: Any) -> AsyncGenerator[Witness]:
        """Open the repository, in a space of conversations of its own."""
        async with open_witness(self.repository, patience_seconds=self.patience_seconds, **witness) as opened:
            yield opened
