"""What reads the past, past chats and whole stores keeps the event loop free, as ``test_free_loop.py`` shows of the rest."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any, Final

from chatmemory import (
    ChatContextService,
    ChatMemory,
    ChatMemoryService,
    LongTermMemoryService,
    ManagedRuntime,
    Namespace,
    NewMemory,
    NewMessage,
)
from chatmemory.effect import Success
from chatmemory.input.json_value import JsonObject
from chatmemory.longterm.memories import MemoryChanges
from chatmemory.pastchats.contract import PastChatsService
from chatmemory.programs.archive.exporting import exported
from chatmemory.settings.embedding_settings import EmbeddingSettings
from chatmemory.settings.past_chats_settings import PastChatsSettings
from chatmemory_layers import stacks
from chatmemory_layers.server.served_past_chats import served_past_chats
from tests.indexed import open_index
from tests.reliability.watchdog import Watchdog, watchdog

__all__ = ["watchdog"]  # a fixture

MING: Final = Namespace("小明", "notes")
ENGLISH: Final = " ".join(f"word{number % 7919} of{number % 977}" for number in range(70_000))[:1_000_000]
CHINESE: Final = "".join(chr(0x4E00 + number * 7919 % 5000) for number in range(333_000))
LINES: Final = [NewMessage("user", f"line {number} 屋顶") for number in range(5_000)]
FACTS: Final = [NewMemory(f"fact {number} about word{number}") for number in range(1_000)]
CHANGES: Final = 20
"""Versions that a conversation and a memory have behind them."""

Calls = dict[str, Callable[[], Awaitable[Any]]]


async def test_the_past_of_conversations_is_read_and_branched_beside_the_loop(
    tmp_path: Path, watchdog: Watchdog
) -> None:
    async with ManagedRuntime(stacks.embedded(tmp_path / "m.db")) as runtime:
        chat = await runtime.service(ChatMemoryService)
        context = await runtime.service(ChatContextService)
        numbers = count()
        for _ in range(CHANGES):
            await chat.add_messages("long", LINES[: len(LINES) // CHANGES]).or_raise()
        await chat.add_messages("large", [NewMessage("user", ENGLISH)]).or_raise()
        noon = datetime.now(UTC)
        await chat.add_messages("large", [NewMessage("assistant", CHINESE)]).or_raise()
        await chat.fork("long", "branch").or_raise()
        await chat.add_messages("branch", LINES).or_raise()
        calls: Calls = {
            "an earlier version": lambda: chat.get_messages("long", as_of=CHANGES // 2),
            "an earlier time": lambda: chat.get_messages("large", as_of=noon),
            "a page of an earlier version": lambda: chat.get_page("long", limit=1_000, as_of=CHANGES - 1),
            "fork at a version": lambda: chat.fork("long", f"fork {next(numbers)}", at=CHANGES // 2),
            "fork 1 MB": lambda: chat.fork("large", f"fork {next(numbers)}"),
            "read a branch": lambda: chat.get_messages("branch", view="full"),
            "all pages of a branch": lambda: pages(chat, "branch"),
            "all pages of 1 MB": lambda: pages(chat, "large"),
            "a context of a branch": lambda: context.build(MING, "branch", "line"),
            "a context for a long question": lambda: context.build(MING, "large", ENGLISH[:20_000]),
            "undo": lambda: chat.undo("branch"),
            "remove 1 MB": lambda: chat.remove_newest("large"),
        }
        assert await watchdog.too_long(calls) == {}


async def pages(chat: ChatMemory, conversation_id: str) -> Success[int]:
    return Success(sum([len(page.unwrap().messages) async for page in chat.pages(conversation_id)]))


async def test_the_past_of_memories_is_read_beside_the_loop(tmp_path: Path, watchdog: Watchdog) -> None:
    async with ManagedRuntime(stacks.embedded(tmp_path / "m.db")) as runtime:
        memory = await runtime.service(LongTermMemoryService)
        numbers = count()
        await memory.remember(MING, FACTS, dedup="none").or_raise()
        for number in range(CHANGES):
            await memory.put_value(MING, "large", f"{number} {ENGLISH}").or_raise()
        noon = datetime.now(UTC)
        stored = await memory.put_value(MING, "large", CHINESE).or_raise()
        calls: Calls = {
            "an earlier value": lambda: memory.get_value(MING, "large", as_of=noon),
            "earlier values": lambda: memory.list_values(MING, as_of=noon),
            "what was true": lambda: memory.list(MING, as_of=noon, limit=1_000),
            "recall what was true": lambda: memory.recall(MING, "fact word7", as_of=noon),
            "recall what was true by 1 MB": lambda: memory.recall(MING, ENGLISH, as_of=noon),
            "one of 1 MB": lambda: memory.get(MING, stored.id),
            "a history of 1 MB": lambda: memory.history(MING, stored.id),
            "update by 1 MB": lambda: memory.update(
                MING, stored.id, MemoryChanges(content=f"{next(numbers)} {ENGLISH}")
            ),
            "expire": lambda: memory.expire(MING),
            "embed anew": lambda: memory.re_embed(MING),
        }
        assert await watchdog.too_long(calls) == {}


async def test_a_store_is_exported_beside_the_loop(tmp_path: Path, watchdog: Watchdog) -> None:
    async with ManagedRuntime(stacks.embedded(tmp_path / "m.db")) as runtime:
        chat = await runtime.service(ChatMemoryService)
        memory = await runtime.service(LongTermMemoryService)
        await chat.add_messages("long", LINES).or_raise()
        await chat.add_messages(
            "large", [NewMessage("user", ENGLISH), NewMessage("user", CHINESE)]
        ).or_raise()
        await memory.remember(MING, [*FACTS, NewMemory(ENGLISH)], dedup="none").or_raise()
        lines: list[str] = []
        calls: Calls = {
            "export": lambda: runtime.run(exported(lines.append)),
            "export with vectors": lambda: runtime.run(exported(lines.append, with_vectors=True)),
        }
        assert await watchdog.too_long(calls) == {}
        assert sum(ENGLISH in line for line in lines) > 0


async def test_past_chats_are_searched_beside_the_loop(tmp_path: Path, watchdog: Watchdog) -> None:
    folder = tmp_path / "past"
    folder.mkdir()
    with open_index(folder) as indexed:
        indexed.write("long.jsonl", *[("user", f"How do I fix word{n} of line {n}?") for n in range(1_000)])
        indexed.write("large.jsonl", ("user", ENGLISH), ("assistant", CHINESE))
        indexed.index()
    settings = PastChatsSettings(path=str(indexed.database), use_sqlite_vec=False)
    async with ManagedRuntime(served_past_chats(settings, EmbeddingSettings(provider="hashed"))) as runtime:
        chats = await runtime.service(PastChatsService)
        page = await chats.conversations().or_raise()
        large = min(page.conversations, key=lambda conversation: conversation.turns)
        records: list[JsonObject] = []
        calls: Calls = {
            "search": lambda: chats.search("fix word7", limit=50),
            "search by 1 MB": lambda: chats.search(ENGLISH),
            "search by Chinese of 1 MB": lambda: chats.search(CHINESE),
            "recall": lambda: chats.recall("fix word7", limit=50),
            "recall by 1 MB": lambda: chats.recall(ENGLISH),
            "show 1 MB": lambda: chats.show(large.conversation_id),
            "turns of 1 MB": lambda: chats.turns(large.conversation_id),
            "list": chats.conversations,
            "statistics": chats.statistics,
            "export": lambda: chats.export(to=records.append),
            "check": chats.check,
        }
        assert await watchdog.too_long(calls) == {}
