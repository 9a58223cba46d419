"""The laws of long-term memory catch what they are there for: a broken part of it by the law that it breaks."""

from typing import Any

import pytest
from attrs import evolve, frozen

from chatmemory.effect import Layer
from chatmemory.embedding.embedding_guard import guarded
from chatmemory.laws import LawBrokenError, LongTermMemoryLaws
from chatmemory.longterm.extraction.extractors import rule_extractor
from chatmemory.longterm.long_term_memory_live import long_term_memory
from chatmemory.longterm.memory_repository import MemoryRepositoryTag
from chatmemory.longterm.recall.recall import Recall, RecallHit, Signals
from chatmemory.longterm.recall.recall_ranker import RecallRanker, RecallRankerTag
from chatmemory.longterm.recall.recall_ranking import recall_ranker
from chatmemory.longterm.repository_values import Candidates, MemorySearch
from chatmemory_layers.in_memory.database import Database
from chatmemory_layers.in_memory.memory_repository import InMemoryMemoryRepository
from tests.laws.broken_memories import (
    BrokenMemory,
    CountsFindingAsUse,
    CountsRepeatedUses,
    FindsShortTermMemories,
    IgnoresTheApp,
    ListsEveryType,
    ListsNoSessions,
    PromotesInSilence,
    ServesTheForgottenFromACache,
)
from tests.laws.broken_past import HidesWhatWasForgotten, LeavesTheSuccessorTrue, NeverUnpins
from tests.laws.test_long_term_memories import PROMOTING

# A law that is broken half-way has made questions that it no longer asks.
pytestmark = pytest.mark.filterwarnings("ignore:this effect never ran")


@frozen
class BrokenRanker:
    """Ranks as a sound ranker does; each subclass gets something wrong."""

    inner: RecallRanker

    def rank(self, search: MemorySearch, candidates: Candidates, /, **how: Any) -> Recall:
        return self.inner.rank(search, candidates, **how)


class WorstFirst(BrokenRanker):
    def rank(self, search: MemorySearch, candidates: Candidates, /, **how: Any) -> Recall:
        recall = super().rank(search, candidates, **how)
        return evolve(recall, hits=recall.hits[::-1])


class LimitsBeforeItRanks(BrokenRanker):
    def rank(self, search: MemorySearch, candidates: Candidates, /, *, limit: int, **how: Any) -> Recall:
        few = evolve(candidates, found=candidates.found[:limit])
        return super().rank(search, few, limit=limit, **how)


class ForgetsPins(BrokenRanker):
    def rank(self, search: MemorySearch, candidates: Candidates, /, **how: Any) -> Recall:
        return super().rank(search, changed(candidates, pinned=False), **how)


class TakesEverythingForNew(BrokenRanker):
    def rank(self, search: MemorySearch, candidates: Candidates, /, **how: Any) -> Recall:
        return super().rank(search, changed(candidates, created_at=how["now"]), **how)


class ScoresByHalves(BrokenRanker):
    def rank(self, search: MemorySearch, candidates: Candidates, /, **how: Any) -> Recall:
        recall = super().rank(search, candidates, **how)
        return evolve(recall, hits=tuple([evolve(hit, score=hit.score / 2) for hit in recall.hits]))


class WaitsForTheEmbedder(BrokenRanker):
    """While the embedder fails, what has a vector is left out, although its words can be found."""

    def rank(self, search: MemorySearch, candidates: Candidates, /, **how: Any) -> Recall:
        if search.vector is None:
            without = [one for one in candidates.found if one.memory.embedding is None]
            candidates = evolve(candidates, found=tuple(without))
        return super().rank(search, candidates, **how)


class FindsNothingWithoutAVector(BrokenRanker):
    def rank(self, search: MemorySearch, candidates: Candidates, /, **how: Any) -> Recall:
        recall = super().rank(search, candidates, **how)
        return recall if search.vector is not None else evolve(recall, hits=())


class HasNoThreshold(BrokenRanker):
    def rank(self, search: MemorySearch, candidates: Candidates, /, **how: Any) -> Recall:
        recall = super().rank(search, candidates, **how)
        known = {hit.memory.id for hit in recall.hits}
        others = [
            RecallHit(candidate.memory, 0.0, Signals(candidate.similarity, 0.0, 0.0, 1.0))
            for candidate in candidates.found
            if candidate.memory.id not in known
        ]
        return evolve(recall, hits=(*recall.hits, *others))


def changed(candidates: Candidates, **changes: Any) -> Candidates:
    return evolve(
        candidates,
        found=tuple(
            evolve(candidate, memory=evolve(candidate.memory, **changes)) for candidate in candidates.found
        ),
    )


CAUGHT_RANKERS = [
    (WorstFirst, "test_l8_recall", "L8 recall"),
    (LimitsBeforeItRanks, "test_l8_recall", "L8 recall"),
    (WorstFirst, "test_l9_self", "L9 self"),
    (HasNoThreshold, "test_l15_threshold", "L15 threshold"),
    (ScoresByHalves, "test_l15_threshold_without_decay", "L15 threshold"),
    (ForgetsPins, "test_l15_decay", "L15 decay"),
    (TakesEverythingForNew, "test_l15_decay", "L15 decay"),
    (FindsNothingWithoutAVector, "test_l18_degrade", "L18 degrade"),
    (WaitsForTheEmbedder, "test_l18_degrade_alike", "L18 degrade"),
]
CAUGHT_REPOSITORIES = [
    (FindsShortTermMemories, "test_l16_filter", "L16 filter"),
    (IgnoresTheApp, "test_l16_filter", "L16 filter"),
    (CountsFindingAsUse, "test_l17_access", "L17 access"),
    (CountsRepeatedUses, "test_l17_access", "L17 access"),
    (PromotesInSilence, "test_l17_hits", "L17 hits"),
    (ListsEveryType, "test_l17_hits", "L17 hits"),
    (ListsNoSessions, "test_l17_hits", "L17 hits"),
    (ServesTheForgottenFromACache, "test_l23_forget", "L23 forget"),
    (LeavesTheSuccessorTrue, "test_u1_undo", "U1 undo"),
    (NeverUnpins, "test_u1_undo", "U1 undo"),
    (LeavesTheSuccessorTrue, "test_u1_undo_of_values", "U1 undo"),
    (HidesWhatWasForgotten, "test_u2_no_undo", "U2 no undo"),
]


def laws_of(
    *,
    repository: type[BrokenMemory] = BrokenMemory,
    ranker: type[BrokenRanker] = BrokenRanker,
    is_guarded: bool = True,
) -> LongTermMemoryLaws:
    """Return the laws of a long-term memory with one part that may be broken."""
    broken_ranker = recall_ranker >> Layer.effect(
        RecallRankerTag, RecallRankerTag.get().map(ranker), needs=[RecallRankerTag]
    )
    memories = Layer.sync(MemoryRepositoryTag, lambda: repository(InMemoryMemoryRepository(Database())))
    parts = memories | rule_extractor | broken_ranker
    laws = LongTermMemoryLaws()
    laws.memory = PROMOTING.feed_keep(parts | guarded if is_guarded else parts) >> long_term_memory
    return laws


def caught(laws: LongTermMemoryLaws, case: str) -> str:
    with pytest.raises(LawBrokenError) as broken:
        getattr(laws, case)()
    return str(broken.value)


@pytest.mark.parametrize(("ranker", "case", "law"), CAUGHT_RANKERS)
def test_a_broken_ranker_is_caught_by_the_law_that_it_breaks(
    ranker: type[BrokenRanker], case: str, law: str
) -> None:
    assert caught(laws_of(ranker=ranker), case).startswith(f"{law}: ")


@pytest.mark.parametrize(("repository", "case", "law"), CAUGHT_REPOSITORIES)
def test_a_broken_repository_is_caught_through_the_service(
    repository: type[BrokenMemory], case: str, law: str
) -> None:
    assert caught(laws_of(repository=repository), case).startswith(f"{law}: ")


def test_an_embedder_without_a_guard_is_caught_by_l18() -> None:
    message = caught(laws_of(is_guarded=False), "test_l18_degrade")
    assert message.startswith("L18 degrade: ")


class TestASoundMemoryBehindTheSameWrappers(LongTermMemoryLaws):
    """The control: what is caught above is the fault, not the wrapper."""

    @pytest.fixture(autouse=True)
    def unbroken(self) -> None:
        self.memory = laws_of().memory
