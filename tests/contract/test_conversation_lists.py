"""Lists of conversations: which, in what order, and how pages join."""

from datetime import timedelta
from typing import Any

import pytest

from chatmemory.conversation.contract import ChatMemory
from chatmemory.conversation.message_repository import ConversationListing, MessageRepository
from chatmemory.conversation.messages import ConversationOrder, ConversationPage
from chatmemory.conversation.new_message import NewMessage
from chatmemory.effect import Success
from chatmemory.effect.services.clock import TestClock
from chatmemory.laws.kit.samples import START, batch, said

MINUTE = timedelta(minutes=1)
ALIKE = ["Z", "a", "a b", "a%", "aa", "a_", "9", "10", "_", "é", "e\u0301", "会议", "会", "\uffff", "🙂"]
LAST = "\U0010ffff" * 512  # no id is greater
ORDERS: tuple[ConversationOrder, ...] = ("id", "recent")


async def ids(repository: MessageRepository, **listing: Any) -> list[str]:
    found = await repository.conversations(ConversationListing(**{"limit": 100, **listing})).or_raise()
    return [conversation.conversation_id for conversation in found]


async def walk(memory: ChatMemory, **asked: Any) -> list[str]:
    """Join the pages, of which all but the last one are full."""
    joined: list[str] = []
    after: str | None = None
    for _ in range(20):  # pages that stand still must not hang a test
        page = await memory.list_conversations(after=after, **asked).or_raise()
        joined += [conversation.conversation_id for conversation in page.conversations]
        after = page.next
        if after is None:
            break
        assert len(page.conversations) == asked["limit"]
    return joined


async def say(memory: ChatMemory, *conversation_ids: str) -> None:
    for conversation_id in conversation_ids:
        await memory.add_messages(conversation_id, [NewMessage("user", "你好")]).or_raise()


async def test_conversations_are_listed_by_code_point(repository: MessageRepository) -> None:
    for conversation_id in ALIKE:
        await repository.append(batch(conversation_id, said("1"))).or_raise()
    await repository.clear("aa", now=START).or_raise()
    assert await ids(repository) == sorted({*ALIKE} - {"aa"})
    assert await ids(repository, limit=0) == []


async def test_what_changed_last_comes_first(repository: MessageRepository) -> None:
    for minute, conversation_id in enumerate(["c", "会议", "a", "b"]):
        await repository.append(batch(conversation_id, said("1"), now=START + minute * MINUTE)).or_raise()
    assert await ids(repository, order="recent") == ["b", "a", "会议", "c"]
    await repository.append(
        batch("c", said("1"), now=START + 9 * MINUTE)
    ).or_raise()  # stored before: no change
    await repository.append(batch("会议", said("2"), now=START + 9 * MINUTE)).or_raise()
    await repository.clear("b", now=START + 9 * MINUTE).or_raise()
    assert await ids(repository, order="recent") == ["会议", "a", "c"]


async def test_of_what_changed_at_once_the_last_id_comes_first(repository: MessageRepository) -> None:
    for conversation_id in ALIKE:
        await repository.append(batch(conversation_id, said("1"))).or_raise()
    assert await ids(repository, order="recent") == sorted(ALIKE, reverse=True)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("prefix", ["", "a", "A", "a%", "a_", "%", "会", "e", "\U0010ffff", LAST, "没有"])
async def test_a_prefix_is_taken_to_the_letter(
    repository: MessageRepository, prefix: str, order: ConversationOrder
) -> None:
    for conversation_id in [*ALIKE, LAST]:
        await repository.append(batch(conversation_id, said("1"))).or_raise()
    expected = sorted(found for found in [*ALIKE, LAST] if found.startswith(prefix))
    listed = await ids(repository, prefix=prefix, order=order)
    assert listed == (expected if order == "id" else expected[::-1])


async def test_a_place_stays_good_when_nobody_stands_there(repository: MessageRepository) -> None:
    for minute, conversation_id in enumerate(["1", "5", "3"]):
        await repository.append(batch(conversation_id, said("1"), now=START + minute * MINUTE)).or_raise()
    assert await ids(repository, after=(START + 3 * MINUTE, "2")) == ["3", "5"]
    assert await ids(repository, after=(START + MINUTE, "6"), order="recent") == ["5", "1"]
    assert await ids(repository, after=(START + MINUTE, "4"), order="recent") == ["1"]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("limit", [1, 2, 3, 5, 100])
async def test_pages_join_to_the_whole(
    memory: ChatMemory, clock: TestClock, limit: int, order: ConversationOrder
) -> None:
    said_at_once = [["a 1", "a会", "b"], ["a 2", "a%", "a_", "A"], ["a 3"]]
    for conversation_ids in said_at_once:
        await say(memory, *conversation_ids)
        await clock.advance(0.000_001)
    newest_first = [found for at_once in said_at_once[::-1] for found in sorted(at_once, reverse=True)]
    whole = newest_first if order == "recent" else sorted(newest_first)
    assert await walk(memory, limit=limit, order=order) == whole
    of_a = [found for found in whole if found.startswith("a")]
    assert await walk(memory, limit=limit, order=order, prefix="a") == of_a


async def test_a_page_without_room_is_empty(memory: ChatMemory) -> None:
    await say(memory, "会议")
    assert await memory.list_conversations(limit=0) == Success(ConversationPage((), None))


async def test_a_conversation_that_changes_meanwhile_takes_the_place_of_no_other(
    memory: ChatMemory, clock: TestClock
) -> None:
    for conversation_id in ["1", "2", "3", "4", "5"]:
        await say(memory, conversation_id)
        await clock.advance(60)
    seen = await memory.list_conversations(limit=2, order="recent").or_raise()
    assert [conversation.conversation_id for conversation in seen.conversations] == ["5", "4"]
    await memory.clear_messages("4").or_raise()  # the one at which the cursor stands
    await say(memory, "2", "新")
    rest = await memory.list_conversations(limit=9, order="recent", after=seen.next).or_raise()
    assert [conversation.conversation_id for conversation in rest.conversations] == ["3", "1"]
    assert await walk(memory, limit=9, order="recent") == ["新", "2", "5", "3", "1"]
