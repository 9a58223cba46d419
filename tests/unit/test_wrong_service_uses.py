"""Mistakes with services, stacks and doubles: each error names what was given and says what to write."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import chatmemory
from chatmemory import (
    ChatMemory,
    ChatMemoryService,
    ConversationNotFoundError,
    Effect,
    EffectFailed,
    Failure,
    LongTermMemoryService,
    ManagedRuntime,
    NewMessage,
    PastChatsService,
)
from chatmemory.effect import MissingServiceError, TestClock
from chatmemory.effect.layer import UnimplementedError
from chatmemory.testing import ScriptUsedUpError, Spy, Stub, forever
from chatmemory_layers import stacks
from tests.effect.wrong_use import Wrong, check

stub: Any = Stub
ready: Any = stacks
runtime: Any = ManagedRuntime
clock: Any = TestClock()
HELLO = NewMessage(role="user", content="早上好")
NAIVE = datetime(2026, 1, 1)  # noqa: DTZ001  the mistake
message: Any = NewMessage
package: Any = chatmemory
chat_memory: Any = ChatMemoryService
long_term: Any = LongTermMemoryService


async def refused(ask: Callable[[Any], Effect[Any, Any]]) -> None:
    """Raise the failure of what *ask* asks of a memory."""
    async with ManagedRuntime(stacks.testing()) as opened:
        await ask(await opened.service(ChatMemoryService)).or_raise()


async def service(tag: Any) -> None:
    async with runtime(stacks.testing()) as opened:
        await opened.service(tag)


def asked(name: str, ask: Callable[[Any], Effect[Any, Any]], names: str, cure: str) -> Wrong:
    """A memory is asked, and refuses."""
    return Wrong(name, lambda: refused(ask), EffectFailed, names, cure)


def add(messages: Any, *, to: Any = "c") -> Callable[[Any], Effect[Any, Any]]:
    return lambda memory: memory.add_messages(to, messages)


def get(conversation: str = "c", **more: Any) -> Callable[[Any], Effect[Any, Any]]:
    return lambda memory: memory.get_messages(conversation, **more)


def scripted(name: str, count: Any, names: str, cure: str) -> Wrong:
    """A stub is given a script that is none."""
    return Wrong(name, lambda: stub(ChatMemoryService, count=count), TypeError, names, cure)


def counts(*arguments: Any, script: dict[str, Any], **named: Any) -> Callable[[], Any]:
    """A stub with a script is asked to count."""
    return lambda: stub(ChatMemoryService, **script).service.count(*arguments, **named)


ASKING = [
    asked("a dict", add([{}]), "not dict", "structure"),
    asked("one message", add(HELLO), "not NewMessage", "a sequence of"),
    asked("a string", add("hello"), "not str", "a sequence of NewMessage"),
    asked("a role", lambda m: m.add_messages("c", [message("bot", "x")]), "'bot'", "one of assistant"),
    asked("an id", add([HELLO], to=5), "not int", "expected text"),
    asked("a limit", get(limit="5"), "'5'", "an integer from 0"),
    asked("no zone", get(before=NAIVE), "no instant", "datetime.UTC"),
    asked("a date in text", get(before="2026"), "not str", "a datetime"),
    asked("nobody", get("nobody"), "'nobody'", "add a message"),
    Wrong(
        "a tag's method",
        lambda: chat_memory.get_messages("c"),
        AttributeError,
        "get_messages",
        "ChatMemoryService.use(",
    ),
    Wrong("a protocol", lambda: service(ChatMemory), TypeError, "ChatMemory", "write ChatMemoryService"),
    Wrong(
        "past chats",
        lambda: service(PastChatsService),
        MissingServiceError,
        "PastChatsService",
        "stack | past_chats_stacks.finding(...)",
    ),
    Wrong(
        "no stack", lambda: long_term.get().run(), MissingServiceError, "LongTerm", "stacks.embedded(path)"
    ),
]

STACKS = [
    Wrong("no call", lambda: runtime(stacks.testing), TypeError, "function testing", "stacks.testing()"),
    Wrong("a misspelt part", lambda: ready.testing(embeder=1), TypeError, "'embeder'", "embedder"),
    Wrong("a clock of another kind", lambda: ready.testing(clock=5), TypeError, "5 is no Clock", "add them"),
    Wrong("a clock's class", lambda: ready.testing(clock=TestClock), TypeError, "class", "TestClock(...)"),
    Wrong("a strategy by name", lambda: ready.testing(strategy="none"), TypeError, "'none'", "after_add"),
    Wrong("a misspelt stack", lambda: ready.test, AttributeError, "'test'", "did you mean 'testing'?"),
    Wrong("a misspelt name", lambda: package.ManagdRuntime, AttributeError, "Managd", "'ManagedRuntime'?"),
]

DOUBLES = [
    Wrong(
        "a method",
        lambda: stub(ChatMemoryService, get_mesages=[]),
        AttributeError,
        "get_mesages",
        "'get_messages'?",
    ),
    Wrong("a protocol", lambda: stub(ChatMemory), TypeError, "ChatMemory", "write ChatMemoryService"),
    scripted("a value", 3, "is a list", "count=[3]"),
    scripted("an error", [ConversationNotFoundError("c")], "'c'", "Failure("),
    scripted("an exception", [OSError(1)], "OSError(1)", "raises(OSError(1))"),
    scripted("its class", [OSError], "OSError", "raises(OSError(...))"),
    scripted("no end", [forever(1), 2], "forever", "put it last"),
    Wrong(
        "no layer",
        lambda: runtime(stub(ChatMemoryService)),
        TypeError,
        "Stub",
        "take its layer, Stub(...).layer",
    ),
    Wrong("no fake", lambda: ready.testing() | Spy(ChatMemoryService), TypeError, "Spy", "Spy(...).layer"),
    Wrong("no script", counts("c", script={}), UnimplementedError, "ChatMemory.count", "count=[...]"),
    Wrong("used up", counts("c", script={"count": []}), ScriptUsedUpError, "count", "add a step"),
    Wrong(
        "no such call",
        counts(c="c", script={"count": [1]}),
        TypeError,
        "conversation_id",
        "count(self, conversation_id",
    ),
    Wrong("a span", lambda: clock.advance("1h"), TypeError, "'1h'", "0.5 for half a second"),
    Wrong("backwards", lambda: clock.advance(-1), ValueError, "-1", "set_time(instant)"),
]


async def test_the_error_says_what_was_given_and_what_to_write() -> None:
    for wrong in (*ASKING, *STACKS, *DOUBLES):
        await check(wrong)


async def test_a_store_that_is_used_from_another_event_loop_names_the_runtime_for_it(tmp_path: Path) -> None:
    said: list[str] = []

    async def ask(memory: ChatMemory) -> None:
        outcome = await memory.count("c")
        assert isinstance(outcome, Failure)
        said.append(str(outcome.failure()))

    for stack in (stacks.testing(), stacks.embedded(tmp_path / "store.db")):
        async with ManagedRuntime(stack) as opened:
            memory = await opened.service(ChatMemoryService)
            await asyncio.to_thread(asyncio.run, ask(memory))
    for message in said:
        assert "wrong loop" in message
        assert "ThreadRuntime(layer)" in message
    assert len(said) == 2


async def test_a_missing_service_lists_the_public_ones_and_counts_the_internal_ones() -> None:
    with pytest.raises(MissingServiceError) as raised:
        await service(PastChatsService)
    message = str(raised.value)
    assert "ChatMemoryService" in message
    assert "internal" in message
    assert "SettingsTag" not in message
