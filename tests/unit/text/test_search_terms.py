"""The words by which a text is found, what no text can do to an index, and the numbers of BM25."""

import unicodedata
from datetime import UTC, datetime, timedelta
from math import log

import pytest
from hypothesis import example, given, strategies as st

from chatmemory.input.json_value import AS_GIVEN, Json
from chatmemory.longterm.saving.memory_drafts import memory_terms
from chatmemory.text.named_dates import named_dates
from chatmemory.text.search_terms import (
    MAX_QUERY_TERMS,
    MAX_TERM_CHARACTERS,
    READ_CHARACTERS,
    bm25,
    lexical_scores,
    query_terms,
    search_terms,
)
from tests.for_each import for_each
from tests.forked import fresh_python

ANY_TEXT = st.text(st.characters(exclude_categories=())) | st.text(
    "aé 的我猫がパ한글ไทยहिं١+#-._'’\u200b\u0301"
)
LONGEST = 16 * 1024 * 1024


@given(ANY_TEXT)
@example("\ud800\0 a\x00b \u3000\u2028\x85\x1c")
@example("ﷺ" * 10)
@example("x" * 100 + " " + "ж" * 100 + " " + "y-" * 100)
@example("゠・฿ ½ Ⅳ ㈱ ǅ ẞ ŉ ͅ")
def test_a_term_is_letters_and_digits_of_bounded_length_separated_by_single_spaces(text: str) -> None:
    terms = search_terms(text)
    assert terms == " ".join(terms.split())
    for term in terms.split():
        assert term.isalnum()
        assert len(term) <= MAX_TERM_CHARACTERS
        assert term.encode().decode() == term


@given(ANY_TEXT)
def test_the_ways_of_writing_a_text_that_unicode_allows_have_the_same_terms(text: str) -> None:
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        assert search_terms(unicodedata.normalize(form, text)) == search_terms(text), form


@given(ANY_TEXT)
def test_a_query_looks_only_for_terms_that_the_same_text_has_when_it_is_stored(text: str) -> None:
    wanted = query_terms(text)
    stored = search_terms(text).split()
    assert set(wanted) <= set(stored)
    assert len(set(wanted)) == len(wanted) <= MAX_QUERY_TERMS
    assert bool(wanted) == bool(stored)


@for_each(
    ("asked", "stored"),
    [
        ("preferences", "She PREFERS tea"),
        ("running", "he runs every day"),
        ("cafe", "CAFÉ"),
        ("Zürich", "zurich"),
        ("straße", "STRASSE"),
        ("Москва", "москва"),
        ("ёлка", "елка"),
        ("１２３", "order 123"),
        ("Caroline", "Caroline’s adoption"),
        ("email", "send an e-mail"),
        ("nodejs", "we use node.js"),
        ("node.js", "we use Node.JS"),
        ("foobar", "call foo_bar()"),
        ("foo", "call foo_bar()"),
        ("example.com", "bob@example.com"),
        ("a-b", "https://host/a-b?x=1"),
        ("password", "pass\u200bword"),
        ("狗", "我养了一只小狗"),
        ("﨑", "宮﨑Max"),
        ("编程语言", "最喜欢的编程语言是 Python"),
        ("python", "我用Python写代码"),
        ("カフェ", "駅前のｶﾌｪで会う"),
        ("ガ", "ｶﾞ"),
        ("한국어", "한국어를 배워요"),
        ("ภาษาไทย", "เรียนภาษาไทย"),
        ("हिन्दी", "हिन्दी सीखना"),
        ("كتاب", "كِتَاب"),
        ("𠮷野家", "去𠮷野家吃饭"),
    ],
)
def test_a_word_is_found_however_it_is_written(asked: str, stored: str) -> None:
    assert set(query_terms(asked)) & set(search_terms(stored).split())


SIGNS = [("C++", "C#"), ("C#", "C"), ("v1.2", "v12.1"), ("Disney+", "Disney"), ("猫", "狗"), ("A+", "A")]


def test_names_that_differ_in_a_sign_differ_in_a_term() -> None:
    lost = [asked for asked, stored in SIGNS if set(query_terms(asked)) <= set(search_terms(stored).split())]
    assert lost == []


def test_terms_are_in_order_and_as_often_as_they_are_said() -> None:
    assert search_terms("tea, Tea and teas").split() == ["tea", "tea", "and", "tea"]
    assert search_terms("喝茶喝茶").split() == ["喝茶", "茶喝", "喝茶", "喝", "茶", "喝", "茶"]


def test_a_query_has_no_stop_words_unless_there_is_nothing_else() -> None:
    assert query_terms("What is my dog's name?") == ("dog", "name")
    assert query_terms("我的狗怎么了") == ("的狗", "狗怎", "狗")
    assert query_terms("who are you") == ("who", "ar", "you")
    assert query_terms("是你吗") == ("是你", "你吗", "是", "你", "吗")
    # One is known before it is stemmed, and without its ending.
    assert query_terms("does a doe run") == ("doe", "run")
    assert query_terms("I can't say what they've eaten, aren't they fish?") == ("eaten", "fish")


def test_who_asks_with_a_whole_page_asks_with_its_beginning() -> None:
    page = [f"word{number}" for number in range(1_000)]
    assert query_terms("what about " + " ".join(page)) == tuple(page[:MAX_QUERY_TERMS])


def test_no_word_is_stemmed_to_nothing() -> None:
    letters = "abceginorsy"
    words = [a + b + c for a in ["", *letters] for b in ["", *letters] for c in letters]
    assert search_terms(" ".join(words)).count(" ") == len(words) - 1
    assert search_terms("js is as s") == "js is as s"


def test_a_text_without_letters_has_no_terms() -> None:
    for text in ("", "   ", "🎉👩‍👩‍👧", "!?…", "\ud800"):
        assert (search_terms(text), query_terms(text)) == ("", ()), text


@for_each("unit", ["界", "x", "a-", "a b ", "é.", "ﷺ", "x+", "\ud800"])
def test_the_longest_text_has_few_terms(unit: str) -> None:
    terms = search_terms(unit * (LONGEST // len(unit)))
    # a pair, a single character, and two spaces, and something to spare
    assert len(terms) <= 6 * READ_CHARACTERS
    assert len(query_terms(unit * READ_CHARACTERS)) <= MAX_QUERY_TERMS


def test_a_memory_is_found_by_its_key_its_tags_and_its_value_and_by_nothing_that_a_framework_wrote() -> None:
    value: Json = {"语言": "Rust", "years": [3, {"since": 2021}], "sure": True, "none": None}
    terms = memory_terms("likes it", key="编程语言偏好", value=value, tags=("work", "工作"))
    for asked in ("编程语言", "work", "工作", "rust", "2021", "3", "years"):
        assert set(query_terms(asked)) <= set(terms.split()), asked
    assert "true" not in terms.split()
    deep: Json = "深"
    for _ in range(100):
        deep = {"in": [deep]}
    assert "深" in memory_terms("x", value=deep).split()
    kept = {AS_GIVEN: {"someFramework": {"parts": [{"text": "tea"}]}}, "kept": 3}
    assert memory_terms("tea", value=kept) == memory_terms("tea", value={"kept": 3})


def test_a_memory_has_the_terms_of_its_content_once_whatever_its_labels_say_again() -> None:
    labelled = memory_terms("drinks tea", key="tea", value="Tea", tags=("teas", "drink"))
    assert labelled == search_terms("drinks tea")
    assert memory_terms("喜欢喝茶 tea") == search_terms("喜欢喝茶 tea")


def test_the_stemmer_is_the_same_where_a_compiled_one_is_installed() -> None:
    script = """
import sys, types
class Stemmer:  # as PyStemmer's, and with other results
    def __init__(self, name): pass
    def stemWord(self, word): return "compiled"
sys.modules["Stemmer"] = types.SimpleNamespace(Stemmer=Stemmer, algorithms=lambda: ["porter"])
from chatmemory.text.search_terms import search_terms
print(search_terms("preferences"))
"""
    assert fresh_python(script) == "prefer\n"


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
    assert [match.share for match in bm25(["tea", "cat"], texts)] == pytest.approx([tea / (tea + cat), 1, 0])


@given(queries, texts)
def test_a_text_scores_above_0_exactly_when_it_shares_a_word(
    query: list[str], texts: list[list[str]]
) -> None:
    scores = bm25_scores(query, texts)
    assert [score > 0 for score in scores] == [bool(set(query) & set(text)) for text in texts]


def test_without_texts_or_words_there_is_nothing_to_score() -> None:
    assert bm25_scores(["tea"], []) == []
    assert bm25_scores([], [["tea"], []]) == [0, 0]


@given(queries, texts)
def test_the_share_is_1_exactly_for_a_text_with_every_word(query: list[str], texts: list[list[str]]) -> None:
    for text, match in zip(texts, bm25(query, texts), strict=True):
        assert 0 <= match.share <= 1 + 1e-9
        assert (match.share == pytest.approx(1)) == bool(query and set(query) <= set(text))


def test_words_count_as_far_as_they_cover_the_query() -> None:
    one, all_, none = lexical_scores(["green", "tea", "cup"], ["tea", "cup green tea", "cat"])
    assert (all_, none) == (1.0, 0.0)
    assert 0 < one < 1 / 3
    (alone,) = lexical_scores(["green", "tea", "cup"], ["tea"])
    assert 0 < alone < 1 / 3


NOW = datetime(2026, 11, 20, 15, tzinfo=UTC)  # a Friday


@for_each(
    ("query", "day"),
    [
        ("what happened on 8 May 2023", (2023, 5, 8)),
        ("May 8th, 2023", (2023, 5, 8)),
        ("8th of may", (2025, 5, 8)),
        ("in October", (2024, 10, 15)),
        ("log of 2023-05-08", (2023, 5, 8)),
        ("2023/05", (2023, 5, 20)),
        ("2023年5月8日", (2023, 5, 8)),
        ("5月8号说的", (2024, 5, 8)),
        ("yesterday", (2026, 11, 19)),
        ("昨天", (2026, 11, 19)),
        ("前天的报错", (2026, 11, 18)),
        ("three days ago", (2026, 11, 17)),
        ("三天前", (2026, 11, 17)),
        ("两周前", (2026, 11, 6)),
        ("2个月前", (2026, 9, 21)),
        ("last week", (2026, 11, 13)),
        ("上周", (2026, 11, 13)),
        ("上周三", (2026, 11, 11)),
        ("last Wednesday", (2026, 11, 18)),
        ("去年", (2025, 11, 20)),
        ("半年前", (2026, 5, 24)),
    ],
)
def test_a_date_is_understood(query: str, day: tuple[int, int, int]) -> None:
    windows = named_dates(query, now=NOW)
    instant = datetime(*day, 12, tzinfo=UTC)
    assert any(window.holds(instant) for window in windows)
    assert not any(window.holds(instant + timedelta(days=500)) for window in windows if window.year)


def test_what_is_no_date_is_none_and_a_day_that_is_none_holds_nothing() -> None:
    no_dates = (
        "",
        "version 1.2.3",
        "it may be wrong",
        "port 8080",
        "the last retry",
        "9999 years ago",
        "明天",
    )
    assert [query for query in (*no_dates, "0月0日") if named_dates(query, now=NOW) != ()] == []
    for query in ("30 February 2023", "2月31日", "0000-01-01", "31 June"):
        assert not any(window.holds(NOW) for window in named_dates(query, now=NOW)), query
