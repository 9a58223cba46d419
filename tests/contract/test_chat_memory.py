"""What an agent author may rely on, whatever keeps the conversation."""

from chatmemory.conversation.contract import ChatMemory
from chatmemory.conversation.messages import ConversationPage, HistoryReport
from chatmemory.conversation.new_message import NewMessage
from chatmemory.effect import Failure, Success
from chatmemory.effect.services.clock import TestClock
from chatmemory.errors import ConversationNotFoundError, DataValidationError, VersionConflictError


def says(*contents: str) -> list[NewMessage]:
    """Make messages of a dialogue, user first."""
    return [
        NewMessage("assistant" if index % 2 else "user", content, id=content)
        for index, content in enumerate(contents)
    ]


async def contents(memory: ChatMemory, conversation_id: str, **page: object) -> list[str]:
    messages = await memory.get_messages(conversation_id, **page).or_raise()
    return [message.content for message in messages]


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
    assert await memory.get_page("nobody") == missing
    assert await memory.remove_newest("nobody") == missing
    assert await memory.get_conversation("nobody") == missing
    assert [outcome async for outcome in memory.pages("nobody")] == [missing]
    assert await memory.exists("nobody") == Success(False)
    assert await memory.count("nobody") == Success(0)
    assert await memory.list_conversations() == Success(ConversationPage((), None))


async def test_pages_stream_the_whole_from_its_beginning(memory: ChatMemory) -> None:
    words = [f"第{index}句" for index in range(7)]
    await memory.add_messages("c", says(*words)).or_raise()
    for size in (1, 3, 7, 8):
        pages = [outcome.unwrap() async for outcome in memory.pages("c", size=size)]
        assert [message.content for page in pages for message in page.messages] == words
        assert {len(page.messages) for page in pages[:-1]} <= {size}
    for wrong in (0, -1):
        (refused,) = [outcome.failure() async for outcome in memory.pages("c", size=wrong)]
        assert isinstance(refused, DataValidationError)
        assert [problem.path for problem in refused.problems] == ["$.size"], wrong


async def test_so_many_of_the_newest_messages_are_replaced_or_all(memory: ChatMemory) -> None:
    await memory.add_messages("c", says("一", "二", "三")).or_raise()
    report = await memory.replace_newest("c", says("二和三"), count=2, expected_version=1).or_raise()
    assert await contents(memory, "c") == ["一", "二和三"]
    stale = await memory.replace_newest("c", says("四"), expected_version=1)
    assert stale == Failure(VersionConflictError("c", expected=1, actual=report.version))
    await memory.replace_newest("c", says("全部")).or_raise()
    assert await contents(memory, "c") == ["全部"]
