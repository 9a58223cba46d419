"""The law kit on the item repositories that ship with chatmemory."""

from chatmemory.laws import ItemRepositoryLaws
from tests.laws.stores import InMemory, InPostgres, InSqlite


class TestInMemory(InMemory, ItemRepositoryLaws):
    pass


class TestInMemoryOnTrio(InMemory, ItemRepositoryLaws):
    event_loop = "trio"


class TestSqlite(InSqlite, ItemRepositoryLaws):
    pass


class TestPostgres(InPostgres, ItemRepositoryLaws):
    pass
