"""The law kit on the memory repositories that ship with chatmemory."""

from chatmemory.laws import MemoryRepositoryLaws
from tests.laws.stores import InMemory, InPostgres, InSqlite


class TestInMemory(InMemory, MemoryRepositoryLaws):
    pass


class TestInMemoryOnTrio(InMemory, MemoryRepositoryLaws):
    event_loop = "trio"


class TestSqlite(InSqlite, MemoryRepositoryLaws):
    pass


class TestPostgres(InPostgres, MemoryRepositoryLaws):
    pass
