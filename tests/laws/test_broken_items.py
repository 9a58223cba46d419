"""The laws catch what they are there for: each broken item repository by the law that it breaks, a sound one by none."""

import pytest

from chatmemory.effect import Layer
from chatmemory.items.item_repository import ItemRepositoryTag
from chatmemory.laws import ItemRepositoryLaws, LawBrokenError
from chatmemory_layers.in_memory.database import Database
from chatmemory_layers.in_memory.item_repository import InMemoryItemRepository
from tests.laws.broken_items import (
    BrokenItems,
    ComparesConditionsAsText,
    ComparesTheFirstPassage,
    CreatesWhatItRefreshes,
    FiltersAPage,
    FindsMoreThanAsked,
    ForgetsTheFirstTime,
    IsNewerAfterARetry,
    IsThereUntilItIsSwept,
    KeepsNothing,
    KeepsOldPassages,
    KeepsWholeSeconds,
    KnowsNoCase,
    LetsDriverErrorsEscape,
    MixesModels,
    OverflowsOnLongLives,
    PutsTheFirstOfABatch,
    ReadsBeforeItLocks,
    RemembersTheTimeOfWhatIsGone,
    RevivesWhatIsGone,
    StoresRowByRow,
    SweepsWhatWillEnd,
    TakesPrefixesForText,
    WritesValuesAnew,
)
from tests.laws.broken_items_past import (
    ForgetsThePresentAlone,
    KeepsEverything,
    ReadsOnlyWhatIsNow,
    RemovesInsteadOfUndoing,
    UndoesWhatNobodyKept,
)
from tests.thorough import rounds, thorough

# A law that is broken half-way has made questions that it no longer asks.
pytestmark = pytest.mark.filterwarnings("ignore:this effect never ran")

CAUGHT = [
    (KeepsWholeSeconds, "test_l1_put", "L1 put"),
    (WritesValuesAnew, "test_l1_put", "L1 put"),
    (ForgetsTheFirstTime, "test_l1_put", "L1 put"),
    (PutsTheFirstOfABatch, "test_l2_batch", "L2 batch"),
    (KnowsNoCase, "test_l3_isolation", "L3 isolation"),
    (KeepsNothing, "test_l5_reopen", "L5 reopen"),
    (StoresRowByRow, "test_l6_cancel", "L6 cancel"),
    (StoresRowByRow, "test_l7_race", "L7 race"),
    (ReadsBeforeItLocks, "test_l7_race_of_changes", "L7 race"),
    (MixesModels, "test_l8_found", "L8 found"),
    (FindsMoreThanAsked, "test_l8_found", "L8 found"),
    (ComparesTheFirstPassage, "test_l9_self", "L9 self"),
    (TakesPrefixesForText, "test_l10_window", "L10 window"),
    (ComparesConditionsAsText, "test_l10_window_by_conditions", "L10 window"),
    (FiltersAPage, "test_l10_window_by_conditions", "L10 window"),
    (CreatesWhatItRefreshes, "test_l11_empty", "L11 empty"),
    (IsNewerAfterARetry, "test_l12_retry", "L12 retry"),
    (LetsDriverErrorsEscape, "test_l11_empty", "L20 errors"),
    (ReadsOnlyWhatIsNow, "test_l27_past", "L27 past"),
    (KeepsEverything, "test_l27_past_is_bounded", "L27 past"),
    (RemovesInsteadOfUndoing, "test_l29_undo", "L29 undo"),
    (UndoesWhatNobodyKept, "test_l29_undo_is_refused", "L29 undo"),
    (ForgetsThePresentAlone, "test_l30_forget", "L30 forget"),
    (KeepsOldPassages, "test_l23_remove", "L23 remove"),
    (IsThereUntilItIsSwept, "test_e1_end", "E1 end"),
    (RemembersTheTimeOfWhatIsGone, "test_e1_end", "E1 end"),
    (OverflowsOnLongLives, "test_e1_end_of_long_lives", "L20 errors"),
    (RevivesWhatIsGone, "test_e2_refresh", "E2 refresh"),
    (SweepsWhatWillEnd, "test_e3_sweep", "E3 sweep"),
]

# By generated programs, which find what no case was written for; the message names the law of the step that went wrong.
CAUGHT_BY_PROGRAMS = [
    pytest.param(WritesValuesAnew, "L1 put", marks=thorough),
    (PutsTheFirstOfABatch, "L1 put"),
    (KeepsNothing, "L5 reopen"),
    pytest.param(FiltersAPage, "L10 window", marks=thorough),
    pytest.param(SweepsWhatWillEnd, "E3 sweep", marks=thorough),
]


def laws_of(kind: type[BrokenItems]) -> ItemRepositoryLaws:
    """Return the laws of a broken repository over a dictionary that survives being opened again."""
    kept = InMemoryItemRepository(Database())
    laws = ItemRepositoryLaws()
    laws.repository = Layer.sync(ItemRepositoryTag, lambda: kind(kept))
    laws.shrinks = False
    return laws


@pytest.mark.parametrize(("kind", "case", "law"), CAUGHT)
def test_a_broken_repository_is_caught_by_the_law_that_it_breaks(
    kind: type[BrokenItems], case: str, law: str
) -> None:
    with pytest.raises(LawBrokenError) as broken:
        getattr(laws_of(kind), case)()
    assert str(broken.value).startswith(f"{law}: ")


@pytest.mark.parametrize(("kind", "law"), CAUGHT_BY_PROGRAMS)
def test_a_broken_repository_is_caught_by_a_program(kind: type[BrokenItems], law: str) -> None:
    laws = laws_of(kind)
    laws.examples = 500  # a program finds what it happens to do; the first failure ends it
    with pytest.raises(LawBrokenError) as broken:
        laws.test_l21_equivalence()
    assert str(broken.value).startswith(f"{law}: ")


class TestASoundRepositoryBehindTheSameWrapper(ItemRepositoryLaws):
    """The control: what is caught above is the fault, not the wrapper."""

    examples = rounds(12, thorough=100)

    @pytest.fixture(autouse=True)
    def unbroken(self) -> None:
        self.repository = laws_of(BrokenItems).repository
