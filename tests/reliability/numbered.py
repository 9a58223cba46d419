"""Numbered batches: what programs write while they are killed, cancelled or raced, and how a test finds a flaw in it.

A batch is ``BATCH_SIZE`` messages of one writer, added by one call.  The ids say who wrote it, which batch it is and
which part, so that what is stored tells by itself whether a batch is torn, lost or out of order.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Final

from chatmemory import ChatMemory, ChatMessage, NewMessage
from chatmemory.conversation.messages import SummarizationMetadata

BATCH_SIZE: Final = 3


def numbered_batch(writer: str, number: int) -> list[NewMessage]:
    return [NewMessage("user", f"{id_}: 第{number}批", id=id_) for id_ in batch_ids(writer, number)]


def batch_ids(writer: str, number: int) -> list[str]:
    return [f"{writer}/{number}/{part}" for part in range(BATCH_SIZE)]


def ids_of(batches: Mapping[str, int]) -> list[str]:
    written = [(writer, number) for writer, count in batches.items() for number in range(count)]
    return [id_ for writer, number in written for id_ in batch_ids(writer, number)]


def check_batches(messages: Sequence[ChatMessage]) -> dict[str, int]:
    """Assert that the batches in a full view are whole, unmixed and in their writers' order; count them by writer."""
    spoken = [message for message in messages if message.role != "summary"]
    assert all(earlier.seq < later.seq for earlier, later in pairwise(messages))
    written: dict[str, int] = defaultdict(int)
    for start in range(0, len(spoken), BATCH_SIZE):
        batch = spoken[start : start + BATCH_SIZE]
        writer = batch[0].id.split("/")[0]
        assert [message.id for message in batch] == batch_ids(writer, written[writer])
        assert [message.seq for message in batch] == list(range(batch[0].seq, batch[0].seq + BATCH_SIZE))
        expected = numbered_batch(writer, written[writer])
        assert [message.content for message in batch] == [new.content for new in expected]
        written[writer] += 1
    return dict(written)


async def full_view(memory: ChatMemory, conversation_id: str) -> list[ChatMessage]:
    """Read every stored message, page by page; none when the conversation is unknown."""
    if not await memory.exists(conversation_id).or_raise():
        return []
    messages: list[ChatMessage] = []
    async for outcome in memory.pages(conversation_id, size=500):
        messages += outcome.unwrap().messages
    return messages


async def check_coverage(memory: ChatMemory, conversation_id: str, expected_ids: Iterable[str]) -> int:
    """Assert that each expected message is in the model's view, or that exactly one summary in turn leads there.

    Return the number of summaries that were ever written.
    """
    origins: dict[str, SummarizationMetadata] = {}
    shown = {message.id for message in await memory.get_messages(conversation_id).or_raise()}
    for message_id in expected_ids:
        chain = await memory.get_summarizations_of(conversation_id, message_id).or_raise()
        covered_by = chain[-1].summary_message_id if chain else message_id
        assert covered_by in shown, f"{message_id} is lost"
        assert not chain or message_id not in shown, f"{message_id} is shown beside its summary"
        origins.update((origin.id, origin) for origin in chain)
    covered = [covered_id for origin in origins.values() for covered_id in origin.summarized_message_ids]
    assert len(covered) == len(set(covered)), "a message is covered by two summaries"
    return len(origins)
