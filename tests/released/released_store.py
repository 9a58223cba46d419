"""A store with something of everything: ``fill`` writes it, ``read`` says what is in it.

Both use public names alone, those that edition 0.5.0 had as well, so that its code can fill what today's code reads:

    python -m tests.released.released_store (sqlite STORE.db | postgres DSN) CONTENTS.json [SIZE]

run in an environment of that edition, with pydantic-ai, whose forks lie in items.  SIZE is the number of messages and of
memories.
"""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import chatmemory
from chatmemory import (
    ChatMemory,
    ChatMemoryService,
    LongTermMemory,
    LongTermMemoryService,
    ManagedRuntime,
    MemoryChanges,
    Namespace,
    NewMemory,
    NewMessage,
    StrategySettings,
)
from chatmemory_layers import stacks

if TYPE_CHECKING or hasattr(chatmemory, "ItemName"):
    from chatmemory import ItemName, ItemPut, ItemRepository, ItemRepositoryTag, ItemSearch
else:  # edition 0.5.0 has them elsewhere
    from chatmemory.contracts import ItemName, ItemPut, ItemRepository, ItemRepositoryTag, ItemSearch

Contents: TypeAlias = dict[str, list[Any]]
Stack: TypeAlias = Any  # of either edition, whose classes differ

SIZE: Final = 120
START: Final = datetime(2026, 1, 1, tzinfo=UTC)
DESK, MEI, HONG = Namespace("mei", "desk"), Namespace("mei"), Namespace("小红 \\ '")
USERS: Final = (DESK, MEI, HONG)
CITIES: Final = ("Hangzhou", "Leeds", "上海", "Oslo", "São Paulo")
STRATEGIES: Final = {
    "kept": StrategySettings(),
    "summarized": StrategySettings(type="summarize", summarize_every_n=20, keep_last=6),
    "summarized twice": StrategySettings(type="summarize", summarize_every_n=10, keep_last=2, rolling=False),
    "shortened": StrategySettings(
        type="summarize", summarize_every_n=20, keep_last=6, delete_summarized_messages=True
    ),
}
SHORT: Final = 30
"""Messages of each conversation but the first, which has the others."""


async def fill(sqlite_or_dsn: str, *, is_postgres: bool, size: int) -> None:
    """Write conversations, memories, values, items and forks."""
    make: Any = stacks.postgres if is_postgres else stacks.embedded
    for conversation_id, strategy in STRATEGIES.items():
        messages = size - SHORT * (len(STRATEGIES) - 1) if conversation_id == "kept" else SHORT
        async with ManagedRuntime(make(sqlite_or_dsn, strategy=strategy)) as runtime:
            memory = await runtime.service(ChatMemoryService)
            for batch in _batches(range(messages), 10):
                await memory.add_messages(conversation_id, [said(number) for number in batch]).or_raise()
    async with ManagedRuntime(make(sqlite_or_dsn)) as runtime:
        memory = await runtime.service(ChatMemoryService)
        await memory.add_messages("cleared", [said(1)]).or_raise()
        await memory.clear_messages("cleared").or_raise()
        await remember(await runtime.service(LongTermMemoryService), size)
        await keep_items(await runtime.service(ItemRepositoryTag), size // 10)
        await fork(runtime)


def said(number: int) -> NewMessage:
    """Return a message, some of them with metadata."""
    text = f"Message {number}: the boat to {CITIES[number % 5]} leaves at {number % 24}. 船几点开？"
    metadata = {"n": number, "half": number / 2} if number % 7 == 0 else None
    at = START + timedelta(seconds=number)
    return NewMessage("assistant" if number % 2 else "user", text, f"m{number}", at, metadata)


def fact(number: int) -> NewMemory:
    """Return a memory; kinds, tags and pins go round."""
    return NewMemory(
        f"Fact {number}: my boat number {number} lies in {CITIES[number % 5]}，船号{number}。",
        id=f"f{number}",
        tags=("boats", f"t{number % 9}") if number % 3 == 0 else (),
        session_id=f"s{number % 10}",
        pinned=number % 11 == 0,
        memory_type="short_term" if number % 13 == 0 else "long_term",
        created_at=START + timedelta(minutes=number),
    )


async def remember(memory: LongTermMemory, size: int) -> None:
    """Write memories of three namespaces; change, supersede, use and forget some, and put values."""
    for batch in _batches(range(size), 300):
        for index, namespace in enumerate(USERS):
            facts = [fact(number) for number in batch if number % 3 == index]
            await memory.remember(namespace, facts).or_raise()
    for number in range(0, 60, 6):
        newer = NewMemory(
            f"It sank, number {number}", id=f"g{number}", created_at=START + timedelta(days=900)
        )
        await memory.supersede(DESK, f"f{number}", newer).or_raise()
        changes = MemoryChanges(content=f"Changed {number}")
        await memory.update(MEI, f"f{number + 1}", changes).or_raise()
    for session in ("s1", "s2"):
        await memory.record_use(HONG, ["f2", "f5"], use_id=session, session_id=session).or_raise()
    await memory.put_value(MEI, "tea", "green").or_raise()
    await memory.put_value(MEI, "tea", {"kind": "black", "cups": 2}).or_raise()
    await memory.forget(DESK, "f3").or_raise()


async def keep_items(items: ItemRepository, size: int) -> None:
    """Write items below three labels."""
    for batch in _batches(range(size), 100):
        puts = [
            ItemPut(ItemName((USERS[n % 3].user, "notes"), f"k{n}"), json.dumps({"n": n}), terms=f"note n{n}")
            for n in batch
        ]
        await items.write(tuple(puts), now=START).or_raise()


async def fork(runtime: Any) -> None:
    """Write a conversation of pydantic-ai, a fork of it, and a branch that it has left."""
    from pydantic_ai import Conversation
    from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, UserPromptPart

    from chatmemory.integrations.pydantic_ai import ChatMemoryConversations

    def asked(text: str) -> ModelRequest:
        return ModelRequest(parts=[UserPromptPart(text, timestamp=START)], timestamp=START)

    store = ChatMemoryConversations(runtime)
    conversation = Conversation(conversation_id="a")
    for turn in range(20):
        answer = ModelResponse(parts=[TextPart(f"answer {turn}")], timestamp=START)
        conversation.messages += [asked(f"turn {turn}"), answer]
    await store.save(conversation)
    await store.fork("a", at=35, new_conversation_id="b")
    branched = await store.branch("a", at=20, expected_revision=conversation.revision)
    branched.messages.append(asked("anew"))
    await store.save(branched)


async def read(sqlite_or_dsn: str, *, is_postgres: bool) -> Contents:
    """Return everything that the store shows, as JSON."""
    make: Any = stacks.postgres if is_postgres else stacks.embedded
    async with ManagedRuntime(make(sqlite_or_dsn)) as runtime:
        chat = await runtime.service(ChatMemoryService)
        memory = await runtime.service(LongTermMemoryService)
        items = await runtime.service(ItemRepositoryTag)
        contents: Contents = {}
        for conversation_id in STRATEGIES:
            async for name, rows in _conversation(chat, conversation_id):
                contents[f"{conversation_id}: {name}"] = rows
        for namespace in USERS:
            contents[f"memories of {namespace.user} in {namespace.app!r}"] = [
                row async for row in _memories(memory, namespace)
            ]
        stored = await items.search(ItemSearch((), limit=2**31 - 1), now=START).or_raise()
        contents["items"] = sorted([[*one.name.namespace], one.name.key, one.value] for one in stored)
        return contents


async def _conversation(chat: ChatMemory, conversation_id: str) -> AsyncGenerator[tuple[str, list[Any]]]:
    facts = await chat.get_conversation(conversation_id).or_raise()
    yield (
        "counts",
        [facts.version, facts.message_count, facts.view_count, facts.view_tokens, facts.open_count],
    )
    for view in ("model", "full"):
        messages = await chat.get_messages(conversation_id, view=view).or_raise()
        yield (
            f"{view} view",
            [
                [one.id, one.seq, one.role, one.content, str(one.timestamp), one.metadata, one.covered_by]
                for one in messages
            ],
        )
        for summary in [one for one in messages if one.role == "summary"]:
            origin = await chat.get_summarization(conversation_id, summary.id).or_raise()
            yield f"covered by {summary.id}", [*origin.summarized_message_ids] if origin else []


async def _memories(memory: LongTermMemory, namespace: Namespace) -> AsyncGenerator[list[Any]]:
    ends = (None, START + timedelta(days=899))  # before the newest took the place of older ones, and now
    for as_of in ends:
        after = None
        while True:
            page = await memory.list(namespace, limit=200, after=after, as_of=as_of).or_raise()
            for one in page.memories:
                uses = [one.access_count, one.version, one.memory_type, one.pinned]
                ended = [one.superseded_by, str(one.superseded_at)]
                named = [one.id, one.app_type, one.key, one.value, *one.tags, str(one.created_at)]
                yield [*named, one.content, *uses, *(ended if one.superseded_by else [])]
            if (after := page.next) is None:
                break


def _batches(numbers: range, size: int) -> Iterator[Sequence[int]]:
    for first in range(0, len(numbers), size):
        yield numbers[first : first + size]


def main(backend: str, place: str, contents: Path, size: int = SIZE) -> None:
    """Fill a new store and write down what is in it."""
    is_postgres = backend == "postgres"
    asyncio.run(fill(place, is_postgres=is_postgres, size=size))
    told = asyncio.run(read(place, is_postgres=is_postgres))
    contents.write_text(json.dumps(told, ensure_ascii=False, indent=0, sort_keys=True), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), *map(int, sys.argv[4:]))
