"""From a turn that was found to what was asked, what was answered, and what came of it."""

import pytest

from chatmemory.messages import Role
from chatmemory.pastchats.exchanges import exchange_of, merged
from chatmemory.prompt import Prompt
from chatmemory.prompt_hits import Exchange, PromptHit, PromptSignals

LETTERS: dict[str, Role] = {"u": "user", "a": "assistant", "s": "summary"}


def prompt(number: int, role: Role, content: str) -> Prompt:
    return Prompt(
        id=number + 1,
        source="/h/s.jsonl",
        project="shop",
        format="claude_code",
        conversation_id="claude_code:s",
        session="",
        turn_index=number,
        role=role,
        kind="typed",
        speaker=None,
        content=content,
        timestamp=None,
        text_hash=str(number),
        metadata={},
    )


def chat(*lines: str) -> list[Prompt]:
    """Return the turns of lines such as ``u: How?``."""
    return [prompt(number, LETTERS[line[0]], line[3:]) for number, line in enumerate(lines)]


def exchange(turns: list[Prompt], found: int) -> Exchange:
    return exchange_of(PromptHit(prompt=turns[found], score=1.0, signals=PromptSignals()), turns)


def told(one: Exchange) -> tuple[str | None, str | None, str | None, str | None]:
    """Return the question, the answer, the answer that failed, and what showed it."""
    parts = (one.question, one.answer, one.failed, one.failure)
    question, answer, failed, failure = (part and part.content for part in parts)
    return question, answer, failed, failure


@pytest.mark.parametrize("found", [0, 1])
def test_a_question_and_its_answer_belong_together(found: int) -> None:
    turns = chat("u: How do we retry?", "a: With backoff.", "u: Next: the docs")
    assert told(exchange(turns, found)) == ("How do we retry?", "With backoff.", None, None)


def test_the_last_telling_turn_of_an_answer_in_many_steps_is_the_answer() -> None:
    long = "I added exponential backoff with jitter to the sender, and a test."
    turns = chat(
        "u: Add retries", "a: Let me look at the code first, one moment please.", f"a: {long}", "a: Done."
    )
    assert exchange(turns, 0).answer == turns[2]
    assert exchange(turns, 1).answer == turns[1]  # what was found is shown


@pytest.mark.parametrize("found", [0, 1, 2, 3, 4])
def test_after_a_failure_the_later_answer_is_what_worked(found: int) -> None:
    turns = chat(
        "u: 数据库被锁了", "a: 重启一下。", "u: 还是报错", "a: 开启 WAL 并设置 busy_timeout。", "u: 好了，谢谢"
    )  # fmt: skip
    expected = ("数据库被锁了", "开启 WAL 并设置 busy_timeout。", "重启一下。", "还是报错")
    if found == 1:
        expected = ("数据库被锁了", "开启 WAL 并设置 busy_timeout。", "重启一下。", "还是报错")
    assert told(exchange(turns, found)) == expected


def test_an_only_answer_that_failed_is_not_said_to_have_worked() -> None:
    turns = chat("u: Retry?", "a: Every second.", "u: That didn't work, we hammer the server")
    one = exchange(turns, 0)
    assert told(one) == ("Retry?", "Every second.", "Every second.", "That didn't work, we hammer the server")
    assert one.failed is one.answer


def test_another_question_is_no_complaint() -> None:
    turns = chat("u: Retry?", "a: With backoff.", "u: What happens if it fails?", "a: It is logged.")
    assert told(exchange(turns, 0)) == ("Retry?", "With backoff.", None, None)
    assert told(exchange(turns, 3)) == ("What happens if it fails?", "It is logged.", None, None)


def test_what_is_no_answer_stands_for_itself() -> None:
    assert told(exchange(chat("s: Earlier: retries."), 0)) == (None, None, None, None)
    assert told(exchange(chat("a: Hello."), 0)) == (None, "Hello.", None, None)
    assert told(exchange(chat("u: Anybody?"), 0)) == ("Anybody?", None, None, None)


def test_several_hits_of_one_exchange_are_one() -> None:
    turns = chat("u: Retry?", "a: With backoff.", "u: Queue?", "a: Redis.")
    hits = [exchange(turns, found) for found in (1, 3, 0, 2)]
    assert merged(hits) == (hits[0], hits[1])
