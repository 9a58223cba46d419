"""What is about a query, and what only shares a word with it."""

import pytest
from attrs import evolve

from chatmemory.pastchats.evidence import is_about, is_any
from chatmemory.pastchats.prompt_terms import prompt_terms
from chatmemory.prompt_hits import Exchange, PromptHit, PromptSignals
from tests.pastchats.test_exchanges import prompt

HIT = PromptHit(prompt=prompt(0, "user", "?"), score=1.0, signals=PromptSignals(lexical=0.5), similarity=0.2)


def about(query: str, question: str, answer: str, *, similarity: float | None = 0.2) -> bool:
    asked = prompt(0, "user", question)
    hit = evolve(HIT, prompt=asked, similarity=similarity)
    exchange = Exchange(hit=hit, question=asked, worked=(prompt(1, "assistant", answer),))
    return is_about(exchange, prompt_terms(query), "hybrid")


@pytest.mark.parametrize("similarity", [0.2, None])
def test_one_word_of_three_is_not_what_was_asked(similarity: float | None) -> None:
    query = "build webhook retries"
    assert not about(query, "the docker build is slow", "Cache the layers.", similarity=similarity)
    assert about(query, "webhooks fail at night", "Retried with backoff.", similarity=similarity)


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("indexing searches", "An index makes the search quick."),
        ("pool timeout", "except PoolTimeoutError: raise"),
        ("重试 webhook", "失败后重试三次。"),
        ("线上数据库的连接池为什么会满", "连接没有关闭，数据库拒绝了新的连接。"),
    ],
)
def test_words_count_however_they_are_written(query: str, answer: str) -> None:
    assert about(query, "?", answer)


def test_chinese_that_shares_one_pair_of_many_is_about_something_else() -> None:
    assert not about("按拍摄日期重命名照片", "日期格式错了", "改用 ISO 格式。")


def test_what_is_alike_is_about_it_in_any_words() -> None:
    assert about("deliver again later", "webhook retries", "Backoff.", similarity=0.45)


def test_of_a_long_query_three_words_are_enough() -> None:
    query = (
        "please add exponential backoff with jitter and a dead letter queue to the sender of payment events"
    )
    assert about(query, "backoff?", "With jitter; then the queue.")


def test_anything_speaks_for_a_hit_that_shares_a_word_or_is_similar() -> None:
    far = evolve(HIT, signals=PromptSignals())
    assert is_any(HIT, "hybrid")
    assert not is_any(far, "hybrid")
    assert is_any(far, "like")
    assert is_any(evolve(far, similarity=0.31), "hybrid")
