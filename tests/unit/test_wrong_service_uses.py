"""Mistakes with services, stacks and doubles: each error names what was given and says what to write."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from threading import Thread
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
from chatmemory.effect.layers.mock import UnimplementedError
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


ASKING = [
    Wrong(
        "a dict", lambda: refused(lambda m: m.add_messages("c", [{}])), EffectFailed, "not dict", "structure"
    ),
    Wrong(
        "one message",
        lambda: refused(lambda m: m.add_messages("c", HELLO)),
        EffectFailed,
        "not NewMessage",
        "a sequence of",
    ),
    Wrong(
        "a string",
        lambda: refused(lambda m: m.add_messages("c", "hello")),
        EffectFailed,
        "not str",
        "a sequence of NewMessage",
    ),
    Wrong(
        "a role",
        lambda: refused(lambda m: m.add_messages("c", [message("bot", "x")])),
        EffectFailed,
        "'bot'",
        "one of assistant",
    ),
    Wrong(
        "an id",
        lambda: refused(lambda m: m.add_messages(5, [HELLO])),
        EffectFailed,
        "not int",
        "expected text",
    ),
    Wrong(
        "a limit",
        lambda: refused(lambda m: m.get_messages("c", limit="5")),
        EffectFailed,
        "'5'",
        "an integer from 0",
    ),
    Wrong(
        "no zone",
        lambda: refused(lambda m: m.get_messages("c", before=NAIVE)),
        EffectFailed,
        "no instant",
        "datetime.UTC",
    ),
    Wrong(
        "a date in text",
        lambda: refused(lambda m: m.get_messages("c", before="2026")),
        EffectFailed,
        "not str",
        "a datetime",
    ),
    Wrong(
        "nobody",
        lambda: refused(lambda m: m.get_messages("nobody")),
        EffectFailed,
        "'nobody'",
        "add a message",
    ),
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
        "no stack",
        lambda: long_term.get().run(),
        MissingServiceError,
        "LongTerm",
        "stacks.embedded(path)",
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
        lambda: Stub(ChatMemoryService, get_mesages=[]),
        AttributeError,
        "get_mesages",
        "'get_messages'?",
    ),
    Wrong("a protocol", lambda: stub(ChatMemory), TypeError, "ChatMemory", "write ChatMemoryService"),
    Wrong("a value", lambda: Stub(ChatMemoryService, count=3), TypeError, "is a list", "count=[3]"),
    Wrong(
        "an error",
        lambda: Stub(ChatMemoryService, count=[ConversationNotFoundError("c")]),
        TypeError,
        "'c'",
        "Failure(",
    ),
    Wrong(
        "an exception",
        lambda: Stub(ChatMemoryService, count=[OSError(1)]),
        TypeError,
        "OSError(1)",
        "raises(OSError(1))",
    ),
    Wrong(
        "its class",
        lambda: Stub(ChatMemoryService, count=[OSError]),
        TypeError,
        "OSError",
        "raises(OSError(...))",
    ),
    Wrong(
        "no end", lambda: Stub(ChatMemoryService, count=[forever(1), 2]), TypeError, "forever", "put it last"
    ),
    Wrong(
        "no layer",
        lambda: runtime(Stub(ChatMemoryService)),
        TypeError,
        "Stub",
        "take its layer, Stub(...).layer",
    ),
    Wrong("no fake", lambda: ready.testing() | Spy(ChatMemoryService), TypeError, "Spy", "Spy(...).layer"),
    Wrong(
        "no script",
        lambda: Stub(ChatMemoryService).service.count("c"),
        UnimplementedError,
        "ChatMemory.count",
        "count=[...]",
    ),
    Wrong(
        "used up",
        lambda: Stub(ChatMemoryService, count=[]).service.count("c"),
        ScriptUsedUpError,
        "count",
        "add a step",
    ),
    Wrong(
        "no such call",
        lambda: stub(ChatMemoryService, count=[1]).service.count(c="c"),
        TypeError,
        "conversation_id",
        "count(self, conversation_id",
    ),
    Wrong("a span", lambda: clock.advance("1h"), TypeError, "'1h'", "0.5 for half a second"),
    Wrong("backwards", lambda: clock.advance(-1), ValueError, "-1", "set_time(instant)"),
]


@pytest.mark.parametrize("wrong", [*ASKING, *STACKS, *DOUBLES], ids=lambda wrong: wrong.name)
async def test_the_error_says_what_was_given_and_what_to_write(wrong: Wrong) -> None:
    await check(wrong)


@pytest.mark.parametrize("kind", ["testing", "embedded"])
async def test_a_store_that_is_used_from_another_event_loop_names_the_runtime_for_it(
    kind: str, tmp_path: Path
) -> None:
    stack = stacks.testing() if kind == "testing" else stacks.embedded(tmp_path / "store.db")
    said: list[str] = []

    async def ask(memory: ChatMemory) -> None:
        outcome = await memory.count("c")
        assert isinstance(outcome, Failure)
        said.append(str(outcome.failure()))

    async with ManagedRuntime(stack) as opened:
        memory = await opened.service(ChatMemoryService)
        elsewhere = Thread(target=lambda: asyncio.run(ask(memory)))
        elsewhere.start()
        elsewhere.join()
    assert "wrong loop" in said[0]
    assert "ThreadRuntime(layer)" in said[0]


def test_a_missing_service_lists_the_public_ones_and_counts_the_internal_ones() -> None:
    async def main() -> None:
        await service(PastChatsService)

    with pytest.raises(MissingServiceError) as raised:
        asyncio.run(main())
    message = str(raised.value)
    assert "ChatMemoryService" in message
    assert "internal" in message
    assert "SettingsTag" not in message
