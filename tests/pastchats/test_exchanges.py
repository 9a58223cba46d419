"""From a turn that was found to what was asked, what was answered, and what came of it."""

from attrs import evolve

from chatmemory.input.choices import Role
from chatmemory.pastchats.finding.exchanges import exchange_of, merged
from chatmemory.pastchats.finding.prompt_hits import Exchange, PromptHit, PromptSignals
from chatmemory.pastchats.prompt import Prompt
from tests.for_each import for_each

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


def told(one: Exchange) -> tuple[str | None, list[str], list[tuple[list[str], str]]]:
    """Return the question, what worked, and each attempt that failed with what was said of it."""
    failures = [([turn.content for turn in each.tried], each.report.content) for each in one.failures]
    return one.question and one.question.content, [turn.content for turn in one.worked], failures


@for_each("found", [0, 1])
def test_a_question_and_its_answer_belong_together(found: int) -> None:
    turns = chat("u: How do we retry?", "a: With backoff.", "u: Next: the docs")
    assert told(exchange(turns, found)) == ("How do we retry?", ["With backoff."], [])


@for_each("found", [0, 1, 2, 3])
def test_all_turns_of_an_answer_belong_to_it(found: int) -> None:
    turns = chat("u: 加上重试", "a: 我先看代码。", "a: 加了指数退避。", "a: 测试通过。", "u: 接下来写文档")
    assert exchange(turns, found).worked == tuple(turns[1:4])


@for_each("found", [0, 1, 2, 3, 4])
def test_after_a_failure_the_later_answer_is_what_worked(found: int) -> None:
    turns = chat(
        "u: 数据库被锁了", "a: 重启一下。", "u: 还是报错", "a: 开启 WAL 并设置 busy_timeout。", "u: 好了，谢谢"
    )  # fmt: skip
    one = exchange(turns, found)
    assert told(one) == ("数据库被锁了", ["开启 WAL 并设置 busy_timeout。"], [(["重启一下。"], "还是报错")])
    assert one.confirmation == turns[4]


def test_every_attempt_that_failed_is_told() -> None:
    turns = chat(
        "u: Sockets close", "a: Ping.", "u: no change", "a: Buffering off.", "u: that didn't help either"
    )  # fmt: skip
    failures = [(["Ping."], "no change"), (["Buffering off."], "that didn't help either")]
    assert told(exchange(turns, 0)) == ("Sockets close", [], failures)


@for_each("found", [0, 1, 2, 3])
def test_who_answers_what_was_asked_back_asks_nothing_new(found: int) -> None:
    turns = chat(
        "u: 导入失败：乱码", "a: 自动识别编码，还是让用户选？", "u: 自动识别吧", "a: 先看 BOM，再试 UTF-8。"
    )
    assert told(exchange(turns, found)) == ("导入失败：乱码", [turns[1].content, turns[3].content], [])


def test_another_question_is_no_complaint_and_no_choice() -> None:
    turns = chat(
        "u: Retry?", "a: With backoff. Five times?", "u: What happens if it fails?", "a: It is logged."
    )
    assert told(exchange(turns, 0)) == ("Retry?", ["With backoff. Five times?"], [])
    assert told(exchange(turns, 3)) == ("What happens if it fails?", ["It is logged."], [])


@for_each("found", [0, 1, 2])
def test_a_thought_that_was_added_belongs_to_the_question(found: int) -> None:
    turns = chat("u: How do we retry?", "u: Webhooks, I mean.", "a: With backoff.")
    one = exchange(turns, found)
    assert one.asked == tuple(turns[:2])
    assert one.question == (turns[1] if found == 1 else turns[0])  # the text of the source that is named
    assert one.worked == (turns[2],)


def test_what_was_found_behind_thanks_is_a_question_of_its_own() -> None:
    turns = chat("u: How do we retry?", "a: With backoff.", "u: Thanks!", "u: Now deploy it.", "a: By Helm.")
    for found in (3, 4):
        assert told(exchange(turns, found)) == ("Now deploy it.", ["By Helm."], [])
    assert exchange(turns, 0).confirmation == turns[2]


def test_what_was_found_behind_a_complaint_is_told_in_its_place() -> None:
    turns = chat(
        "u: Sockets close", "a: Ping.", "u: no change", "u: It says ECONNRESET.", "a: Buffering off."
    )
    failed = [(["Ping."], "It says ECONNRESET.")]
    assert told(exchange(turns, 3)) == ("Sockets close", ["Buffering off."], failed)


def test_what_is_no_answer_stands_for_itself() -> None:
    assert told(exchange(chat("s: Earlier: retries."), 0)) == (None, [], [])
    assert told(exchange(chat("a: Hello."), 0)) == (None, ["Hello."], [])
    assert told(exchange(chat("u: Anybody?"), 0)) == ("Anybody?", [], [])


def test_what_a_tool_put_between_is_no_word_of_the_person() -> None:
    turns = chat("u: Retry?", "a: With backoff.", "u: /compact", "a: Five times at most.")
    turns[2] = evolve(turns[2], kind="command")
    assert told(exchange(turns, 0)) == ("Retry?", ["With backoff.", "Five times at most."], [])


def test_several_hits_of_one_exchange_are_one() -> None:
    turns = chat("u: Retry?", "a: With backoff.", "u: Queue?", "a: Redis.")
    hits = [exchange(turns, found) for found in (1, 3, 0, 2)]
    assert merged(hits) == (hits[0], hits[1])


def test_turns_in_a_row_are_one_exchange() -> None:
    turns = chat("u: How do we retry?", "u: Webhooks, I mean.", "a: With backoff.")
    hits = [exchange(turns, found) for found in (1, 0, 2)]
    assert merged(hits) == (hits[0],)
