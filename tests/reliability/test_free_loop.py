"""No operation holds the event loop for long, however much it is given: what takes time is done on other threads."""

import asyncio
import gc
import time
from asyncio import events
from collections.abc import Awaitable, Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from threading import get_ident
from typing import Any, Final

import pytest

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
from chatmemory.settings.memory_settings import (
    ChatSettings,
    MemorySettings,
    Settings,
    SqliteSettings,
    StoreSettings,
    StrategySettings,
)
from chatmemory.settings.past_chats_settings import PastChatsSettings
from chatmemory_layers import stacks
from chatmemory_layers.server.served_past_chats import served_past_chats
from tests.indexed import open_index

MING: Final = Namespace("小明", "notes")
ENGLISH: Final = " ".join(f"word{number % 7919} of{number % 977}" for number in range(70_000))[:1_000_000]
CHINESE: Final = "".join(chr(0x4E00 + number * 7919 % 5000) for number in range(333_000))
BOTH: Final = [NewMessage("user", ENGLISH), NewMessage("user", CHINESE)]
MEMBERS: Final = {f"member {number}": number for number in range(50_000)}
HEAVY: Final = [NewMessage("user", "m", metadata=MEMBERS)]
LINES: Final = [NewMessage("user", f"line {number} 屋顶") for number in range(5_000)]
FACTS: Final = [NewMemory(f"fact {number} about word{number}") for number in range(1_000)]
Calls = dict[str, Callable[[], Awaitable[Any]]]
DIALOGUE: Final = [NewMessage(("user", "assistant")[turn % 2], ENGLISH[:25_000]) for turn in range(40)]


MOST_ADDITIONS: Final = 130_000
"""An operation may hold the loop for as long as this many additions take: about 5 ms."""
# An interrupt, a page fault or a busy sibling core may lengthen a step, but not the same one again and again.
TRIES: Final = 10


def seconds_of_additions(count: int) -> float:
    start = time.thread_time()
    total = 0
    for number in range(count):
        total += number & 3
    return time.thread_time() - start


class Watchdog:
    """Measures the steps of the loop in whose thread it is made, while it watches."""

    def __init__(self) -> None:
        self.longest = 0.0
        self._thread = get_ident()

    @contextmanager
    def watching(self) -> Generator[None]:
        run = events.Handle._run

        def measured(handle: events.Handle) -> None:
            start = time.thread_time()
            try:
                run(handle)
            finally:
                if get_ident() == self._thread:  # past chats have a loop of their own
                    self.longest = max(self.longest, time.thread_time() - start)

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(events.Handle, "_run", measured)
            yield

    async def longest_step(self, call: Callable[[], Awaitable[Any]]) -> float:
        """Return how long the longest step of *call*, which must succeed, is: 1.0 is the longest that may be."""
        gc.collect()
        gc.disable()  # what is collected is not the call's
        try:
            await asyncio.sleep(0)
            self.longest = 0.0
            outcome = await call()
            await asyncio.sleep(0)
            longest = self.longest
        finally:
            gc.enable()
        outcome.unwrap()
        return longest / seconds_of_additions(MOST_ADDITIONS)

    async def too_long(self, calls: Mapping[str, Callable[[], Awaitable[Any]]]) -> dict[str, list[float]]:
        """Return the longest steps of those of *calls* that hold the loop for too long each time that they are tried."""
        held: dict[str, list[float]] = {}
        for name, call in calls.items():
            held[name] = []
            while len(held[name]) < TRIES and min(held[name], default=2.0) > 1.0:
                held[name].append(await self.longest_step(call))
        return {name: tries for name, tries in held.items() if min(tries) > 1.0}


@pytest.fixture
def watchdog() -> Iterator[Watchdog]:
    dog = Watchdog()
    with dog.watching():
        yield dog


def settings(path: Path) -> Settings:
    strategy = StrategySettings(type="summarize", summarize_every_n=40, keep_last=4)
    store = StoreSettings(backend="sqlite", sqlite=SqliteSettings(path=str(path)))
    return Settings(memory=MemorySettings(store=store, chat=ChatSettings(strategy=strategy)))


async def test_no_operation_holds_the_loop_for_five_milliseconds(tmp_path: Path, watchdog: Watchdog) -> None:
    async with ManagedRuntime(stacks.configured(settings(tmp_path / "m.db"))) as runtime:
        chat = await runtime.service(ChatMemoryService)
        memory = await runtime.service(LongTermMemoryService)
        context = await runtime.service(ChatContextService)
        numbers = count()
        await chat.add_messages("long", LINES).or_raise()
        await chat.add_messages("large", BOTH).or_raise()
        calls: Calls = {
            "add a text of 1 MB": lambda: chat.add_messages("c", [NewMessage("user", ENGLISH)]),
            "add Chinese of 1 MB": lambda: chat.add_messages("c", [NewMessage("user", CHINESE)]),
            "add metadata of 1 MB": lambda: chat.add_messages("c", HEAVY),
            "add many messages": lambda: chat.add_messages(f"{next(numbers)}", LINES),
            "summarize 1 MB": lambda: chat.add_messages(f"{next(numbers)}", DIALOGUE),
            "get many messages": lambda: chat.get_messages("long", view="full"),
            "get messages of 1 MB": lambda: chat.get_messages("large"),
            "a page": lambda: chat.get_page("long", limit=1_000),
            "list conversations": lambda: chat.list_conversations(order="recent"),
            "fork": lambda: chat.fork("long", f"fork {next(numbers)}"),
            "clear": lambda: chat.clear_messages("long"),
            "remember texts of 1 MB": lambda: memory.remember(MING, [NewMemory(ENGLISH), NewMemory(CHINESE)]),
            "remember many": lambda: memory.remember(MING, FACTS, dedup="none"),
            "remember a value of 1 MB": lambda: memory.remember(MING, [NewMemory("v", value=MEMBERS)]),
            "put a value of 1 MB": lambda: memory.put_value(MING, "key", {**MEMBERS, "turn": next(numbers)}),
            "get a value of 1 MB": lambda: memory.get_value(MING, "key"),
            "recall by 1 MB": lambda: memory.recall(MING, ENGLISH),
            "recall by Chinese of 1 MB": lambda: memory.recall(MING, CHINESE),
            "recall many": lambda: memory.recall(MING, "fact word7 word8", limit=200),
            "list": lambda: memory.list(MING, limit=1_000),
            "list containing": lambda: memory.list(MING, containing="word7"),
            "extract from 1 MB": lambda: memory.extract(ENGLISH),
            "save from 1 MB": lambda: memory.auto_save(MING, ENGLISH + "\nI live in Berlin."),
            "save a turn": lambda: memory.save_conversation_turn(MING, ENGLISH, CHINESE, session_id="c"),
            "a context of 1 MB": lambda: context.build(MING, "large", "fact word7"),
            "undo": lambda: undone(memory, next(numbers)),
            "forget all": lambda: memory.forget_all(MING),
        }
        assert await watchdog.too_long(calls) == {}


async def undone(memory: Any, number: int) -> Any:
    await memory.put_value(MING, "undone", f"{ENGLISH}{number}").or_raise()
    stored = await memory.put_value(MING, "undone", f"{CHINESE}{number}").or_raise()
    return await memory.undo(MING, stored.id)


async def test_a_step_that_takes_long_is_noticed(watchdog: Watchdog) -> None:
    class Done:
        def unwrap(self) -> None: ...

    async def work() -> Done:
        seconds_of_additions(2 * MOST_ADDITIONS)
        return Done()

    assert await watchdog.longest_step(work) > 1.0


CHANGES: Final = 20
"""Versions that a conversation and a memory have behind them."""


async def test_the_past_of_conversations_is_read_in_worker_thread(tmp_path: Path, watchdog: Watchdog) -> None:
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


def by_much(number: int) -> MemoryChanges:
    return MemoryChanges(content=f"{number} {ENGLISH}")


async def test_the_past_of_memories_is_read_in_worker_thread(tmp_path: Path, watchdog: Watchdog) -> None:
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
            "update by 1 MB": lambda: memory.update(MING, stored.id, by_much(next(numbers))),
            "expire": lambda: memory.expire(MING),
            "embed anew": lambda: memory.re_embed(MING),
        }
        assert await watchdog.too_long(calls) == {}


async def test_a_store_is_exported_in_worker_thread(tmp_path: Path, watchdog: Watchdog) -> None:
    async with ManagedRuntime(stacks.embedded(tmp_path / "m.db")) as runtime:
        chat = await runtime.service(ChatMemoryService)
        memory = await runtime.service(LongTermMemoryService)
        await chat.add_messages("long", LINES).or_raise()
        await chat.add_messages("large", BOTH).or_raise()
        await memory.remember(MING, [*FACTS, NewMemory(ENGLISH)], dedup="none").or_raise()
        lines: list[str] = []
        calls: Calls = {
            "export": lambda: runtime.run(exported(lines.append)),
            "export with vectors": lambda: runtime.run(exported(lines.append, with_vectors=True)),
        }
        assert await watchdog.too_long(calls) == {}
        assert sum(ENGLISH in line for line in lines) > 0


async def test_past_chats_are_searched_in_worker_thread(tmp_path: Path, watchdog: Watchdog) -> None:
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
