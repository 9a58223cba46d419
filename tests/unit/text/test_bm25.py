"""BM25: its numbers on an example worked by hand, and what has to hold for any texts."""

from math import log

import pytest
from hypothesis import given, strategies as st

from chatmemory.text.search_terms import bm25, lexical_scores


def bm25_scores(query: list[str], texts: list[list[str]]) -> list[float]:
    return [match.score for match in bm25(query, texts)]


words = st.sampled_from(["tea", "cat", "dog", "茶", "猫"])
texts = st.lists(st.lists(words, max_size=8), max_size=8)
queries = st.lists(words, unique=True)


def test_the_numbers_are_those_of_the_formula() -> None:
    texts = [["tea"], ["tea", "tea", "cat"], ["dog", "dog"]]
    tea, cat = log(1 + 1.5 / 2.5), log(1 + 2.5 / 1.5)
    # The mean length is 2, so that the texts are half, one and a half, and once as long.
    assert bm25_scores(["tea", "cat"], texts) == pytest.approx(
        [tea * 2.2 / (1 + 1.2 * 0.625), tea * 2 * 2.2 / (2 + 1.2 * 1.375) + cat * 2.2 / (1 + 1.2 * 1.375), 0]
    )


@given(queries, texts)
def test_a_text_scores_above_zero_exactly_when_it_shares_a_word(
    query: list[str], texts: list[list[str]]
) -> None:
    scores = bm25_scores(query, texts)
    assert [score > 0 for score in scores] == [bool(set(query) & set(text)) for text in texts]


@given(queries, texts)
def test_the_order_of_the_texts_does_not_matter(query: list[str], texts: list[list[str]]) -> None:
    backwards = bm25_scores(query, texts[::-1])[::-1]
    assert bm25_scores(query, texts) == pytest.approx(backwards)


def test_a_word_is_worth_more_when_it_is_rare_and_when_its_text_is_short() -> None:
    common, rare, *_ = bm25_scores(["tea", "茶"], [["tea"], ["茶"], ["tea"], ["tea"]])
    assert rare > common
    short, long = bm25_scores(["tea"], [["tea", "cat"], ["tea", "cat", "dog", "dog"]])
    assert short > long


def test_without_texts_or_words_there_is_nothing_to_score() -> None:
    assert bm25_scores(["tea"], []) == []
    assert bm25_scores([], [["tea"], []]) == [0, 0]


@given(queries, texts)
def test_the_share_is_1_exactly_for_a_text_with_every_word(query: list[str], texts: list[list[str]]) -> None:
    for text, match in zip(texts, bm25(query, texts), strict=True):
        assert 0 <= match.share <= 1 + 1e-9
        assert (match.share == pytest.approx(1)) == bool(query and set(query) <= set(text))


def test_a_rare_word_is_a_larger_share() -> None:
    common, rare, *_ = bm25(["tea", "茶"], [["tea"], ["茶"], ["tea"], ["tea"]])
    assert common.share + rare.share == pytest.approx(1)
    assert rare.share > common.share


def test_words_count_as_far_as_they_cover_the_query() -> None:
    one, all_, none = lexical_scores(["green", "tea", "cup"], ["tea", "cup green tea", "cat"])
    assert (all_, none) == (1.0, 0.0)
    assert 0 < one < 1 / 3
    (alone,) = lexical_scores(["green", "tea", "cup"], ["tea"])
    assert 0 < alone < 1 / 3
