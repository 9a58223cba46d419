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
        few = f"count(*) <= {memory_search.FEW_MEMORIES}"
        for name in ("FIND_FEW", "FIND_FEW_WITHOUT_VECTORS"):
            statement = getattr(memory_search, name).replace(few, "count(*) < 0")
            monkeypatch.setattr(memory_search, name, statement)
