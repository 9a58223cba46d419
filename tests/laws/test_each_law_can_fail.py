"""Each case of each law is broken by something: a law that nothing breaks promises nothing."""

from typing import Final

import pytest

from chatmemory.laws import (
    ItemRepositoryLaws,
    LongTermMemoryLaws,
    MemoryRepositoryLaws,
    MessageRepositoryLaws,
)
from tests.laws.broken import Broken
from tests.laws.broken_items import BrokenItems
from tests.laws.broken_memories import BrokenMemory
from tests.laws.test_broken_long_term_memories import CAUGHT_RANKERS, CAUGHT_REPOSITORIES
from tests.laws.test_broken_rules import WRONG_RULES
from tests.laws.test_broken_stores import CAUGHT

BY_ITSELF: Final = {"test_l20_errors", "test_l21_equivalence"}
"""What has tests of its own: what swallows and lets out errors, and programs."""


def cases_of(*kinds: type) -> set[str]:
    return {catch.case for catch in CAUGHT if issubclass(catch.kind, kinds)}


BROKEN: Final = {
    MessageRepositoryLaws: cases_of(Broken) | {f"test_{case}" for _, _, case in WRONG_RULES},
    MemoryRepositoryLaws: cases_of(BrokenMemory),
    ItemRepositoryLaws: cases_of(BrokenItems),
    LongTermMemoryLaws: {catch.case for catch in (*CAUGHT_RANKERS, *CAUGHT_REPOSITORIES)},
}


@pytest.mark.parametrize("laws", BROKEN)
def test_each_case_of_the_laws_is_broken_by_something(laws: type) -> None:
    cases = {name for name in dir(laws) if name.startswith("test_")}
    assert cases - BROKEN[laws] - BY_ITSELF == set()
    assert BROKEN[laws] <= cases
