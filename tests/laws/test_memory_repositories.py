"""The law kit on the memory repositories that ship with chatmemory."""

import pytest

from chatmemory.laws import MemoryRepositoryLaws
from chatmemory.laws.memories.memory_reading_laws import MemorySearchLaws
from chatmemory_layers.postgres.memories import memory_search
from tests.laws.stores import InMemory, InPostgres, InSqlite


class TestInMemory(InMemory, MemoryRepositoryLaws):
    pass


class TestInMemoryOnTrio(InMemory, MemoryRepositoryLaws):
    event_loop = "trio"


class TestSqlite(InSqlite, MemoryRepositoryLaws):
    pass


class TestPostgres(InPostgres, MemoryRepositoryLaws):
    pass


class TestPostgresOfManyMemories(InPostgres, MemorySearchLaws):
    """Memories are searched as those of a user who has many."""

    @pytest.fixture(autouse=True)
    def everybody_has_many(self, monkeypatch: pytest.MonkeyPatch) -> None:
        async def search_few(*_: object, **__: object) -> None:
            return None

        monkeypatch.setattr(memory_search, "search_few", search_few)
