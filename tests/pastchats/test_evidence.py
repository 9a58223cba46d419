"""What is about a query, and what only shares a word with it."""

from typing import Any

from chatmemory.pastchats.finding.evidence import is_about, is_worth_telling
from chatmemory.pastchats.finding.prompt_hits import Exchange
from chatmemory.pastchats.finding.prompt_terms import prompt_terms
from tests.for_each import for_each
from tests.pastchats.test_exchanges import hit, prompt


def exchange(question: str, answer: str, similarity: float | None = 0.2) -> Exchange:
    asked = prompt(0, "user", question)
    answered = prompt(1, "assistant", answer)
    return Exchange(hit=hit(asked, similarity), question=asked, worked=(answered,))


def about(query: str, *found: Any) -> bool:
    return is_about(exchange(*found), prompt_terms(query), "hybrid")


def worth_telling(query: str, *found: Any) -> bool:
    return is_worth_telling(exchange(*found), prompt_terms(query), "hybrid")


@for_each("similarity", [0.2, None])
def test_one_word_of_three_is_not_what_was_asked(similarity: float | None) -> None:
    query = "build webhook retries"
    assert not about(query, "the docker build is slow", "Cache the layers.", similarity)
    assert about(query, "webhooks fail at night", "Retried with backoff.", similarity)


@for_each(
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


def test_what_is_alike_and_three_words_of_a_long_query_are_enough_but_not_one_pair_of_many() -> None:
    query = "add exponential backoff with jitter and a dead letter queue to the sender of payment events"
    assert about(query, "backoff?", "With jitter; then the queue.")
    assert not about("按拍摄日期重命名照片", "日期格式错了", "改用 ISO 格式。")
    assert about("deliver again later", "webhook retries", "Backoff.", 0.5)
    assert about("???", "ok", "Done.", 0.5)
    assert not about("???", "ok", "Done.")


LONG = (
    "The nightly export fails at 02:30 in CI since the upgrade: write a retry around the upload, cap it at 5 attempts, "
    "log each of them with the name of the bucket, and tell the channel of the team when the last one fails."
)


def test_three_words_of_a_long_prompt_and_numbers_are_not_told_unasked() -> None:
    theme = ("a log of the team", "5 attempts of a new theme, with a name.")
    assert about(LONG, *theme)
    assert not worth_telling(LONG, *theme)
    answer = "A retry around the upload, 5 attempts with a cap; each is logged."
    assert worth_telling(LONG, "the nightly export fails", answer)
    # One that is alike is told unasked only when it is very much so.
    assert about(LONG, "?", "Done.", 0.5)
    assert not worth_telling(LONG, "?", "Done.", 0.5)
    assert worth_telling(LONG, "?", "Done.", 0.7)
    asked, said = "重试 3 次 500 错误", "3 个 500 强企业"
    assert about(asked, "?", said)
    assert not worth_telling(asked, "?", said)
