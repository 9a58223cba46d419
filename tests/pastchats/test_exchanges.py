"""From a turn that was found to what was asked, what was answered, and what came of it."""

from attrs import evolve

from chatmemory.input.choices import Role
from chatmemory.pastchats.finding.exchanges import exchange_of, merged
from chatmemory.pastchats.finding.prompt_hits import Exchange, PromptHit, PromptSignals
from chatmemory.pastchats.prompt import Prompt
from tests.for_each import for_each

Told = tuple[str | None, list[str], list[tuple[list[str], str]]]
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


def told(one: Exchange) -> Told:
    """Return the question, what worked, and each attempt that failed with what was said of it."""
    failures = [([turn.content for turn in each.tried], each.report.content) for each in one.failures]
    return one.question and one.question.content, [turn.content for turn in one.worked], failures


RETRY = "u: Retry? / a: Five times? / u: What happens if it fails? / a: It is logged."
SOCKETS = "u: Sockets close / a: Ping. / u: no change"
BACK = ["自动识别编码，还是让用户选？", "先看 BOM，再试 UTF-8。"]
HELP = [(["Ping."], "no change"), (["Buffering off."], "that didn't help")]
# The turns, which of them were found, and what is told.
EXCHANGES: list[tuple[str, list[int], Told]] = [
    # A question and its answer belong together, and so do all turns of an answer.
    ("u: Retry? / a: With backoff. / u: Next: the docs", [0, 1], ("Retry?", ["With backoff."], [])),
    (
        "u: 加上重试 / a: 我先看。 / a: 好了。 / u: 写文档",
        [0, 1, 2],
        ("加上重试", ["我先看。", "好了。"], []),
    ),
    # Every attempt that failed is told.
    (f"{SOCKETS} / a: Buffering off. / u: that didn't help", [0, 1, 2, 3, 4], ("Sockets close", [], HELP)),
    # Who answers what was asked back asks nothing new.
    (f"u: 乱码 / a: {BACK[0]} / u: 自动识别吧 / a: {BACK[1]}", [0, 1, 2, 3], ("乱码", BACK, [])),
    # Another question is no complaint and no choice.
    (RETRY, [0], ("Retry?", ["Five times?"], [])),
    (RETRY, [3], ("What happens if it fails?", ["It is logged."], [])),
    # What was found behind a complaint is told in its place.
    (
        f"{SOCKETS} / u: It says ECONNRESET. / a: Buffering off.",
        [3],
        ("Sockets close", ["Buffering off."], [(["Ping."], "It says ECONNRESET.")]),
    ),
    # What is no answer stands for itself.
    ("s: Earlier: retries.", [0], (None, [], [])),
    ("a: Hello.", [0], (None, ["Hello."], [])),
    ("u: Anybody?", [0], ("Anybody?", [], [])),
]


@for_each(("lines", "found", "expected"), EXCHANGES)
def test_an_exchange_is_what_was_asked_what_worked_and_what_failed(
    lines: str, found: list[int], expected: Told
) -> None:
    turns = chat(*lines.split(" / "))
    assert [told(exchange(turns, number)) for number in found] == [expected] * len(found)


def test_after_a_failure_the_later_answer_is_what_worked_and_may_be_confirmed() -> None:
    turns = chat("u: 数据库被锁了", "a: 重启一下。", "u: 还是报错", "a: 开启 WAL。", "u: 好了，谢谢")
    for found in range(5):
        one = exchange(turns, found)
        assert told(one) == ("数据库被锁了", ["开启 WAL。"], [(["重启一下。"], "还是报错")])
        assert one.confirmation == turns[4]


def test_a_thought_that_was_added_belongs_to_the_question() -> None:
    turns = chat("u: How do we retry?", "u: Webhooks, I mean.", "a: With backoff.")
    for found in range(3):
        one = exchange(turns, found)
        assert one.asked == tuple(turns[:2])
        assert one.question == turns[found == 1]  # the text of the source that is named
        assert one.worked == (turns[2],)


def test_what_was_found_behind_thanks_is_a_question_of_its_own() -> None:
    turns = chat("u: How do we retry?", "a: With backoff.", "u: Thanks!", "u: Now deploy it.", "a: By Helm.")
    for found in (3, 4):
        assert told(exchange(turns, found)) == ("Now deploy it.", ["By Helm."], [])
    assert exchange(turns, 0).confirmation == turns[2]


def test_what_a_tool_put_between_is_no_word_of_the_person() -> None:
    turns = chat("u: Retry?", "a: With backoff.", "u: /compact", "a: Five times at most.")
    turns[2] = evolve(turns[2], kind="command")
    assert told(exchange(turns, 0)) == ("Retry?", ["With backoff.", "Five times at most."], [])


def test_several_hits_of_one_exchange_are_one() -> None:
    two = chat("u: Retry?", "a: With backoff.", "u: Queue?", "a: Redis.")
    hits = [exchange(two, found) for found in (1, 3, 0, 2)]
    assert merged(hits) == (hits[0], hits[1])
    in_a_row = chat("u: How do we retry?", "u: Webhooks, I mean.", "a: With backoff.")
    hits = [exchange(in_a_row, found) for found in (1, 0, 2)]
    assert merged(hits) == (hits[0],)
