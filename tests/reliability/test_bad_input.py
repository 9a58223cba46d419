"""What may not be stored is refused whole, with the place and the cure named.

That the rest comes back exactly is law L1; what is large comes back as well.
"""

from collections.abc import Callable
from datetime import UTC, datetime

from chatmemory import (
    ChatMemory,
    ConversationPage,
    DataValidationError,
    Effect,
    Failure,
    NewMessage,
    Success,
)
from chatmemory.input.rules import MAX_CONTENT_CHARACTERS, MAX_METADATA_DEPTH
from tests.reliability.store import open_store

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
NAIVE = datetime(2026, 3, 4, 12)  # noqa: DTZ001  that is what is wrong with it


def nested(depth: int) -> dict[str, object]:
    value: dict[str, object] = {}
    for _ in range(depth):
        value = {"in": value}
    return value


# What is wrong, where, and a word of the advice.
BAD_MESSAGES = {
    "unknown role": (NewMessage("robot", "x"), "$.messages[1].role", "assistant"),
    "naive timestamp": (NewMessage("user", "x", timestamp=NAIVE), "$.messages[1].timestamp", "UTC"),
    "empty id": (NewMessage("user", "x", id=""), "$.messages[1].id", "one character"),
    "long id": (NewMessage("user", "x", id="字" * 513), "$.messages[1].id", "512"),
    "NUL in the id": (NewMessage("user", "x", id="a\0b"), "$.messages[1].id", "clean_text"),
    "NUL in the content": (NewMessage("user", "a\0b"), "$.messages[1].content", "character 1"),
    "lone surrogate": (NewMessage("user", "好\ud800"), "$.messages[1].content", "clean_text"),
    "too much content": (
        NewMessage("user", "x" * (MAX_CONTENT_CHARACTERS + 1)),
        "$.messages[1].content",
        str(MAX_CONTENT_CHARACTERS),
    ),
    "content that is no text": (NewMessage("user", b"x"), "$.messages[1].content", "text"),
    "a set in the metadata": (
        NewMessage("user", "x", metadata={"tags": {"a"}}),
        "$.messages[1].metadata.tags",
        "JSON",
    ),
    "not a number": (
        NewMessage("user", "x", metadata={"score": [1.0, float("nan")]}),
        "$.messages[1].metadata.score[1]",
        "JSON",
    ),
    "NUL in the metadata": (
        NewMessage("user", "x", metadata={"k": "\0"}),
        "$.messages[1].metadata.k",
        "clean_text",
    ),
    "a number as key": (NewMessage("user", "x", metadata={1: "x"}), "$.messages[1].metadata", "key 1"),
    "metadata that is no object": (
        NewMessage("user", "x", metadata=["x"]),
        "$.messages[1].metadata",
        "object",
    ),
    "bottomless metadata": (
        NewMessage("user", "x", metadata=nested(10_000)),
        "$.messages[1].metadata",
        str(MAX_METADATA_DEPTH),
    ),
    "no message": ("hello", "$.messages[1]", "NewMessage"),
}

BAD_CALLS: dict[str, Callable[[ChatMemory], Effect[object, object]]] = {
    "adding to an empty id": lambda memory: memory.add_messages("", [NewMessage("user", "x")]),
    "adding to a long id": lambda memory: memory.add_messages("x" * 513, [NewMessage("user", "x")]),
    "adding nothing to a bad id": lambda memory: memory.add_messages("a\0", []),
    "adding a text": lambda memory: memory.add_messages("c", "hello"),
    "a negative version": lambda memory: memory.add_messages(
        "c", [NewMessage("user", "x")], expected_version=-1
    ),
    "reading an empty id": lambda memory: memory.get_messages(""),
    "reading a lone surrogate": lambda memory: memory.get_messages("\udfff"),
    "a negative limit": lambda memory: memory.get_messages("c", limit=-1),
    "a limit that is no number": lambda memory: memory.get_messages("c", limit=True),
    "a huge limit": lambda memory: memory.get_messages("c", limit=2**63),
    "a naive before": lambda memory: memory.get_messages("c", before=NAIVE),
    "an unknown view": lambda memory: memory.get_messages("c", view="half"),
    "two cursors": lambda memory: memory.get_page("c", older_than=9, newer_than=1),
    "a negative cursor": lambda memory: memory.get_page("c", older_than=-1),
    "clearing an empty id": lambda memory: memory.clear_messages(""),
    "asking for an empty id": lambda memory: memory.exists(""),
    "counting an unknown view": lambda memory: memory.count("c", view="half"),
    "listing after no cursor": lambda memory: memory.list_conversations(after="会议"),
    "listing after NUL": lambda memory: memory.list_conversations(after="2026-01-01T00:00:00+00:00 \0"),
    "listing in no order": lambda memory: memory.list_conversations(order="newest"),
    "listing what begins with NUL": lambda memory: memory.list_conversations(prefix="\0"),
    "listing what begins too long": lambda memory: memory.list_conversations(prefix="x" * 513),
    "listing what begins with no text": lambda memory: memory.list_conversations(prefix=None),
    "listing fewer than none": lambda memory: memory.list_conversations(limit=-1),
    "a summary without id": lambda memory: memory.get_summarization("c", ""),
    "summaries of no message": lambda memory: memory.get_summarizations_of("c", ""),
}


async def test_a_bad_message_is_refused_with_its_whole_batch_and_harms_nothing() -> None:
    async with open_store("memory") as memory:
        await memory.add_messages("c", [NewMessage("user", "先前的", id="before")]).or_raise()
        for name, (message, path, advice) in BAD_MESSAGES.items():
            refused = await memory.add_messages("c", [NewMessage("user", "good", id="good"), message])
            assert isinstance(refused, Failure), name
            error = refused.failure()
            assert isinstance(error, DataValidationError), name
            assert [problem.path for problem in error.problems] == [path], name
            assert advice in str(error), name
            assert not error.retry_is_safe
        assert [message.id for message in await memory.get_messages("c").or_raise()] == ["before"]


async def test_all_problems_of_a_batch_are_told_at_once() -> None:
    batch = [message for message, _, _ in BAD_MESSAGES.values()]
    async with open_store("memory") as memory:
        refused = await memory.add_messages("", batch)
    assert len(refused.failure().problems) == len(BAD_MESSAGES) + 1


async def test_a_bad_argument_is_refused_by_every_method() -> None:
    async with open_store("memory") as memory:
        for name, call in BAD_CALLS.items():
            assert isinstance((await call(memory)).failure(), DataValidationError), name
        assert await memory.list_conversations() == Success(ConversationPage((), None))


async def test_ten_megabytes_come_back_exactly(address: str) -> None:
    content = "".join(map(chr, range(0x4E00, 0x9FA5))) * 160  # 10 MB as UTF-8
    assert len(content.encode()) > 10_000_000
    async with open_store(address) as memory:
        await memory.add_messages("c", [NewMessage("tool", content)]).or_raise()
        (message,) = await memory.get_messages("c").or_raise()
    assert message.content == content
