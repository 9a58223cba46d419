"""The laws of long-term memory catch what they are there for: a broken part of it by the law that it breaks."""

import sys
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
from tests.laws import broken_memories
from tests.laws.breaking import Breaks, broken_in
from tests.laws.broken_memories import BrokenMemory
from tests.laws.test_long_term_memories import PROMOTING

# A law that is broken half-way has made questions that it no longer asks.
pytestmark = pytest.mark.filterwarnings("ignore:this effect never ran")


@frozen
class BrokenRanker(Breaks):
    """Ranks as a sound ranker does; each subclass gets something wrong."""

    inner: RecallRanker

    def rank(self, search: MemorySearch, candidates: Candidates, /, **how: Any) -> Recall:
        return self.inner.rank(search, candidates, **how)


class WorstFirst(BrokenRanker, breaks=["l8_recall", "l9_self"]):
    def rank(self, search: MemorySearch, candidates: Candidates, /, **how: Any) -> Recall:
        recall = super().rank(search, candidates, **how)
        return evolve(recall, hits=recall.hits[::-1])


class LimitsBeforeItRanks(BrokenRanker, breaks="l8_recall"):
    def rank(self, search: MemorySearch, candidates: Candidates, /, *, limit: int, **how: Any) -> Recall:
        few = evolve(candidates, found=candidates.found[:limit])
        return super().rank(search, few, limit=limit, **how)


class ForgetsPins(BrokenRanker, breaks="l15_decay"):
    def rank(self, search: MemorySearch, candidates: Candidates, /, **how: Any) -> Recall:
        return super().rank(search, changed(candidates, pinned=False), **how)


class TakesEverythingForNew(BrokenRanker, breaks="l15_decay"):
    def rank(self, search: MemorySearch, candidates: Candidates, /, **how: Any) -> Recall:
        return super().rank(search, changed(candidates, created_at=how["now"]), **how)


class ScoresByHalves(BrokenRanker, breaks="l15_threshold_without_decay"):
    def rank(self, search: MemorySearch, candidates: Candidates, /, **how: Any) -> Recall:
        recall = super().rank(search, candidates, **how)
        return evolve(recall, hits=tuple([evolve(hit, score=hit.score / 2) for hit in recall.hits]))


class WaitsForTheEmbedder(BrokenRanker, breaks="l18_degrade_alike"):
    """While the embedder fails, what has a vector is left out, although its words can be found."""

    def rank(self, search: MemorySearch, candidates: Candidates, /, **how: Any) -> Recall:
        if search.vector is None:
            without = [one for one in candidates.found if one.memory.embedding is None]
            candidates = evolve(candidates, found=tuple(without))
        return super().rank(search, candidates, **how)


class FindsNothingWithoutAVector(BrokenRanker, breaks="l18_degrade"):
    def rank(self, search: MemorySearch, candidates: Candidates, /, **how: Any) -> Recall:
        recall = super().rank(search, candidates, **how)
        return recall if search.vector is not None else evolve(recall, hits=())


class HasNoThreshold(BrokenRanker, breaks="l15_threshold"):
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


RANKERS = [kind for kind in broken_in(sys.modules[__name__]) if issubclass(kind, BrokenRanker)]
CAUGHT_RANKERS = [catch for kind in RANKERS for catch in kind.catches]
CAUGHT_REPOSITORIES = [catch for kind in broken_in(broken_memories) for catch in kind.in_service]


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
    assert caught(laws_of(ranker=ranker), case).startswith(f"{law} ")


@pytest.mark.parametrize(("repository", "case", "law"), CAUGHT_REPOSITORIES)
def test_a_broken_repository_is_caught_through_the_service(
    repository: type[BrokenMemory], case: str, law: str
) -> None:
    assert caught(laws_of(repository=repository), case).startswith(f"{law} ")


def test_an_embedder_without_a_guard_is_caught_by_l18() -> None:
    message = caught(laws_of(is_guarded=False), "test_l18_degrade")
    assert message.startswith("L18 degrade: ")


class TestASoundMemoryBehindTheSameWrappers(LongTermMemoryLaws):
    """The control: what is caught above is the fault, not the wrapper."""

    @pytest.fixture(autouse=True)
    def unbroken(self) -> None:
        self.memory = laws_of().memory
