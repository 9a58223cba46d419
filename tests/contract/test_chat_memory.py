"""What an agent author may rely on, whatever keeps the conversation."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

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


async def test_what_was_said_has_an_id_and_a_time_and_goes_message_by_message_or_as_a_whole(
    memory: ChatMemory, clock: TestClock
) -> None:
    unnamed = [NewMessage("user", "ok"), NewMessage("user", "ok"), NewMessage("assistant", "再见")]
    report = await memory.add_messages("c", unnamed).or_raise()
    assert (len(set(report.stored)), report.version, report.history) == (3, 1, HistoryReport("idle"))
    messages = await memory.get_messages("c").or_raise()
    assert [message.timestamp for message in messages] == [clock.now()] * 3
    assert (await memory.remove_newest("c").or_raise()).content == "再见"
    assert await contents(memory, "c") == ["ok", "ok"]
    cleared = await memory.clear_messages("c").or_raise()
    assert (cleared.messages, cleared.summaries, cleared.version) == (2, 0, 3)
    assert await memory.remove_newest("c") == Failure(ConversationNotFoundError("c"))


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
    conflict = await memory.add_messages("c", [NewMessage("user", "别的", id="一")])
    assert conflict == Failure(MessageConflictError("c", ("一",)))
    stale = await memory.add_messages("c", says("三"), expected_version=0)
    assert stale == Failure(VersionConflictError("c", expected=0, actual=1))


async def test_pages_stream_the_whole_from_its_beginning(memory: ChatMemory) -> None:
    words = [f"第{index}句" for index in range(7)]
    await memory.add_messages("c", says(*words)).or_raise()
    for size in (1, 3, 7, 8):
        pages = [outcome.unwrap() async for outcome in memory.pages("c", size=size)]
        assert [message.content for page in pages for message in page.messages] == words
        assert {len(page.messages) for page in pages[:-1]} <= {size}


async def walk(memory: ChatMemory, limit: int, **asked: Any) -> list[str]:
    """Join the pages of the list, of which all but the last one are full."""
    joined: list[str] = []
    after: str | None = None
    for _ in range(20):  # pages that stand still must not hang a test
        page = await memory.list_conversations(limit=limit, after=after, **asked).or_raise()
        joined += [conversation.conversation_id for conversation in page.conversations]
        after = page.next
        if after is None:
            break
        assert len(page.conversations) == limit
    return joined


async def test_pages_of_a_list_join_to_the_whole(memory: ChatMemory, clock: TestClock) -> None:
    said_at_once = [["a 1", "a会", "b"], ["a 2", "a%", "a_", "A"], ["a 3"]]
    for conversation_ids in said_at_once:
        for conversation_id in conversation_ids:
            await memory.add_messages(conversation_id, says("你好")).or_raise()
        await clock.advance(0.000_001)
    newest_first = [found for at_once in said_at_once[::-1] for found in sorted(at_once, reverse=True)]
    for order, whole in (("recent", newest_first), ("id", sorted(newest_first))):
        of_a = [found for found in whole if found.startswith("a")]
        for limit in (1, 2, 3, 5, 100):
            assert await walk(memory, limit, order=order) == whole
            assert await walk(memory, limit, order=order, prefix="a") == of_a
    assert await memory.list_conversations(limit=0) == Success(ConversationPage((), None))


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
