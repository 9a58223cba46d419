"""The law kit on the item repositories that ship with chatmemory."""

from chatmemory.laws import ItemRepositoryLaws
from tests.laws.stores import InMemory, InPostgres, InSqlite, WithRowSecurity, guarded
from tests.thorough import thorough


class TestInMemory(InMemory, ItemRepositoryLaws):
    pass


class TestInMemoryOnTrio(InMemory, ItemRepositoryLaws):
    event_loop = "trio"


class TestSqlite(InSqlite, ItemRepositoryLaws):
    pass


class TestPostgres(InPostgres, ItemRepositoryLaws):
    pass


@thorough
class TestPostgresWithRowSecurity(WithRowSecurity, ItemRepositoryLaws):
    pass


def test_a_program_of_everything_has_the_same_results_with_row_security(serving: str) -> None:
    laws = ItemRepositoryLaws()
    laws.examples = 2
    laws.repository = guarded(serving)
    laws.test_l21_equivalence()
