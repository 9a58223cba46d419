"""What each signal of the ranking is for."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from attrs import evolve

from chatmemory.pastchats.finding.hybrid_rank import HybridRanking
from chatmemory.pastchats.finding.prompt_hits import PromptHit
from chatmemory.pastchats.finding.prompt_terms import prompt_terms
from chatmemory.pastchats.prompt_repository import PromptCandidate, PromptCandidates, PromptSearch
from tests.for_each import for_each
from tests.pastchats.test_exchanges import prompt

NOW = datetime(2025, 6, 1, tzinfo=UTC)


def turn(
    row: int,
    *,
    content: str = "what was said",
    lexical: float = 0.0,
    similarity: float | None = None,
    talk: str = "one",
    session: str = "",
    speaker: str | None = None,
    at: datetime | None = NOW,
) -> PromptCandidate:
    said = prompt(row, "user", content)
    where: dict[str, Any] = {"conversation_id": talk, "session": session, "speaker": speaker, "timestamp": at}
    return PromptCandidate(evolve(said, id=row, **where), lexical, similarity)


def ranked(query: str, candidates: Sequence[PromptCandidate]) -> list[PromptHit]:
    search = PromptSearch(query, prompt_terms(query))
    return list(HybridRanking().rank(search, PromptCandidates(tuple(candidates)), now=NOW))


def order(query: str, candidates: Sequence[PromptCandidate]) -> list[int]:
    return [hit.prompt.id for hit in ranked(query, candidates)]


def test_words_have_the_whole_score_without_vectors_and_half_of_it_with_them() -> None:
    (alone,) = ranked("x", [turn(1, lexical=7.0)])
    assert alone.signals.lexical == 1.0
    best, worst = ranked("x", [turn(1, lexical=7.0, similarity=0.1), turn(2, similarity=0.9, talk="two")])
    assert {best.signals.lexical, worst.signals.lexical} == {0.5, 0.0}
    assert {best.signals.semantic, worst.signals.semantic} == {0.5, 0.0}


@for_each(("query", "share"), [("数据库连接池", 0.7), ("webhook", 0.5), ("连接 pool", 0.6)])
def test_words_count_for_more_the_more_of_the_query_is_chinese(query: str, share: float) -> None:
    best = ranked(query, [turn(1, lexical=7.0, similarity=0.9), turn(2, similarity=0.1, talk="two")])[0]
    assert (best.signals.lexical, best.signals.semantic) == pytest.approx((share, 1 - share))


def test_what_says_next_to_nothing_does_not_come_first() -> None:
    short = turn(1, lexical=9.0, talk="thanks", content="赞，有效")
    assert order("有效果吗", [short, turn(2, lexical=6.0)]) == [2, 1]


def test_an_answer_gains_from_the_question_beside_it_in_the_same_session() -> None:
    found = [turn(1, lexical=4.0), turn(2, lexical=1.0), turn(5, lexical=1.0, talk="two")]
    assert order("x", found) == [1, 2, 5]
    apart = ranked("x", [turn(1, lexical=4.0, session="a"), turn(2, lexical=1.0, session="b")])
    assert [hit.signals.neighbour for hit in apart if hit.prompt.id == 2] == [0]


def test_a_conversation_that_has_more_to_say_comes_first() -> None:
    found = [turn(1, lexical=2.0, talk="idle"), *(turn(row, lexical=2.0, talk="busy") for row in (3, 4, 5))]
    assert order("x", found)[-1] == 1


@for_each(
    ("query", "first"),
    [
        ("what did Caroline say?", 1),
        ("what did Melanie say?", 2),
        ("王芳说了什么", 3),
        ("carolines boat", 4),
        ("Caroline and Melanie", 4),
    ],
)
def test_the_only_person_named_comes_first(query: str, first: int) -> None:
    names = {1: "Caroline", 2: "Melanie", 3: "王芳", 4: None}
    found = [turn(row, lexical=1.0, talk=str(row), speaker=name) for row, name in names.items()]
    assert order(query, found)[0] == first


@for_each(
    ("query", "first"),
    [("on 8 May 2023", 1), ("昨天的错误", 2), ("5月8日", 1), ("a week ago", 3), ("whenever", 4)],
)
def test_what_was_said_on_the_date_named_comes_first(query: str, first: int) -> None:
    days = [datetime(2023, 5, 8, 9, tzinfo=UTC), NOW - timedelta(days=1), NOW - timedelta(days=7)]
    found = [turn(row, lexical=1.0, talk=str(row), at=at) for row, at in enumerate(days, start=1)]
    assert order(query, [*found, turn(4, lexical=1.01, talk="4", at=NOW - timedelta(days=200))])[0] == first


def test_of_equal_ones_the_newer_comes_first_then_the_greater_row() -> None:
    old = [turn(1, lexical=1.0, talk="a"), turn(2, lexical=1.0, talk="b")]
    assert order("x", [*old, turn(3, lexical=1.0, talk="c", at=None)]) == [2, 1, 3]


def test_a_turn_without_a_vector_is_not_taken_for_the_least_similar() -> None:
    found = [turn(1, similarity=0.1, talk="a"), turn(2, similarity=0.9, talk="b"), turn(3, talk="c")]
    assert order("x", found) == [2, 3, 1]


def test_nothing_found_is_no_hit() -> None:
    assert ranked("x", []) == []
    assert ranked("x", [turn(1), turn(2)]) == []
    assert order("x", [turn(1, similarity=-0.2, talk="a"), turn(2, similarity=0.3, talk="b")]) == [2]
