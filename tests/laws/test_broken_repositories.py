"""The laws catch what they are there for: each broken repository by the law that it breaks, and a sound one by none."""

from pathlib import Path

import pytest

from chatmemory.conversation.message_repository import MessageRepositoryTag
from chatmemory.effect import Layer
from chatmemory.laws import LawBrokenError, MessageRepositoryLaws
from chatmemory.settings.memory_settings import SqliteSettings, SqliteSettingsTag
from chatmemory_layers.in_memory.database import Database
from chatmemory_layers.in_memory.message_repository import InMemoryMessageRepository
from chatmemory_layers.sqlite.engine import database
from chatmemory_layers.sqlite.messages import message_repository
from tests.laws.broken import (
    AcknowledgesBeforeItStores,
    ActsForWhoeverCameFirst,
    Broken,
    ChecksTheVersionTooEarly,
    ClearsBranchesToo,
    ClearsWithLike,
    CommitsRowByRow,
    CountsDuplicates,
    CountsVersionsAnew,
    CreatesWhatIsAskedFor,
    CursorsIncludeTheirMessage,
    DeletesBeforeItSummarizes,
    ForgetsDeletedIds,
    ForksByName,
    ForksForWhoeverAsks,
    ForksOnlyTheEnd,
    ForksTwice,
    FreesWhatIsCleared,
    HidesWhatADeletedSummaryCovers,
    HidesWhatIsCoveredSince,
    IgnoresLeases,
    LetsDriverErrorsEscape,
    LetsReadersClear,
    LetsTheLastWriteWin,
    ListsWhatIsOthers,
    LooksAwayWhileItForks,
    NamesEveryParent,
    NeverRollsBack,
    OrdersByTimestamp,
    PagesByTimeAlone,
    QueuesNoWork,
    ReadsOnlyThePresent,
    RefusesItsOwnSuccess,
    RemovesTheLatestRow,
    RetriesAtOnce,
    SaysThatAllIsKept,
    SharesMetadata,
    ShowsWhatIsOthers,
    StaysLocked,
    SummarizesBeforeItDeletes,
    SummarizesWhatItLikes,
    SwallowsDriverErrors,
    TakesAnyRole,
    TakesPrefixesForPatterns,
)
from tests.laws.broken_replacing import (
    ReplacesByMessagesAlone,
    ReplacesNothing,
    ReplacesWhicheverIsNewest,
    SparesSummaries,
)
from tests.laws.broken_undo import (
    CallsItUnfound,
    ClearsNoBranch,
    HidesWhoStillHoldsIt,
    LeavesWhatWasSummarizedCovered,
    NeverBringsBack,
    UndoesBySayingSo,
    UndoesWhicheverIsNewest,
    UndoesWithoutATrace,
)
from tests.thorough import rounds, thorough

# A law that is broken half-way has made questions that it no longer asks.
pytestmark = pytest.mark.filterwarnings("ignore:this effect never ran")

CAUGHT = [
    (SharesMetadata, "test_l1_append_copies", "L1 append"),
    (OrdersByTimestamp, "test_l1_append", "L1 append"),
    (LetsTheLastWriteWin, "test_l2_atomic_batch", "L2 atomic batch"),
    (ClearsWithLike, "test_l3_isolation", "L3 isolation"),
    (CountsVersionsAnew, "test_l4_clear", "L4 clear"),
    (AcknowledgesBeforeItStores, "test_l5_reopen", "L5 reopen"),
    (NeverRollsBack, "test_l6_cancel", "L6 cancel"),
    (CommitsRowByRow, "test_l6_cancel", "L6 cancel"),
    (CommitsRowByRow, "test_l7_race", "L7 race"),
    (ChecksTheVersionTooEarly, "test_l7_race_for_a_version", "L7 race"),
    (CursorsIncludeTheirMessage, "test_l10_window", "L10 window"),
    (CursorsIncludeTheirMessage, "test_l10_window_waits", "L10 window"),
    (PagesByTimeAlone, "test_l10_window_of_the_list", "L10 window"),
    (TakesPrefixesForPatterns, "test_l10_window_of_the_list", "L10 window"),
    (CreatesWhatIsAskedFor, "test_l11_empty", "L11 empty"),
    (ForgetsDeletedIds, "test_l12_retry", "L12 retry"),
    (RefusesItsOwnSuccess, "test_l12_retry", "L12 retry"),
    (RemovesTheLatestRow, "test_l24_remove", "L24 remove"),
    (HidesWhatADeletedSummaryCovers, "test_l24_remove_a_summary_that_deleted_another", "L24 remove"),
    (OrdersByTimestamp, "test_l14_coverage", "L14 coverage"),
    (DeletesBeforeItSummarizes, "test_l14_coverage_in_a_race", "L14 coverage"),
    (SummarizesWhatItLikes, "test_l14_coverage_is_guarded", "L14 coverage"),
    (SummarizesBeforeItDeletes, "test_l14_coverage_is_whole", "L14 coverage"),
    (DeletesBeforeItSummarizes, "test_l14_coverage_is_whole", "L14 coverage"),
    (ShowsWhatIsOthers, "test_l26_owner", "L26 owner"),
    (ReadsOnlyThePresent, "test_l27_past", "L27 past"),
    (HidesWhatIsCoveredSince, "test_l27_past", "L27 past"),
    (ForksOnlyTheEnd, "test_l28_fork", "L28 fork"),
    (ForksTwice, "test_l28_fork_is_guarded", "L28 fork"),
    (ForksByName, "test_l28_fork_and_its_siblings", "L28 fork"),
    (ClearsBranchesToo, "test_l28_fork_and_its_siblings", "L28 fork"),
    (LooksAwayWhileItForks, "test_l28_fork_at_once", "L28 fork"),
    (ForksForWhoeverAsks, "test_l28_fork_and_owners", "L28 fork"),
    (NamesEveryParent, "test_l28_fork_and_owners", "L28 fork"),
    (UndoesBySayingSo, "test_l29_undo_of_what_was_added", "L29 undo"),
    (UndoesWithoutATrace, "test_l29_undo_of_what_was_added", "L29 undo"),
    (LeavesWhatWasSummarizedCovered, "test_l29_undo_of_a_summary", "L29 undo"),
    (NeverBringsBack, "test_l29_undo_of_a_clear", "L29 undo"),
    (HidesWhoStillHoldsIt, "test_l29_undo_of_a_clear", "L29 undo"),
    (UndoesWhicheverIsNewest, "test_l29_undo_is_guarded", "L29 undo"),
    (ReplacesNothing, "test_l31_replace", "L31 replace"),
    (ReplacesByMessagesAlone, "test_l31_replace_by_nothing", "L31 replace"),
    (SparesSummaries, "test_l31_replaced_summary", "L31 replace"),
    (ReplacesWhicheverIsNewest, "test_l31_refused", "L31 replace"),
    (CallsItUnfound, "test_l29_undo_is_guarded", "L29 undo"),
    (ClearsNoBranch, "test_l29_clear_of_a_tree", "L29 clear"),
    (SaysThatAllIsKept, "test_l27_past_of_what_was_removed", "L27 past"),
    (ShowsWhatIsOthers, "test_l26_owner_is_nobody", "L26 owner"),
    (ListsWhatIsOthers, "test_l26_owner", "L26 owner"),
    (LetsReadersClear, "test_l26_owner_grants", "L26 owner"),
    (FreesWhatIsCleared, "test_l26_owner_of_what_was_cleared", "L26 owner"),
    (TakesAnyRole, "test_l26_owner_and_roles", "L26 owner"),
    (ActsForWhoeverCameFirst, "test_l26_owner_at_once", "L26 owner"),
    (LetsDriverErrorsEscape, "test_l2_atomic_batch", "L20 errors"),
    (QueuesNoWork, "test_w1_outbox", "W1 outbox"),
    (IgnoresLeases, "test_w2_lease", "W2 lease"),
    (RetriesAtOnce, "test_w3_settle", "W3 settle"),
]

# By generated programs, which find what no case was written for; the message names the law of the step that went wrong.
CAUGHT_BY_PROGRAMS = [
    pytest.param(OrdersByTimestamp, "L1 append", marks=thorough),
    pytest.param(LetsTheLastWriteWin, "L2 atomic batch", marks=thorough),
    pytest.param(ClearsWithLike, "L3 isolation", marks=thorough),
    (AcknowledgesBeforeItStores, "L5 reopen"),
    pytest.param(CursorsIncludeTheirMessage, "L10 window", marks=thorough),
    pytest.param(TakesPrefixesForPatterns, "L10 window", marks=thorough),
    (CountsDuplicates, "L12 retry"),
    pytest.param(RefusesItsOwnSuccess, "L12 retry", marks=thorough),
    pytest.param(SummarizesWhatItLikes, "L14 coverage", marks=thorough),
    pytest.param(ReadsOnlyThePresent, "L27 past", marks=thorough),
    pytest.param(ForksOnlyTheEnd, "L28 fork", marks=thorough),
    pytest.param(UndoesWhicheverIsNewest, "L29 undo", marks=thorough),
    pytest.param(RemovesTheLatestRow, "L24 remove", marks=thorough),
]


def laws_of(kind: type[Broken]) -> MessageRepositoryLaws:
    """Return the laws of a broken repository over a dictionary that survives being opened again."""
    kept = InMemoryMessageRepository(Database())
    laws = MessageRepositoryLaws()
    laws.repository = Layer.sync(MessageRepositoryTag, lambda: kind(kept))
    laws.shrinks = False
    laws.patience_seconds = 3.0  # what is broken need not be waited for as long as what is slow
    return laws


@pytest.mark.parametrize(("kind", "case", "law"), CAUGHT)
def test_a_broken_repository_is_caught_by_the_law_that_it_breaks(
    kind: type[Broken], case: str, law: str
) -> None:
    with pytest.raises(LawBrokenError) as broken:
        getattr(laws_of(kind), case)()
    assert str(broken.value).startswith(f"{law}: ")


@pytest.mark.parametrize(("kind", "law"), CAUGHT_BY_PROGRAMS)
def test_a_broken_repository_is_caught_by_a_program(kind: type[Broken], law: str) -> None:
    laws = laws_of(kind)
    laws.examples = 500  # a program finds what it happens to do; the first failure ends it
    with pytest.raises(LawBrokenError) as broken:
        laws.test_l21_equivalence()
    assert str(broken.value).startswith(f"{law}: ")


def test_a_repository_that_stays_locked_after_a_cancel_is_caught_instead_of_waited_for() -> None:
    laws = laws_of(StaysLocked)
    laws.patience_seconds = 0.2
    with pytest.raises(LawBrokenError, match=r"^L20 errors: .*\nno answer within 0.2 seconds"):
        laws.test_l6_cancel()


def test_a_repository_that_swallows_driver_errors_is_caught_by_l20(tmp_path: Path) -> None:
    settings = Layer.succeed(SqliteSettingsTag, SqliteSettings(path=str(tmp_path / "laws.db")))
    sound = settings >> database.database >> message_repository.message_repository
    laws = MessageRepositoryLaws()
    laws.repository = sound >> Layer.effect(
        MessageRepositoryTag,
        MessageRepositoryTag.get().map(SwallowsDriverErrors),
        needs=[MessageRepositoryTag],
    )
    with pytest.raises(LawBrokenError, match=r"^L20 errors: "):
        laws.test_l20_errors()


class TestASoundRepositoryBehindTheSameWrapper(MessageRepositoryLaws):
    """The control: what is caught above is the fault, not the wrapper."""

    examples = rounds(12, thorough=100)

    @pytest.fixture(autouse=True)
    def unbroken(self) -> None:
        self.repository = laws_of(Broken).repository
