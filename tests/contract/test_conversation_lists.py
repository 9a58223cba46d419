"""Lists of conversations: which, in what order, and how pages join."""

from datetime import timedelta
from typing import Any

from chatmemory.conversation.contract import ChatMemory
from chatmemory.conversation.message_repository import ConversationListing, MessageRepository
from chatmemory.conversation.messages import ConversationOrder, ConversationPage
from chatmemory.conversation.new_message import NewMessage
from chatmemory.effect import Success
from chatmemory.effect.services.clock import TestClock
from chatmemory.laws.kit.samples import START, batch, said
from tests.contract.conftest import IN_MEMORY

MINUTE = timedelta(minutes=1)
LAST = "\U0010ffff" * 512  # no id is greater
ALIKE = [
    *("Z", "a", "a b", "a%", "aa", "a_", "9", "10", "_", "é", "e\u0301", "会议", "会", "\uffff", "🙂"),
    LAST,
]
PREFIXES = ["", "a", "A", "a%", "a_", "%", "会", "e", "\U0010ffff", LAST, "没有"]
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


async def test_ids_are_compared_by_code_point_and_a_prefix_is_taken_to_the_letter(
    repository: MessageRepository,
) -> None:
    for conversation_id in ALIKE:
        await repository.append(batch(conversation_id, said("1"))).or_raise()
    expected = {prefix: sorted(one for one in ALIKE if one.startswith(prefix)) for prefix in PREFIXES}
    assert {prefix: await ids(repository, prefix=prefix) for prefix in PREFIXES} == expected
    # All changed at one instant: of these the last id comes first.
    recent = {prefix: await ids(repository, prefix=prefix, order="recent") for prefix in PREFIXES}
    assert recent == {prefix: found[::-1] for prefix, found in expected.items()}
    assert await ids(repository, limit=0) == []


async def test_what_changed_last_comes_first_and_a_place_stays_good_when_nobody_stands_there(
    repository: MessageRepository,
) -> None:
    for minute, conversation_id in enumerate(["c", "会议", "a", "b"]):
        await repository.append(batch(conversation_id, said("1"), now=START + minute * MINUTE)).or_raise()
    assert await ids(repository, after=(START + 9 * MINUTE, "aa")) == ["b", "c", "会议"]
    assert await ids(repository, after=(START + 2 * MINUTE, "z"), order="recent") == ["a", "会议", "c"]
    assert await ids(repository, after=(START + 2 * MINUTE, "A"), order="recent") == ["会议", "c"]
    later = START + 9 * MINUTE
    await repository.append(batch("c", said("1"), now=later)).or_raise()  # stored before: no change
    await repository.append(batch("会议", said("2"), now=later)).or_raise()
    await repository.clear("b", now=later).or_raise()
    assert await ids(repository, order="recent") == ["会议", "a", "c"]


@IN_MEMORY
async def test_pages_of_the_service_join_to_the_whole(memory: ChatMemory, clock: TestClock) -> None:
    said_at_once = [["a 1", "a会", "b"], ["a 2", "a%", "a_", "A"], ["a 3"]]
    for conversation_ids in said_at_once:
        await say(memory, *conversation_ids)
        await clock.advance(0.000_001)
    newest_first = [found for at_once in said_at_once[::-1] for found in sorted(at_once, reverse=True)]
    for order in ORDERS:
        whole = newest_first if order == "recent" else sorted(newest_first)
        of_a = [found for found in whole if found.startswith("a")]
        for limit in (1, 2, 3, 5, 100):
            assert await walk(memory, limit=limit, order=order) == whole
            assert await walk(memory, limit=limit, order=order, prefix="a") == of_a
    assert await memory.list_conversations(limit=0) == Success(ConversationPage((), None))


@IN_MEMORY
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
