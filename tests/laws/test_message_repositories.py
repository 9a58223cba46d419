"""The law kit on the message repositories that ship with chatmemory."""

from chatmemory.laws import MessageRepositoryLaws
from tests.laws.stores import InMemory, InPostgres, InSqlite, WithRowSecurity, guarded
from tests.thorough import thorough


class TestInMemory(InMemory, MessageRepositoryLaws):
    pass


class TestInMemoryOnTrio(InMemory, MessageRepositoryLaws):
    event_loop = "trio"


class TestSqlite(InSqlite, MessageRepositoryLaws):
    pass


class TestPostgres(InPostgres, MessageRepositoryLaws):
    pass


@thorough
class TestPostgresWithRowSecurity(WithRowSecurity, MessageRepositoryLaws):
    pass


def test_a_program_of_everything_has_the_same_results_with_row_security(serving: str) -> None:
    laws = MessageRepositoryLaws()
    laws.examples = 2
    laws.repository = guarded(serving)
    laws.test_l21_equivalence()
