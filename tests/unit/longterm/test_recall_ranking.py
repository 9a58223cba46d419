"""The ranking of recall: its laws for any candidates, and what words, vectors, age and threshold do to a hit."""

import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from attrs import evolve
from hypothesis import given, strategies as st

from chatmemory import USUAL_THRESHOLD, Layer, ManagedRuntime, Memory, Namespace
from chatmemory.embedding.space import EmbeddingSpace
from chatmemory.longterm.recall.recall import Coverage, Recall
from chatmemory.longterm.recall.recall_ranker import RecallRanker, RecallRankerTag
from chatmemory.longterm.recall.recall_ranking import WeightedRanking, recall_ranker
from chatmemory.longterm.repository_values import Candidate, Candidates, MemorySearch
from chatmemory.settings.memory_settings import RetrievalSettings, RetrievalSettingsTag
from chatmemory.text.search_terms import query_terms, search_terms
from chatmemory_layers.embedding.local import THRESHOLD, static
from tests.for_each import for_each
from tests.remembered import memory_of

NOW = datetime(2026, 11, 21, 9, tzinfo=UTC)
USER = Namespace("林")
SPACE = EmbeddingSpace("model", 2)
ALL = 1_000


def memory(name: str, content: str = "", *, days: float = 0, pinned: bool = False) -> Memory:
    created_at = NOW - timedelta(days=days)
    said: dict[str, Any] = {"source": "inferred", "confidence": 1.0, "category": None, "session_id": None}
    return memory_of(content, name, namespace=USER, pinned=pinned, created_at=created_at, **said)


def candidate(
    name: str, content: str = "", similarity: float | None = None, *, days: float = 0, pinned: bool = False
) -> Candidate:
    return Candidate(memory(name, content, days=days, pinned=pinned), search_terms(content), similarity)


def asked(text: str, *, with_vector: bool = True) -> MemorySearch:
    search = MemorySearch(USER, text, query_terms(text))
    return evolve(search, space=SPACE, vector=np.array([1, 0], np.float32)) if with_vector else search


def rank(
    search: MemorySearch,
    found: Sequence[Candidate],
    *,
    limit: int = ALL,
    matched_text: bool = False,
    unembedded: str | None = None,
    settings: RetrievalSettings = RetrievalSettings(),  # noqa: B008  frozen
) -> Recall:
    embedded = sum(one.similarity is not None for one in found)
    candidates = Candidates(tuple(found), matched_text, Coverage(embedded, len(found)))
    ranker: RecallRanker = WeightedRanking(settings, threshold_of(settings))
    return ranker.rank(search, candidates, now=NOW, limit=limit, unembedded=unembedded)


def threshold_of(settings: RetrievalSettings) -> float:
    return USUAL_THRESHOLD if settings.similarity_threshold is None else settings.similarity_threshold


def ids(recall: Recall) -> list[str]:
    return [hit.memory.id for hit in recall.hits]


contents = st.lists(st.sampled_from(["tea", "cat", "Rust", "茶", "橘猫", "编程"]), max_size=5).map(" ".join)
queries = st.builds(asked, contents, with_vector=st.booleans())
some_settings = st.builds(
    RetrievalSettings,
    similarity_threshold=st.floats(-1, 1),
    decay_per_day=st.sampled_from([0.0, 0.01, 10.0]),
    lexical_share=st.floats(0, 1),
)
founds = st.lists(
    st.builds(
        candidate,
        st.text("abc", min_size=1, max_size=3),
        contents,
        st.none() | st.sampled_from([0.0, 0.3, 0.5]) | st.floats(-1.0001, 1.0001),
        days=st.sampled_from([-3, 0, 1, 100]) | st.floats(-10, 10_000),
        pinned=st.booleans(),
    ),
    unique_by=lambda one: one.memory.id,
    max_size=12,
)


@given(queries, founds, some_settings, st.booleans(), st.integers(0, 14))
def test_hits_are_candidates_in_any_order_whose_finite_scores_from_0_to_1_never_grow(
    search: MemorySearch, found: list[Candidate], settings: RetrievalSettings, matched_text: bool, limit: int
) -> None:
    whole = rank(search, found, settings=settings, matched_text=matched_text)
    recall = rank(search, found[::-1], settings=settings, matched_text=matched_text, limit=limit)
    assert recall == evolve(whole, hits=whole.hits[:limit])
    hits = whole.hits
    assert len({hit.memory.id for hit in hits}) == len(hits)
    assert {hit.memory.id for hit in hits} <= {one.memory.id for one in found}
    for hit in hits:
        assert math.isfinite(hit.score)
        assert 0 <= hit.score <= 1
        assert 0 <= hit.signals.lexical <= 1
        assert 0 < hit.signals.decay <= 1
        assert hit.signals.age_days >= 0
    places = [(hit.score, hit.memory.created_at, hit.memory.id) for hit in hits]
    assert places == sorted(places, reverse=True)


@given(queries, founds, some_settings)
def test_a_hit_shares_a_word_or_is_similar_enough(
    search: MemorySearch, found: Sequence[Candidate], settings: RetrievalSettings
) -> None:
    threshold = threshold_of(settings)
    similar = {one.memory.id for one in found if one.similarity is not None and one.similarity >= threshold}
    sharing = {one.memory.id for one in found if set(search.terms) & set(one.terms.split())}
    hits = set(ids(rank(search, found, settings=settings)))
    assert similar <= hits <= similar | sharing
    # Beside a vector, a small share of the query's words alone is not enough.
    assert search.space is not None or hits == similar | sharing


def test_words_and_vectors_share_the_score_as_configured() -> None:
    found = [candidate("词", "喝茶", 0.5), candidate("向量", "睡觉", 0.8)]
    recall = rank(asked("喝茶"), found, settings=RetrievalSettings(lexical_share=0.4))
    assert {hit.memory.id: hit.score for hit in recall.hits} == pytest.approx(
        {"词": 0.4 + 0.6 * 0.5, "向量": 0.6 * 0.8}
    )


def test_a_similarity_below_the_threshold_is_no_evidence_even_for_one_that_shares_a_word() -> None:
    settings = RetrievalSettings(similarity_threshold=0.3, lexical_share=0.5)
    found = [candidate("words", "tea", 0.29), candidate("both", "tea", 0.3), candidate("none", "cat", 0.29)]
    recall = rank(asked("tea"), found, settings=settings)
    scores = [(hit.memory.id, hit.score) for hit in recall.hits]
    assert scores == [("both", pytest.approx(0.65)), ("words", 0.5)]
    assert recall.hits[1].signals.similarity == 0.29


def test_when_no_vector_reaches_the_threshold_words_still_find() -> None:
    recall = rank(
        asked("我喜欢什么茶"), [candidate("茶", "喜欢龙井茶", 0.1), candidate("猫", "家有橘猫", 0.2)]
    )
    assert (ids(recall), recall.mode) == (["茶"], "hybrid")
    assert recall.hits[0].score == recall.hits[0].signals.lexical
    assert recall.reason == "no vector is similar enough"


def test_without_any_vector_the_words_are_the_whole_score_and_the_reason_says_why() -> None:
    found = [candidate("a", "tea"), candidate("b", "cat")]
    recall = rank(asked("tea", with_vector=False), found, unembedded="no embedder is configured")
    assert [(hit.memory.id, hit.score) for hit in recall.hits] == [("a", 1.0)]
    assert (recall.mode, recall.reason) == ("lexical", "no embedder is configured")
    nobody = rank(asked("tea"), [])
    assert (nobody.hits, nobody.mode, nobody.coverage) == ((), "lexical", Coverage(0, 0))


def test_one_without_a_vector_counts_as_similar_as_the_others_are_on_average() -> None:
    settings = RetrievalSettings(similarity_threshold=0.3, lexical_share=0.5)
    found = [candidate("old model", "绿茶"), candidate("near", "咖啡", 0.8), candidate("nearer", "果汁", 0.6)]
    recall = rank(asked("绿茶"), [*found, candidate("far", "水", 0.1)], settings=settings)
    assert {hit.memory.id: hit.score for hit in recall.hits} == pytest.approx(
        {"old model": 0.5 + 0.5 * 0.7, "near": 0.4, "nearer": 0.3}
    )


def test_the_age_is_in_days_and_zero_for_a_memory_from_the_future() -> None:
    (hit,) = rank(asked("tea"), [candidate("a", "tea", days=10_000)]).hits
    assert hit.signals.age_days == 10_000
    (hit,) = rank(asked("tea"), [candidate("a", "tea", 1.0, days=-30)]).hits
    assert (hit.score, hit.signals.age_days, hit.signals.decay) == (1.0, 0.0, 1.0)


def test_where_the_text_itself_was_found_it_counts_like_the_best_words_and_the_newest_is_first() -> None:
    found = [candidate("old", "C盘满了 :-)", days=100), candidate("new", "又满了 :-)", days=0)]
    search = evolve(asked(":-)", with_vector=False), terms=())
    recall = rank(search, found, matched_text=True, unembedded="no embedder is configured")
    scores = [(hit.memory.id, hit.score, hit.signals.lexical) for hit in recall.hits]
    assert scores == [("new", 1, 1), ("old", 0.5, 1)]
    assert recall.mode == "like"
    assert recall.reason == (
        "no embedder is configured; no memory shares a word with the query, these contain its text"
    )


def test_beside_text_matches_a_vector_needs_its_threshold_as_ever() -> None:
    found = [candidate("text", "so :-(", 0.1), candidate("near", "sad", 0.5), candidate("far", "cat", 0.1)]
    recall = rank(evolve(asked(":-("), terms=()), found, matched_text=True)
    assert set(ids(recall)) == {"text", "near"}


def test_the_reason_says_that_no_memory_has_a_vector_of_the_model_or_how_many_have_none() -> None:
    recall = rank(asked("tea"), [candidate("a", "tea")])
    assert (recall.mode, recall.reason) == ("lexical", "no memory has a vector of model")
    found = [candidate("a", "tea", 0.9), candidate("b", "tea"), candidate("c", "cat", 0.9)]
    recall = rank(asked("tea"), found)
    assert (recall.mode, recall.coverage) == ("hybrid", Coverage(2, 3))
    assert recall.reason == "by words and vectors; 1 of 3 memories have no vector of model"


@for_each(("with_vector", "hits"), [(True, ["whole"]), (False, ["whole", "common"])])
def test_a_shared_word_of_no_weight_makes_no_hit_beside_vectors(with_vector: bool, hits: list[str]) -> None:
    similarity = 0.1 if with_vector else None
    search = asked("她在杭州上班用什么电脑", with_vector=with_vector)
    found = [candidate("whole", "我在杭州上班用电脑", similarity), candidate("common", "用", similarity)]
    assert ids(rank(search, found)) == hits


@for_each(("threshold", "expected"), [(None, THRESHOLD), (0.7, 0.7)])
async def test_the_layer_ranks_as_the_settings_say_and_by_the_threshold_of_the_embedder(
    threshold: float | None, expected: float
) -> None:
    settings = RetrievalSettings(lexical_share=0.1, similarity_threshold=threshold)
    given = Layer.succeed(RetrievalSettingsTag, settings) | static
    async with ManagedRuntime(given >> recall_ranker) as runtime:
        assert await runtime.service(RecallRankerTag) == WeightedRanking(settings, expected)


def test_a_bounded_search_for_the_text_is_told() -> None:
    def reason(content: str, memories: int) -> str:
        found = Candidates(
            (candidate("a", content, 0.9),), matched_text=False, coverage=Coverage(memories, memories)
        )
        ranker = WeightedRanking(RetrievalSettings(), USUAL_THRESHOLD)
        return ranker.rank(asked("tea"), found, now=NOW, limit=ALL).reason

    assert reason("cat", 5_001).endswith("query, and its text was sought in the newest 5000 only")
    assert "sought" not in reason("tea", 5_001)
    assert "sought" not in reason("cat", 5_000)
