"""``ItemRepositoryUnderTest``: what every group of laws knows of the item repository that it tests."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from chatmemory.effect import Layer
from chatmemory.items.item_repository import ItemRepositoryTag
from chatmemory.laws.items.item_witness import ItemWitness, open_item_witness
from chatmemory.laws.kit.under_test import UnderTest


class ItemRepositoryUnderTest(UnderTest):
    """An item repository.

    Attributes:
        repository: a layer that needs nothing more; built and released again in every case.
    """

    repository: Layer[ItemRepositoryTag, Any, Any]

    @asynccontextmanager
    async def open(self, **witness: Any) -> AsyncGenerator[ItemWitness]:
        """Open the repository, in a space of its own."""
        opening = open_item_witness(self.repository, patience_seconds=self.patience_seconds, **witness)
        async with opening as opened:
            yield opened
