"""The words of a query, and what is indexed beside a text."""

from datetime import UTC, datetime

from chatmemory.pastchats.finding.prompt_terms import (
    EXTRA_CHARACTERS,
    MAX_QUERY_TERMS,
    prompt_terms,
    search_terms_of,
)
from tests.for_each import for_each

DAY = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)


@for_each(
    ("query", "terms"),
    [
        ("What is the Retry-After header?", ("retry", "header")),
        ("can't connect", ("connect",)),
        ("Mary’s dog's bone", ("mary", "dog", "bone")),
        ("who are you", ("who", "are", "you")),
        ("snake_case v1.2", ("snake", "case", "v1", "2")),
        ("数据库 locked", ("数据", "据库", "locked")),
        ("狗", ("狗",)),
        ("我的", ("我的",)),
        ("SQLite データ", ("sqlite", "デー", "ータ")),
        ("😀 ... \0", ()),
    ],
)
def test_a_query_is_cut_into_telling_words(query: str, terms: tuple[str, ...]) -> None:
    assert prompt_terms(query) == terms


def test_a_whole_page_asks_for_no_more_than_its_beginning() -> None:
    assert len(prompt_terms(" ".join(f"word{number}" for number in range(10_000)))) == MAX_QUERY_TERMS


def test_day_speaker_and_pairs_are_indexed_beside_the_text() -> None:
    assert search_terms_of("plain words", timestamp=DAY, speaker="Mei") == "8 May 2023 Mei"
    assert search_terms_of("小狗叫Max", timestamp=None, speaker=None) == "小狗 狗叫"
    assert search_terms_of("", timestamp=None, speaker="欧阳娜娜") == "欧阳娜娜 欧阳 阳娜 娜娜"


def test_names_in_camel_case_are_found_by_their_parts_and_by_themselves() -> None:
    written = search_terms_of(
        "raise PoolTimeoutError in maxOverflow of the API", timestamp=None, speaker=None
    )
    assert written == "Pool Timeout Error max Overflow"
    assert prompt_terms("PoolTimeoutError") == ("pooltimeouterror", "pool", "timeout", "error")
    assert prompt_terms("HTTP API Queue") == ("http", "api", "queue")


@for_each("name", ["A", "a", "AAaa1", "Ａ"])
def test_what_is_nearly_a_name_in_camel_case_is_read_through(name: str) -> None:
    assert search_terms_of(name * EXTRA_CHARACTERS, timestamp=None, speaker=None) == ""


def test_pairs_that_ask_or_are_cut_across_words_are_left_out_unless_there_is_nothing_else() -> None:
    assert prompt_terms("锁表怎么办") == ("锁表",)
    assert prompt_terms("锁了多久") == ("多久",)
    assert prompt_terms("怎么了") == ("怎么", "么了")
