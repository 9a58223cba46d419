"""Each case of each law is broken by something: a law that nothing breaks promises nothing."""

from collections.abc import Iterable
from typing import Any, Final

import pytest

from chatmemory.laws import (
    ItemRepositoryLaws,
    LongTermMemoryLaws,
    MemoryRepositoryLaws,
    MessageRepositoryLaws,
)
from tests.laws.broken_items import BrokenItems
from tests.laws.broken_memories import BrokenMemory
from tests.laws.test_broken_items import CAUGHT as ITEMS
from tests.laws.test_broken_logs import CAUGHT as LOGS
from tests.laws.test_broken_long_term_memories import CAUGHT_RANKERS, CAUGHT_REPOSITORIES
from tests.laws.test_broken_memories import CAUGHT as MEMORIES
from tests.laws.test_broken_repositories import CAUGHT as MESSAGES
from tests.laws.test_broken_rules import WRONG_RULES

BY_ITSELF: Final = {"test_l20_errors", "test_l21_equivalence"}
"""What the same files break in tests of their own: what swallows and lets out errors, and programs."""


def cases_of(rows: Iterable[Any]) -> set[str]:
    """Return the names of the cases in *rows* of the tables of what is broken."""
    values = [value for row in rows for value in getattr(row, "values", row)]
    return {value for value in values if isinstance(value, str) and value.startswith("test_")}


def logs_of(kind: type) -> set[str]:
    return cases_of(row for row in LOGS if issubclass(row[0], kind))


BROKEN: Final = {
    MessageRepositoryLaws: cases_of(MESSAGES)
    | cases_of(WRONG_RULES)
    | cases_of(row for row in LOGS if not issubclass(row[0], BrokenMemory | BrokenItems)),
    MemoryRepositoryLaws: cases_of(MEMORIES) | logs_of(BrokenMemory),
    ItemRepositoryLaws: cases_of(ITEMS) | logs_of(BrokenItems),
    LongTermMemoryLaws: cases_of(CAUGHT_RANKERS) | cases_of(CAUGHT_REPOSITORIES),
}


@pytest.mark.parametrize("laws", BROKEN)
def test_each_case_of_the_laws_is_broken_by_something(laws: type) -> None:
    cases = {name for name in dir(laws) if name.startswith("test_")}
    assert cases - BROKEN[laws] - BY_ITSELF == set()
    assert BROKEN[laws] <= cases
