"""The law kit with row-level security: in a short run only programs of everything, whose results are to be the same."""

import pytest

from chatmemory.laws import ItemRepositoryLaws, MemoryRepositoryLaws, MessageRepositoryLaws
from tests.laws.stores import WithRowSecurity, guarded
from tests.thorough import thorough


@pytest.mark.parametrize("laws_of", [MessageRepositoryLaws, MemoryRepositoryLaws, ItemRepositoryLaws])
def test_a_program_of_everything_has_the_same_results(
    laws_of: type[MessageRepositoryLaws | MemoryRepositoryLaws | ItemRepositoryLaws], serving: str
) -> None:
    laws = laws_of()
    laws.examples = 2
    laws.repository = guarded(serving)
    laws.test_l21_equivalence()


@thorough
class TestMessages(WithRowSecurity, MessageRepositoryLaws):
    pass


@thorough
class TestMemories(WithRowSecurity, MemoryRepositoryLaws):
    pass


@thorough
class TestItems(WithRowSecurity, ItemRepositoryLaws):
    pass
