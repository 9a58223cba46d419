"""The law kit on the message repositories that ship with chatmemory."""

from chatmemory.laws import MessageRepositoryLaws
from tests.laws.stores import InMemory, InPostgres, InSqlite


class TestInMemory(InMemory, MessageRepositoryLaws):
    pass


class TestInMemoryOnTrio(InMemory, MessageRepositoryLaws):
    event_loop = "trio"


class TestSqlite(InSqlite, MessageRepositoryLaws):
    pass


class TestPostgres(InPostgres, MessageRepositoryLaws):
    pass
