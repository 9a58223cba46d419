"""Whatever was done to conversations, a copy of the store shows what the store shows."""

from typing import Any

from hypothesis import given, settings, strategies as st

from chatmemory.conversation.message_repository import (
    ConversationListing,
    Fork,
    MessageRepository,
    MessageRepositoryTag,
    PageQuery,
    Undo,
)
from chatmemory.effect import ManagedRuntime
from chatmemory.laws.kit.samples import START, batch, said
from chatmemory_layers import stacks
from tests.archive.rich_store import DAY, export_of, import_into, summarize
from tests.thorough import rounds

IDS = ("a", "b", "c")

steps = st.lists(
    st.tuples(
        st.sampled_from(
            ("append", "append", "append", "summarize", "delete", "fork", "remove", "undo", "clear")
        ),
        st.sampled_from(IDS),
        st.integers(0, 5),
    ),
    max_size=25,
)


async def take(messages: MessageRepository, number: int, step: tuple[str, str, int]) -> None:
    """Do one thing; what is refused is done by nobody."""
    what, id_, size = step
    now = START + number * DAY
    match what:
        case "append":
            drafts = [said(f"m{number}.{one}", f"第{one}句") for one in range(size + 1)]
            (await messages.append(batch(id_, *drafts, now=now))).value_or(None)
        case "summarize" | "delete":
            page = await messages.page(PageQuery(id_, "model")).or_raise()
            if page is not None and page.messages:
                await summarize(messages, id_, size + 1, f"s{number}", deletes=what == "delete")
        case "fork":
            (await messages.fork(Fork(id_, IDS[size % 3] + "/" + str(number), None, now))).value_or(None)
        case "remove":
            (await messages.remove_newest(id_, now=now, threshold=None)).value_or(None)
        case "undo":
            (await messages.undo(Undo(id_, now))).value_or(None)
        case _:
            (await messages.clear(id_, now=now)).value_or(None)


async def shown(runtime: ManagedRuntime[Any]) -> list[tuple[str, str]]:
    """Return what the model's view of each conversation says."""
    messages = await runtime.service(MessageRepositoryTag)
    found: list[tuple[str, str]] = []
    for one in await messages.conversations(ConversationListing(1000)).or_raise():
        page = await messages.page(PageQuery(one.conversation_id, "model")).or_raise()
        assert page is not None
        found += [(one.conversation_id, message.id) for message in page.messages]
    return found


@settings(max_examples=rounds(50, thorough=500))
@given(steps)
async def test_a_copy_shows_what_the_store_shows(taken: list[tuple[str, str, int]]) -> None:
    async with ManagedRuntime(stacks.testing()) as one, ManagedRuntime(stacks.testing()) as other:
        messages = await one.service(MessageRepositoryTag)
        for number, step in enumerate(taken):
            await take(messages, number, step)
        lines = await export_of(one)
        report = await import_into(other, lines)
        assert report.issues == ()
        assert await export_of(other) == lines
        assert await shown(other) == await shown(one)
        assert (await import_into(other, lines)).messages.new == 0
