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


def test_what_is_indexed_beside_a_text_is_what_a_query_asks_for() -> None:
    code = "raise PoolTimeoutError in maxOverflow of the API"
    written = search_terms_of(code, timestamp=None, speaker=None)
    assert written == "Pool Timeout Error max Overflow"
    assert prompt_terms("PoolTimeoutError") == ("pooltimeouterror", "pool", "timeout", "error")
    assert prompt_terms("HTTP API Queue") == ("http", "api", "queue")
    for nearly in ("A", "a", "AAaa1", "Ａ"):  # is read through
        assert search_terms_of(nearly * EXTRA_CHARACTERS, timestamp=None, speaker=None) == "", nearly
    assert search_terms_of("plain words", timestamp=DAY, speaker="Mei") == "8 May 2023 Mei"
    assert search_terms_of("小狗叫Max", timestamp=None, speaker=None) == "小狗 狗叫"
    assert search_terms_of("", timestamp=None, speaker="欧阳娜娜") == "欧阳娜娜 欧阳 阳娜 娜娜"
    assert prompt_terms("锁表怎么办") == ("锁表",)
    assert prompt_terms("锁了多久") == ("多久",)
    assert prompt_terms("怎么了") == ("怎么", "么了")
    assert len(prompt_terms(" ".join(f"word{number}" for number in range(10_000)))) == MAX_QUERY_TERMS
