"""The laws catch what they are there for: each broken memory repository by the law that it breaks, a sound one by none."""

import pytest

from chatmemory.conversation.message_repository import MessageRepositoryTag
from chatmemory.effect import Layer
from chatmemory.laws import LawBrokenError, MemoryRepositoryLaws
from chatmemory.longterm.memory_repository import MemoryRepositoryTag
from chatmemory_layers.in_memory.database import Database
from chatmemory_layers.in_memory.memory_repository import InMemoryMemoryRepository
from chatmemory_layers.in_memory.message_repository import InMemoryMessageRepository
from tests.laws.broken_memories import (
    AcknowledgesBeforeItStores,
    AttachesToWhatHasChanged,
    BelievesWhatComesLast,
    BrokenMemory,
    ComparesSignsOnly,
    CorrectsWithoutAsking,
    CountsFindingAsUse,
    CountsRepeatedUses,
    CreatesWhatIsAskedFor,
    DeduplicatesAcrossApps,
    DeletesWhatIsSuperseded,
    EndsAcrossApps,
    EndsBeforeItStores,
    EndsByIdAlone,
    EndsByTheWordsOfATool,
    EndsInSilence,
    EndsSeveralValued,
    EndsWhatIsPinned,
    EndsWhatOthersSaid,
    ExpiresWhatIsPinned,
    FindsMoreThanAsked,
    FindsShortTermMemories,
    ForgetsByIdAlone,
    ForgetsByPrefix,
    ForgetsTheNewestValueOnly,
    ForgetsWhatSuperseded,
    ForgetsWithLike,
    HasOneIdForAll,
    IgnoresTheApp,
    KeepsTheWordsOfTheOldContent,
    KeepsWholeSeconds,
    LeavesOutWhatStandsBeside,
    LeavesSummariesAsTheyAre,
    LetsDriverErrorsEscape,
    ListsByContentAlone,
    ListsByPattern,
    ListsWhateverItContains,
    LooksForDuplicatesTooEarly,
    LooksForTheKeyTooEarly,
    LosesConcurrentUses,
    LosesTheAttribute,
    MarksByIdAlone,
    MixesSpaces,
    OverwritesById,
    PagesByInstantAlone,
    PromotesWhatAnybodySaid,
    ReadsTheTextAsAPattern,
    RemembersDedupKeysForEver,
    ReplacesWhatIsGone,
    ReportsDuplicatesAsStored,
    RestoresBesideTheSuccessor,
    RestoresWhateverItSees,
    SearchesThePastInThePresent,
    ServesTheForgottenFromACache,
    SharesValues,
    StoresRowByRow,
    StoresWhatItCan,
    SwallowsConflicts,
)
from tests.thorough import rounds, thorough

# A law that is broken half-way has made questions that it no longer asks.
pytestmark = pytest.mark.filterwarnings("ignore:this effect never ran")

CAUGHT = [
    (KeepsWholeSeconds, "test_l1_remember", "L1 remember"),
    (SharesValues, "test_l1_remember_copies", "L1 remember"),
    (StoresWhatItCan, "test_l2_atomic_batch", "L2 atomic batch"),
    (OverwritesById, "test_l2_atomic_batch", "L2 atomic batch"),
    (SwallowsConflicts, "test_l2_atomic_batch", "L2 atomic batch"),
    (ForgetsWithLike, "test_l3_isolation", "L3 isolation"),
    (HasOneIdForAll, "test_l3_isolation_of_ids", "L3 isolation"),
    (EndsByIdAlone, "test_l3_isolation_of_ids", "L3 isolation"),
    (MarksByIdAlone, "test_l3_isolation_of_ids", "L3 isolation"),
    (ForgetsByIdAlone, "test_l3_isolation_of_ids", "L3 isolation"),
    (AcknowledgesBeforeItStores, "test_l5_reopen", "L5 reopen"),
    (StoresRowByRow, "test_l6_cancel", "L6 cancel"),
    (StoresRowByRow, "test_l7_race", "L7 race"),
    (LooksForDuplicatesTooEarly, "test_l7_race_for_a_dedup_key", "L7 race"),
    (LooksForTheKeyTooEarly, "test_l7_race_for_a_key", "L7 race"),
    (ReplacesWhatIsGone, "test_l7_race_for_a_place", "L7 race"),
    (LeavesOutWhatStandsBeside, "test_l8_beside", "L8 candidates"),
    (FindsMoreThanAsked, "test_l8_candidates", "L8 candidates"),
    (CountsFindingAsUse, "test_l8_candidates", "L8 candidates"),
    (ReadsTheTextAsAPattern, "test_l8_candidates_by_text", "L8 candidates"),
    (ComparesSignsOnly, "test_l9_self", "L9 self"),
    (PagesByInstantAlone, "test_l10_window", "L10 window"),
    (ListsByPattern, "test_l10_window_on_a_text", "L10 window"),
    (ListsWhateverItContains, "test_l10_window_on_a_text", "L10 window"),
    (ListsByContentAlone, "test_l10_window_on_a_text", "L10 window"),
    (CreatesWhatIsAskedFor, "test_l11_empty", "L11 empty"),
    (OverwritesById, "test_l12_retry", "L12 retry"),
    (ReportsDuplicatesAsStored, "test_l13_dedup", "L13 dedup"),
    (DeduplicatesAcrossApps, "test_l13_dedup", "L13 dedup"),
    (IgnoresTheApp, "test_l16_filter", "L16 filter"),
    (FindsShortTermMemories, "test_l16_filter", "L16 filter"),
    (FindsShortTermMemories, "test_l16_filter_promote", "L16 filter"),
    (CountsRepeatedUses, "test_l17_access", "L17 access"),
    (CountsFindingAsUse, "test_l17_access_peeks", "L17 access"),
    (PromotesWhatAnybodySaid, "test_l17_access_promotes", "L17 access"),
    (LosesConcurrentUses, "test_l17_access_at_once", "L17 access"),
    (LetsDriverErrorsEscape, "test_l2_atomic_batch", "L20 errors"),
    (ForgetsTheNewestValueOnly, "test_l23_forget", "L23 forget"),
    (ForgetsByPrefix, "test_l23_forget", "L23 forget"),
    (ServesTheForgottenFromACache, "test_l23_forget", "L23 forget"),
    (RemembersDedupKeysForEver, "test_l23_forget_all", "L23 forget"),
    (ExpiresWhatIsPinned, "test_l23_expire", "L23 forget"),
    (LeavesSummariesAsTheyAre, "test_l23_forget_marks_summaries", "L23 forget"),
    (ForgetsWhatSuperseded, "test_t1_truth", "T1 truth"),
    (DeletesWhatIsSuperseded, "test_t1_truth", "T1 truth"),
    (SearchesThePastInThePresent, "test_t2_time_travel", "T2 time travel"),
    (CorrectsWithoutAsking, "test_t3_correct", "T3 correct"),
    (KeepsTheWordsOfTheOldContent, "test_t3_correct", "T3 correct"),
    (LosesTheAttribute, "test_t4_attribute", "T4 attribute"),
    (EndsAcrossApps, "test_t4_attribute", "T4 attribute"),
    (EndsWhatIsPinned, "test_t4_attribute", "T4 attribute"),
    (EndsWhatOthersSaid, "test_t4_attribute", "T4 attribute"),
    (EndsByTheWordsOfATool, "test_t4_attribute", "T4 attribute"),
    (EndsSeveralValued, "test_t4_attribute", "T4 attribute"),
    (EndsBeforeItStores, "test_t4_attribute", "T4 attribute"),
    (EndsInSilence, "test_t4_attribute", "T4 attribute"),
    (BelievesWhatComesLast, "test_t5_late", "T5 late"),
    (RestoresBesideTheSuccessor, "test_t6_restore", "T6 restore"),
    (RestoresWhateverItSees, "test_t6_restore", "T6 restore"),
    (MixesSpaces, "test_v1_vectors", "V1 vectors"),
]

# By generated programs, which find what no case was written for; the message names the law of the step that went wrong.
CAUGHT_BY_PROGRAMS = [
    pytest.param(KeepsWholeSeconds, "L1 remember", marks=thorough),
    pytest.param(StoresWhatItCan, "L2 atomic batch", marks=thorough),
    (AcknowledgesBeforeItStores, "L5 reopen"),
    pytest.param(SearchesThePastInThePresent, "L8 candidates", marks=thorough),
    pytest.param(PagesByInstantAlone, "L10 window", marks=thorough),
    pytest.param(ListsWhateverItContains, "L10 window", marks=thorough),
    (ReportsDuplicatesAsStored, "L13 dedup"),
    pytest.param(CountsRepeatedUses, "L17 access", marks=thorough),
    pytest.param(ForgetsByPrefix, "L23 forget", marks=thorough),
    (ExpiresWhatIsPinned, "L23 forget"),
    pytest.param(DeletesWhatIsSuperseded, "T1 truth", marks=thorough),
    pytest.param(CorrectsWithoutAsking, "T3 correct", marks=thorough),
    pytest.param(AttachesToWhatHasChanged, "V1 vectors", marks=thorough),
]


def laws_of(kind: type[BrokenMemory]) -> MemoryRepositoryLaws:
    """Return the laws of a broken repository over dictionaries that survive being opened again."""
    database = Database()
    kept = InMemoryMemoryRepository(database)
    laws = MemoryRepositoryLaws()
    laws.repository = Layer.sync(MemoryRepositoryTag, lambda: kind(kept)) | Layer.succeed(
        MessageRepositoryTag, InMemoryMessageRepository(database)
    )
    laws.shrinks = False
    return laws


@pytest.mark.parametrize(("kind", "case", "law"), CAUGHT)
def test_a_broken_repository_is_caught_by_the_law_that_it_breaks(
    kind: type[BrokenMemory], case: str, law: str
) -> None:
    with pytest.raises(LawBrokenError) as broken:
        getattr(laws_of(kind), case)()
    assert str(broken.value).startswith(f"{law}: ")


@pytest.mark.parametrize(("kind", "law"), CAUGHT_BY_PROGRAMS)
def test_a_broken_repository_is_caught_by_a_program(kind: type[BrokenMemory], law: str) -> None:
    laws = laws_of(kind)
    laws.examples = 500  # a program finds what it happens to do; the first failure ends it
    with pytest.raises(LawBrokenError) as broken:
        laws.test_l21_equivalence()
    assert str(broken.value).startswith(f"{law}: ")


class TestASoundRepositoryBehindTheSameWrapper(MemoryRepositoryLaws):
    """The control: what is caught above is the fault, not the wrapper."""

    examples = rounds(12, thorough=100)

    @pytest.fixture(autouse=True)
    def unbroken(self) -> None:
        self.repository = laws_of(BrokenMemory).repository
