"""What an agent author may rely on, whatever keeps the conversation."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from chatmemory.conversation.contract import ChatMemory
from chatmemory.conversation.messages import ConversationPage, HistoryReport
from chatmemory.conversation.new_message import NewMessage
from chatmemory.effect import Failure, Success
from chatmemory.effect.services.clock import TestClock
from chatmemory.errors import (
    ConversationNotFoundError,
    DataValidationError,
    MessageConflictError,
    Problem,
    VersionConflictError,
)
from chatmemory.settings.memory_settings import StrategySettings
from tests.contract.conftest import IN_MEMORY

pytestmark = IN_MEMORY

NAIVE = datetime(2026, 1, 1)  # noqa: DTZ001  the naive one is the point


def says(*contents: str) -> list[NewMessage]:
    """Make messages of a dialogue, user first."""
    return [
        NewMessage("assistant" if index % 2 else "user", content, id=content)
        for index, content in enumerate(contents)
    ]


async def contents(memory: ChatMemory, conversation_id: str, **page: object) -> list[str]:
    messages = await memory.get_messages(conversation_id, **page).or_raise()
    return [message.content for message in messages]


def wrong_paths(outcome: object) -> list[str]:
    """Return the paths of the problems with which *outcome* was refused."""
    assert isinstance(outcome, Failure)
    error = outcome.failure()
    assert isinstance(error, DataValidationError)
    return [problem.path for problem in error.problems]


async def test_what_was_said_comes_back_in_order(memory: ChatMemory, clock: TestClock) -> None:
    report = await memory.add_messages("会议", says("明天几点开会？", "上午十点，在三楼。")).or_raise()
    assert (report.stored, report.version) == (("明天几点开会？", "上午十点，在三楼。"), 1)
    assert report.history == HistoryReport("idle")
    messages = await memory.get_messages("会议").or_raise()
    assert [(message.role, message.content) for message in messages] == [
        ("user", "明天几点开会？"),
        ("assistant", "上午十点，在三楼。"),
    ]
    assert [message.timestamp for message in messages] == [clock.now()] * 2
    unnamed = [NewMessage("user", "ok"), NewMessage("user", "ok")]
    report = await memory.add_messages("c", unnamed).or_raise()
    assert (len(set(report.stored)), await contents(memory, "c")) == (2, ["ok", "ok"])


async def test_an_unknown_conversation_is_a_typed_failure_and_an_empty_batch_creates_none(
    memory: ChatMemory,
) -> None:
    report = await memory.add_messages("nobody", []).or_raise()
    assert (report.stored, report.version) == ((), 0)
    missing = Failure(ConversationNotFoundError("nobody"))
    assert await memory.get_messages("nobody") == missing
    assert await memory.get_page("nobody") == missing
    assert await memory.clear_messages("nobody") == missing
    assert await memory.remove_newest("nobody") == missing
    assert await memory.get_conversation("nobody") == missing
    assert [outcome async for outcome in memory.pages("nobody")] == [missing]
    assert await memory.exists("nobody") == Success(False)
    assert await memory.count("nobody") == Success(0)
    assert await memory.list_conversations() == Success(ConversationPage((), None))


async def test_a_batch_with_one_bad_message_is_refused_whole(memory: ChatMemory) -> None:
    bad = [
        NewMessage("user", "好"),
        NewMessage("wizard", "\0"),
        NewMessage("user", "x", timestamp=NAIVE),
    ]
    assert wrong_paths(await memory.add_messages("c", bad)) == [
        "$.messages[1].role",
        "$.messages[1].content",
        "$.messages[2].timestamp",
    ]
    assert await memory.exists("c") == Success(False)


async def test_an_invalid_argument_is_named(memory: ChatMemory) -> None:
    wrong: list[dict[str, Any]] = [{"limit": -1}, {"limit": True}, {"before": NAIVE}, {"view": "side"}]
    for arguments in wrong:
        paths = wrong_paths(await memory.get_messages("c", **arguments))
        assert paths == [f"$.{name}" for name in arguments]
    for conversation_id in ("", "x" * 513, "a\0b", "\ud800"):
        outcomes: Sequence[object] = [
            await memory.add_messages(conversation_id, says("一")),
            await memory.get_messages(conversation_id),
            await memory.clear_messages(conversation_id),
            await memory.remove_newest(conversation_id),
            await memory.exists(conversation_id),
        ]
        assert all(map(wrong_paths, outcomes))


async def test_adding_again_stores_once_and_says_so(memory: ChatMemory) -> None:
    first = await memory.add_messages("c", says("一", "二"), expected_version=0).or_raise()
    again = await memory.add_messages("c", says("一", "二"), expected_version=0).or_raise()
    assert (again.stored, again.duplicates, again.version) == ((), ("一", "二"), first.version)
    report = await memory.add_messages("c", says("一", "二", "三")).or_raise()
    assert (report.stored, report.duplicates, report.version) == (("三",), ("一", "二"), 2)
    assert await contents(memory, "c") == ["一", "二", "三"]
    conflict = await memory.add_messages("c", [NewMessage("user", "别的", id="一")])
    assert conflict == Failure(MessageConflictError("c", ("一",)))
    version = (await memory.get_page("c").or_raise()).version
    await memory.add_messages("c", says("四"), expected_version=version).or_raise()
    stale = await memory.add_messages("c", says("五"), expected_version=version)
    assert stale == Failure(VersionConflictError("c", expected=2, actual=3))


async def test_pages_stream_the_whole_from_its_beginning(memory: ChatMemory) -> None:
    words = [f"第{index}句" for index in range(7)]
    await memory.add_messages("c", says(*words)).or_raise()
    for size in (1, 3, 7, 8):
        pages = [outcome.unwrap() async for outcome in memory.pages("c", size=size)]
        assert [message.content for page in pages for message in page.messages] == words
        assert {len(page.messages) for page in pages[:-1]} <= {size}


async def test_the_newest_message_can_be_removed_and_a_cleared_conversation_may_begin_anew(
    memory: ChatMemory,
) -> None:
    await memory.add_messages("c", says("你好", "再见")).or_raise()
    assert (await memory.remove_newest("c").or_raise()).content == "再见"
    assert await contents(memory, "c") == ["你好"]
    report = await memory.clear_messages("c").or_raise()
    assert (report.messages, report.summaries, report.version) == (1, 0, 3)
    assert await memory.remove_newest("c") == Failure(ConversationNotFoundError("c"))
    await memory.add_messages("c", says("新")).or_raise()
    assert await contents(memory, "c") == ["新"]


@pytest.mark.parametrize(
    "strategy",
    [
        StrategySettings(
            type="summarize", summarize_every_n=6, keep_last=2, delete_summarized_messages=deletes
        )
        for deletes in (False, True)
    ],
    ids=["keeping", "deleting"],
)
async def test_a_long_history_is_seen_through_its_summary_which_leads_to_what_it_covers_and_back(
    memory: ChatMemory, strategy: StrategySettings
) -> None:
    words = [f"第{index}句：我们在讨论第{index}号方案。" for index in range(6)]
    report = await memory.add_messages("c", says(*words)).or_raise()
    assert report.history.status == "done"
    (summary_id,) = report.history.summary_ids
    view = await memory.get_messages("c").or_raise()
    assert [message.role for message in view] == ["summary", "user", "assistant"]
    assert (view[0].id, [message.content for message in view[1:]]) == (summary_id, words[4:])
    assert "方案" in view[0].content
    kept = words[4:] if strategy.delete_summarized_messages else words
    assert await contents(memory, "c", view="full") == [*kept, view[0].content]
    assert await memory.count("c") == Success(3)
    assert await memory.count("c", view="full") == Success(len(kept) + 1)
    made = await memory.get_summarization("c", summary_id).or_raise()
    assert made is not None
    assert made.summarized_message_ids == tuple(words[:4])
    assert made.messages_deleted is strategy.delete_summarized_messages
    assert view[0].metadata == {"summaryMetadataId": made.id}
    assert await memory.get_summarizations_of("c", words[0]) == Success((made,))
    assert await memory.get_summarizations_of("c", words[5]) == Success(())
    assert await memory.get_summarization("c", words[0]) == Success(None)
    again = await memory.add_messages("c", says(*words)).or_raise()
    assert (again.stored, again.duplicates) == ((), tuple(words))


async def test_a_version_that_is_yet_to_come_is_refused_with_the_present_one(memory: ChatMemory) -> None:
    await memory.add_messages("past", [NewMessage("user", "一")]).or_raise()
    refused = await memory.get_messages("past", as_of=2)
    problem = Problem("$.as_of", "the conversation is at version 1, and has no later one")
    assert refused == Failure(DataValidationError((problem,)))
    assert await memory.get_messages("past", as_of=0).or_raise() == ()
    assert isinstance(await memory.get_page("past", as_of=-1), Failure)
    assert isinstance(await memory.get_page("past", as_of=NAIVE), Failure)
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    assert (await memory.get_page("past", as_of=tomorrow).or_raise()).version == 1


async def test_the_newest_messages_are_replaced_at_the_version_at_which_they_were_read(
    memory: ChatMemory,
) -> None:
    await memory.add_messages("c", says("一", "二", "三")).or_raise()
    read_at = (await memory.get_page("c").or_raise()).version
    report = await memory.replace_newest("c", says("二和三"), count=2, expected_version=read_at).or_raise()
    assert await contents(memory, "c") == ["一", "二和三"]
    assert report.version == (await memory.get_conversation("c").or_raise()).version
    stale = await memory.replace_newest("c", says("四"), expected_version=read_at)
    assert isinstance(stale, Failure)
    assert isinstance(stale.failure(), VersionConflictError)
    await memory.replace_newest("c", says("全部")).or_raise()
    assert await contents(memory, "c") == ["全部"]
    assert wrong_paths(await memory.replace_newest("c", says("五"), count=-1)) == ["$.count"]
