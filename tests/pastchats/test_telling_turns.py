"""What an answer in several turns comes to."""

from chatmemory.pastchats.finding.telling_turns import BETWEEN, telling
from tests.pastchats.test_exchanges import chat

FIX = "The transaction begins deferred and cannot upgrade its lock: BEGIN IMMEDIATE, and WAL."
DONE = "With eight writers for thirty seconds there were 0 errors; before there were 212."


def test_what_was_only_announced_is_left_out() -> None:
    turns = chat(
        "a: I'll look at the connection code first, then at the tests.",
        f"a: {FIX}",
        "a: Good. Now let me run the writers against it:",
        f"a: {DONE}",
        "a: Done.",
    )
    assert telling(turns, 1_000) == FIX + BETWEEN + DONE

    fixed, tested = "事务改成 BEGIN IMMEDIATE。", "零个错误。"
    chinese = chat("a: 我先看一下连接的代码。", f"a: {fixed}", "a: 接下来我来跑测试", f"a: {tested}")
    assert telling(chinese, 1_000) == fixed + BETWEEN + tested


def test_announcements_are_told_where_there_is_nothing_else_or_where_they_go_on() -> None:
    last = "I'll read the tests now."
    assert telling(chat("a: Let me look.", f"a: {last}"), 1_000) == last
    text = "Let me sum up.\n- BEGIN IMMEDIATE\n- WAL"
    assert telling(chat(f"a: {text}", f"a: {DONE}"), 1_000) == text + BETWEEN + DONE


def test_the_conclusion_comes_before_what_was_found_and_that_before_the_rest() -> None:
    turns = chat("a: " + "Long. " * 40, f"a: {FIX}", f"a: {DONE}")
    assert telling(turns, len(FIX + BETWEEN + DONE), found=turns[1]) == FIX + BETWEEN + DONE
    assert telling(turns, len(DONE), found=turns[1]) == DONE
    shown = telling(turns, 200)
    assert shown.startswith("Long. Long.")
    assert shown.endswith(DONE)
    assert len(shown) <= 200
