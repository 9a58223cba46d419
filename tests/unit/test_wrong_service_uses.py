"""Mistakes with services, stacks and doubles: each error names what was given and says what to write."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from chatmemory import (
    ChatMemory,
    ChatMemoryService,
    Effect,
    EffectFailed,
    LongTermMemoryService,
    ManagedRuntime,
    NewMessage,
    PastChatsService,
)
from chatmemory.effect import MissingServiceError, TestClock
from chatmemory.testing import Spy, Stub
from chatmemory_layers import stacks
from tests.effect.wrong_use import Wrong, check

stub: Any = Stub
ready: Any = stacks
runtime: Any = ManagedRuntime
clock: Any = TestClock()
HELLO = NewMessage(role="user", content="早上好")
NAIVE = datetime(2026, 1, 1)  # noqa: DTZ001  the mistake
message: Any = NewMessage
chat_memory: Any = ChatMemoryService
long_term: Any = LongTermMemoryService


async def refused(ask: Callable[[Any], Effect[Any, Any]]) -> None:
    """Raise the failure of what *ask* asks of a memory."""
    async with ManagedRuntime(stacks.testing()) as opened:
        await ask(await opened.service(ChatMemoryService)).or_raise()


async def service(tag: Any) -> None:
    async with runtime(stacks.testing()) as opened:
        await opened.service(tag)


def asked(ask: Callable[[Any], Effect[Any, Any]], names: str, cure: str) -> Wrong:
    """A memory is asked, and refuses."""
    return Wrong(lambda: refused(ask), names, cure, EffectFailed)


def add(messages: Any, *, to: Any = "c") -> Callable[[Any], Effect[Any, Any]]:
    return lambda memory: memory.add_messages(to, messages)


def get(conversation: str = "c", **more: Any) -> Callable[[Any], Effect[Any, Any]]:
    return lambda memory: memory.get_messages(conversation, **more)


ASKING = [
    asked(add([{}]), "not dict", "structure"),
    asked(add(HELLO), "not NewMessage", "a sequence of"),
    asked(add("hello"), "not str", "a sequence of NewMessage"),
    asked(lambda m: m.add_messages("c", [message("bot", "x")]), "'bot'", "one of assistant"),
    asked(add([HELLO], to=5), "not int", "expected text"),
    asked(get(limit="5"), "'5'", "an integer from 0"),
    asked(get(before=NAIVE), "no instant", "datetime.UTC"),
    asked(get(before="2026"), "not str", "a datetime"),
    asked(get("nobody"), "'nobody'", "add a message"),
    Wrong(lambda: service(ChatMemory), "ChatMemory", "write ChatMemoryService"),
    Wrong(lambda: service(PastChatsService), "PastChats", "past_chats_stacks.finding(", MissingServiceError),
    Wrong(lambda: long_term.get().run(), "LongTerm", "stacks.embedded(path)", MissingServiceError),
]

STACKS = [
    Wrong(lambda: runtime(stacks.testing), "function testing", "call the function that makes it, testing()"),
    Wrong(lambda: ready.testing(embeder=1), "'embeder'", "embedder"),
    Wrong(lambda: ready.testing(clock=5), "5 is no Clock", "add them"),
    Wrong(lambda: ready.testing(clock=TestClock), "class", "TestClock(...)"),
    Wrong(lambda: ready.testing(strategy="none"), "'none'", "after_add"),
]

DOUBLES = [
    Wrong(lambda: stub(ChatMemoryService, get_mesages=[]), "get_mesages", "'get_messages'?", AttributeError),
    Wrong(lambda: stub(ChatMemory), "ChatMemory", "write ChatMemoryService"),
    Wrong(lambda: stub(ChatMemoryService, count=[OSError]), "OSError", "raises(OSError(...))"),
    Wrong(lambda: runtime(stub(ChatMemoryService)), "Stub", "take its layer, Stub(...).layer"),
    Wrong(lambda: ready.testing() | Spy(ChatMemoryService), "Spy", "Spy(...).layer"),
    Wrong(lambda: clock.advance("1h"), "'1h'", "0.5 for half a second"),
    Wrong(lambda: clock.advance(-1), "-1", "set_time(instant)", ValueError),
]


async def test_the_error_says_what_was_given_and_what_to_write() -> None:
    for mistake in (*ASKING, *STACKS, *DOUBLES):
        await check(mistake)


async def test_a_missing_service_lists_the_public_ones_and_counts_the_internal_ones() -> None:
    with pytest.raises(MissingServiceError) as raised:
        await service(PastChatsService)
    message = str(raised.value)
    assert "ChatMemoryService" in message
    assert "internal" in message
    assert "SettingsTag" not in message
