"""No operation holds the event loop for long, however much it is given: what takes time is done on other threads.

``test_free_loop_of_archives.py`` goes through what reads the past and whole stores.
"""

import time
from collections.abc import Awaitable, Callable
from itertools import count
from pathlib import Path
from typing import Any, Final

from chatmemory import (
    ChatContextService,
    ChatMemoryService,
    LongTermMemoryService,
    ManagedRuntime,
    Namespace,
    NewMemory,
    NewMessage,
)
from chatmemory.settings.memory_settings import (
    ChatSettings,
    MemorySettings,
    Settings,
    SqliteSettings,
    StoreSettings,
    StrategySettings,
)
from chatmemory_layers import stacks
from tests.reliability.watchdog import MOST_SECONDS, Watchdog, watchdog

__all__ = ["watchdog"]  # a fixture

MING: Final = Namespace("小明", "notes")
ENGLISH: Final = " ".join(f"word{number % 7919} of{number % 977}" for number in range(70_000))[:1_000_000]
CHINESE: Final = "".join(chr(0x4E00 + number * 7919 % 5000) for number in range(333_000))
MEMBERS: Final = {f"member {number}": number for number in range(50_000)}
LINES: Final = [NewMessage("user", f"line {number}") for number in range(5_000)]
FACTS: Final = [f"fact {number} about word{number}" for number in range(1_000)]
DIALOGUE: Final = [NewMessage(("user", "assistant")[turn % 2], ENGLISH[:25_000]) for turn in range(40)]


def settings(path: Path) -> Settings:
    strategy = StrategySettings(type="summarize", summarize_every_n=40, keep_last=4)
    store = StoreSettings(backend="sqlite", sqlite=SqliteSettings(path=str(path)))
    return Settings(memory=MemorySettings(store=store, chat=ChatSettings(strategy=strategy)))


async def test_no_operation_holds_the_loop_for_more_than_five_milliseconds(
    tmp_path: Path, watchdog: Watchdog
) -> None:
    async with ManagedRuntime(stacks.configured(settings(tmp_path / "m.db"))) as runtime:
        chat = await runtime.service(ChatMemoryService)
        memory = await runtime.service(LongTermMemoryService)
        context = await runtime.service(ChatContextService)
        numbers = count()
        await chat.add_messages("long", LINES).or_raise()
        await chat.add_messages(
            "large", [NewMessage("user", ENGLISH), NewMessage("user", CHINESE)]
        ).or_raise()
        calls: dict[str, Callable[[], Awaitable[Any]]] = {
            "add a text of 1 MB": lambda: chat.add_messages("c", [NewMessage("user", ENGLISH)]),
            "add Chinese of 1 MB": lambda: chat.add_messages("c", [NewMessage("user", CHINESE)]),
            "add metadata of 1 MB": lambda: chat.add_messages(
                "c", [NewMessage("user", "m", metadata=MEMBERS)]
            ),
            "add many messages": lambda: chat.add_messages(f"{next(numbers)}", LINES),
            "summarize 1 MB": lambda: chat.add_messages(f"{next(numbers)}", DIALOGUE),
            "get many messages": lambda: chat.get_messages("long", view="full"),
            "get messages of 1 MB": lambda: chat.get_messages("large"),
            "a page": lambda: chat.get_page("long", limit=1_000),
            "list conversations": lambda: chat.list_conversations(order="recent"),
            "fork": lambda: chat.fork("long", f"fork {next(numbers)}"),
            "clear": lambda: chat.clear_messages("long"),
            "remember texts of 1 MB": lambda: memory.remember(MING, [NewMemory(ENGLISH), NewMemory(CHINESE)]),
            "remember many": lambda: memory.remember(MING, [NewMemory(fact) for fact in FACTS], dedup="none"),
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
            "save a turn of 1 MB": lambda: memory.save_conversation_turn(
                MING, ENGLISH, CHINESE, session_id="c"
            ),
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
        until = time.thread_time() + 2 * MOST_SECONDS
        while time.thread_time() < until:
            pass
        return Done()

    assert await watchdog.longest_step(work) > MOST_SECONDS
