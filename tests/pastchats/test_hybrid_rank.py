"""What each signal of the ranking is for."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from attrs import evolve

from chatmemory.pastchats.finding.hybrid_rank import HybridRanking, said_of
from chatmemory.pastchats.finding.prompt_hits import PromptHit
from chatmemory.pastchats.finding.prompt_terms import prompt_terms
from chatmemory.pastchats.prompt_repository import PromptCandidate, PromptCandidates, PromptSearch
from chatmemory.text.conversation_shares import (
    ASKING_MALUS,
    QUESTION_SHARE,
    TIME_BONUS,
    is_latin,
    of_questions,
    of_times,
)
from chatmemory.text.search_terms import query_terms
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


def test_an_answer_gains_from_its_question_a_turn_from_its_talk_and_what_says_little_is_not_first() -> None:
    found = [turn(1, lexical=4.0), turn(2, lexical=1.0), turn(5, lexical=1.0, talk="two")]
    assert order("x", found) == [1, 2, 5]
    apart = ranked("x", [turn(1, lexical=4.0, session="a"), turn(2, lexical=1.0, session="b")])
    assert [hit.signals.neighbour for hit in apart if hit.prompt.id == 2] == [0]
    found = [turn(1, lexical=2.0, talk="idle"), *(turn(row, lexical=2.0, talk="busy") for row in (3, 4, 5))]
    assert order("x", found)[-1] == 1
    short = turn(1, lexical=9.0, talk="thanks", content="赞，有效")
    assert order("有效果吗", [short, turn(2, lexical=6.0)]) == [2, 1]


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


def test_equal_ones_go_by_age_and_one_without_a_vector_is_not_taken_for_the_least_similar() -> None:
    old = [turn(1, lexical=1.0, talk="a"), turn(2, lexical=1.0, talk="b")]
    assert order("x", [*old, turn(3, lexical=1.0, talk="c", at=None)]) == [2, 1, 3]
    found = [turn(1, similarity=0.1, talk="a"), turn(2, similarity=0.9, talk="b"), turn(3, talk="c")]
    assert order("x", found) == [2, 3, 1]
    assert ranked("x", []) == []
    assert ranked("x", [turn(1), turn(2)]) == []
    assert order("x", [turn(1, similarity=-0.2, talk="a"), turn(2, similarity=0.3, talk="b")]) == [2]


ASKED = "Where did you go for the holidays?"


def of_two(question: str, reply: str, *, row: int = 2) -> float:
    found = [turn(1, content=question), turn(row, content=reply)]
    return of_questions(said_of(found), [1.0, 0.0])[1]


def test_a_reply_has_a_share_of_its_question_less_of_long_ones_and_who_only_asks_has_none() -> None:
    assert of_two(ASKED, "To Iceland, by ship.") == QUESTION_SHARE
    asked = [turn(number, content="something else", talk=str(number)) for number in range(3, 9)]
    found = [turn(1, content=ASKED, lexical=9.0), turn(2, content="To Iceland."), *asked]
    assert order("holidays", found)[:2] == [1, 2]

    assert of_two("I went nowhere for the holidays.", "To Iceland.") == 0  # nobody asked
    assert of_two(ASKED, "To Iceland.", row=3) == 0  # not the turn behind it
    assert 0 < of_two(ASKED + " And I, I stayed at home." * 4, "To Iceland.") < QUESTION_SHARE / 1.5
    assert 0 < of_two(ASKED, "To Iceland. " * 30) < QUESTION_SHARE / 2
    assert of_two(ASKED, "") == QUESTION_SHARE
    found = [turn(1, content=ASKED, talk="a"), turn(2, content="x" * 120 + "?", talk="b")]
    only, told = of_questions(said_of(found), [1, 1])
    assert (only, told) == (-ASKING_MALUS, 0)


@for_each(
    ("query", "content", "bonus"),
    [
        ("When did she leave?", "We said goodbye last Friday.", TIME_BONUS),
        ("What year was it?", "It was 2019.", TIME_BONUS),
        ("When did she leave?", "She waved.", 0),
        ("Who left?", "We said goodbye last Friday.", 0),
        ("Whenever", "We said goodbye last Friday.", 0),
    ],
)
def test_a_turn_that_names_a_time_answers_when(query: str, content: str, bonus: float) -> None:
    assert of_times(query, [content]) == [bonus]


def test_chinese_is_searched_to_its_end_without_words_that_ask() -> None:
    assert is_latin("Où est-ce?")
    assert not is_latin("假期去了哪里")
    hits = ranked("假期 holidays", [turn(1, content=ASKED, lexical=9.0), turn(2, content="x")])
    assert hits[0].signals.neighbour == 0
    noise = "".join(chr(0x4E00 + 7 * number) for number in range(100))
    assert "龙井" in prompt_terms(f"{noise}龙井")
    assert "龙井" in query_terms(f"{noise}龙井")
    assert [text for text in ("哪里", "谁的", "哪种") if text in prompt_terms(f"{text}，龙井")] == []
