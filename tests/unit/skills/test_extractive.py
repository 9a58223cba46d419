"""What the offline summary keeps, what it leaves out, and what it never does."""

import re
import time
from datetime import UTC, datetime

from hypothesis import given, settings, strategies as st

from chatmemory.conversation.messages import ChatMessage
from chatmemory.input.choices import Role
from chatmemory_layers.skills.extractive import summarize
from tests.for_each import for_each
from tests.thorough import rounds

WHEN = datetime(2026, 3, 1, tzinfo=UTC)


def conversation(*said: tuple[Role, str]) -> list[ChatMessage]:
    return [
        ChatMessage(id=f"m{seq}", seq=seq, role=role, content=content, timestamp=WHEN)
        for seq, (role, content) in enumerate(said, start=1)
    ]


LOG = "\n".join(f"2026-05-02 02:{minute:02d}:00 DEBUG batch of rows {minute}" for minute in range(5, 40))
INCIDENT = conversation(
    (
        "user",
        "Hi! Our nightly import into Postgres fails since Tuesday with a timeout. We must not touch the production database.",
    ),
    ("assistant", "Sure! Let me look at the logs first."),
    (
        "tool",
        f"{LOG}\n2026-05-02 02:41:10 ERROR canceling statement due to statement timeout on table events",
    ),
    (
        "assistant",
        "The statement_timeout was lowered to 40 minutes in commit 3fa9c1 on Monday.\n```sql\nSHOW statement_timeout;\n```\nShall I raise it?",
    ),
    (
        "user",
        "Great, thanks! We decided in the team not to raise limits. Use COPY instead of INSERT, please.",
    ),
    (
        "assistant",
        "Of course! Happy to help. The load of 2.1 million rows takes 6 minutes on staging now. All 48 tests pass.",
    ),
    ("user", "Awesome!"),
    (
        "assistant",
        "You're welcome. The retry decorator in net.py swallows KeyboardInterrupt. Should I fix the retry decorator in net.py too?",
    ),
)
TRIP_IN_CHINESE = conversation(
    ("user", "你好！很高兴认识你。"),
    ("assistant", "您好，有什么可以帮您的吗？"),
    ("user", "我叫王峰，我打算六月去里斯本旅行，一共六天。"),
    ("assistant", "太好了！听起来很棒。您有什么特别的要求吗？"),
    ("user", "我对花生过敏，请记住。我最喜欢的作家是费尔南多·佩索阿，最近在看《不安之书》。"),
    ("assistant", "好的，作为一个人工智能助手，我会一直陪伴您。祝您旅途愉快！"),
    ("user", "谢谢！"),
)


def test_facts_decisions_and_open_questions_are_kept_and_greetings_praise_and_noise_left_out() -> None:
    summary = summarize(INCIDENT, 900)
    facts = ("since Tuesday", "must not touch the production database", "commit 3fa9c1")
    decisions = ("not to raise limits", "COPY instead")
    of_a_tool_what_went_wrong = "ERROR canceling statement"
    for kept in (*facts, *decisions, of_a_tool_what_went_wrong):
        assert kept in summary
    assert summary.endswith("Should I fix the retry decorator in net.py too?")
    for filler in ("Hi!", "Awesome", "welcome", "Happy to help", "DEBUG", "look at the logs"):
        assert filler not in summary


def test_a_chinese_conversation_is_summarized_in_chinese() -> None:
    summary = summarize(TRIP_IN_CHINESE, 300)
    for fact in ("我叫王峰", "六月去里斯本", "花生过敏", "《不安之书》"):
        assert fact in summary
    for filler in ("你好", "谢谢", "陪伴", "太好了"):
        assert filler not in summary
    assert all(line.startswith(("用户：", "助手：")) for line in summary.splitlines())


def test_sentences_stand_word_for_word_in_the_order_of_the_conversation() -> None:
    everything = "\n".join(message.content for message in INCIDENT)
    position = 0
    for line in summarize(INCIDENT, 900).splitlines():
        for sentence in re.split(r"(?<=[.!?]) (?=[A-Z])", line.partition(": ")[2]):
            if "```" in sentence:
                continue
            position = everything.index(sentence, position)


def test_what_is_said_twice_is_kept_once() -> None:
    twice = conversation(
        ("user", "My sister Anna lives in Bergen with her two children."),
        ("assistant", "Shall we plan the trip to Spain in April?"),
        ("user", "My sister Anna lives in Bergen with her two children."),
        ("user", "I booked a hotel in Madrid for 4 nights."),
        ("user", "We drive an old Volvo from 1998 and love it."),
    )
    chatter: list[tuple[Role, str]] = [
        ("assistant", f"Thanks for the update, number {n} is noted, talk to you soon.") for n in range(9)
    ]
    summary = summarize([*twice, *conversation(*chatter)], 4000)
    assert summary.count("Bergen") == 1
    assert "Madrid" in summary


def test_something_new_is_better_than_the_same_in_other_words() -> None:
    said = conversation(
        ("user", "My sister Anna lives in Bergen with her two children and a dog."),
        ("user", "In Bergen my sister Anna lives with two children, a dog, a parrot and a garden."),
        ("user", "The invoice for the roof lies on the table in our kitchen."),
        ("assistant", "Noted and filed, with all that belongs to it and some more."),
    )
    summary = summarize(said, 160)
    assert "invoice" in summary
    assert summary.count("Bergen") == 1


def test_a_short_answer_comes_with_its_question() -> None:
    question = "How many bicycles have you got?"
    interview = conversation(
        ("user", "On 3 May 2021 I decided to move from Oslo to Bergen with my sister Anna and 2 dogs."),
        ("assistant", question),
        ("user", "Since 2019, nine!"),
        ("assistant", "What a pity, one might say, and yet there it is."),
    )
    assert f"Assistant: {question}\nUser: Since 2019, nine!" in summarize(interview, 4000)
    without_answer = conversation(
        *[(message.role, message.content) for message in interview if "nine" not in message.content]
    )
    assert question not in summarize(without_answer, 4000), "it is there for the sake of its answer"


@for_each(
    ("question", "answer"),
    [("Shall I drop the index on the events table?", "Yes, please!"), ("要删除事件表上的索引吗？", "好的。")],
)
def test_a_question_comes_with_the_word_that_decides_it(question: str, answer: str) -> None:
    said: list[tuple[Role, str]] = [
        ("assistant", question),
        ("user", answer),
        *[("assistant", "Okay, let me see then.")] * 9,
    ]
    first, second = summarize(conversation(*said), 4000).splitlines()
    assert (first.endswith(question), second.endswith(answer)) == (True, True)


def test_a_rolling_summary_keeps_its_lines_under_one_label_and_a_foreign_one_gets_one() -> None:
    rolled = summarize(TRIP_IN_CHINESE, 300)
    small_talk: list[tuple[Role, str]] = [("user", "今天天气不错。"), ("assistant", "是的，天气很好。")] * 8
    for _ in range(5):
        rolled = summarize(conversation(("summary", rolled), *small_talk), 300)
    assert "用户：我叫王峰，我打算六月去里斯本旅行，一共六天。" in rolled.splitlines()
    assert "用户：用户" not in rolled
    assert "此前" not in rolled
    foreign = "Ines plans a trip to Lisbon in June and is allergic to peanuts."
    for _ in range(3):
        foreign = summarize(conversation(("summary", foreign)), 200)
    assert foreign == "Earlier: Ines plans a trip to Lisbon in June and is allergic to peanuts."


def test_a_summary_is_shorter_than_what_it_stands_for() -> None:
    long = conversation(
        *[("user", f"On day {day} I met person number {day * 7} in town {day * 31}.") for day in range(60)]
    )
    source = sum(len(message.content) for message in long)
    assert 0.3 * source < len(summarize(long, 100_000)) < 0.6 * source


def test_where_nothing_is_worth_telling_there_is_a_summary_all_the_same() -> None:
    for content in ("", "   \n", "---"):
        said = conversation(("assistant", content), ("tool", content))
        assert summarize(said, 100) == "(2 messages without text)"
    assert summarize(conversation(("user", "Hello!")), 100) == "User: Hello!"


roles = st.sampled_from(["user", "assistant", "system", "tool", "summary"])
contents = st.one_of(
    st.text(max_size=120),
    st.lists(
        st.sampled_from(
            ["I moved to Oslo. ", "你好！", "```x```", "Why? ", "\n- item", "42", "User: ", "…", "Thanks! "]
        ),
        max_size=12,
    ).map("".join),
)


@settings(max_examples=rounds(40, thorough=150))
@given(st.lists(st.tuples(roles, contents), min_size=1, max_size=8), st.integers(min_value=1, max_value=400))
def test_any_summary_fits_says_something_and_is_repeatable(
    said: list[tuple[Role, str]], longest: int
) -> None:
    messages = conversation(*said)
    summary = summarize(messages, longest)
    assert 0 < len(summary) <= longest
    assert summary.strip()
    assert summarize(messages, longest) == summary


def test_200_messages_take_a_moment() -> None:
    said = [message for _ in range(25) for message in INCIDENT]
    messages = conversation(
        *[(message.role, f"{message.content} Number {n}.") for n, message in enumerate(said)]
    )
    summarize(messages, 4000)
    started = time.process_time()
    summarize(messages, 4000)
    assert time.process_time() - started < 1.0, "55 ms where it was measured"
