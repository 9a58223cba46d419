"""The law kit on the memory repositories that ship with chatmemory."""

from chatmemory.laws import MemoryRepositoryLaws
from tests.laws.stores import InMemory, InPostgres, InSqlite, WithRowSecurity, guarded
from tests.thorough import thorough


class TestInMemory(InMemory, MemoryRepositoryLaws):
    pass


class TestInMemoryOnTrio(InMemory, MemoryRepositoryLaws):
    event_loop = "trio"


class TestSqlite(InSqlite, MemoryRepositoryLaws):
    pass


class TestPostgres(InPostgres, MemoryRepositoryLaws):
    pass


@thorough
class TestPostgresWithRowSecurity(WithRowSecurity, MemoryRepositoryLaws):
    pass


def test_a_program_of_everything_has_the_same_results_with_row_security(serving: str) -> None:
    laws = MemoryRepositoryLaws()
    laws.examples = 2
    laws.repository = guarded(serving)
    laws.test_l21_equivalence()
