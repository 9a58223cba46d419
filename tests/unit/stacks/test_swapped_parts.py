"""Any part of a ready-made stack is swapped in one line, by its tag: its users get the fake, and it writes nothing itself."""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from chatmemory import (
    ChatContextService,
    ChatMemoryService,
    EmbedderTag,
    Extraction,
    HistoryReport,
    HistoryStrategyTag,
    Layer,
    LongTermMemoryService,
    ManagedRuntime,
    MemoryExtractorTag,
    MemoryRepositoryTag,
    MessageRepositoryTag,
    Namespace,
    NewMessage,
    RecallRankerTag,
    SkillRunnerTag,
    StrategySettings,
    TokenCounterTag,
    wire,
)
from chatmemory.conversation.message_repository import WorkThreshold
from chatmemory.effect import ClockTag, ShadowedServiceError
from chatmemory.effect.layers.mock import UnimplementedError
from chatmemory.items.item_repository import ItemRepositoryTag
from chatmemory.testing import Spy, Stub, TableEmbedder, TestClock, passes, raises
from chatmemory_layers import stacks
from chatmemory_layers.in_memory.item_repository import item_repository
from chatmemory_layers.in_memory.memory_repository import memory_repository
from chatmemory_layers.in_memory.message_repository import message_repository

SOON = StrategySettings(type="summarize", summarize_every_n=3, keep_last=1)
MEI = Namespace("梅")
REPOSITORIES = message_repository | memory_repository | item_repository


@frozen
class Swap:
    """What stands in for a part.

    Attributes:
        fake: the service.
        calls: what has been asked of it.
        written: finds in the file what only the real part could have written.
    """

    fake: Any
    calls: list[Any]
    written: str


def stub(tag: Any, written: str, **scripts: Any) -> Swap:
    made: Any = Stub(tag, **scripts)
    return Swap(made.service, made.calls, written)


def embedder() -> Swap:
    table = TableEmbedder(unknown="hashed")
    return Swap(table, table.asked, "SELECT model FROM memory_space WHERE model <> 'table'")


MESSAGES = "SELECT content FROM chat_message"
MEMORIES = "SELECT content FROM atomic_memory"
SUMMARIES = "SELECT content FROM chat_message WHERE role = 'summary' AND content <> 'said'"

SWAPS: dict[Any, Callable[[], Swap]] = {
    ChatMemoryService: lambda: stub(ChatMemoryService, MESSAGES),
    LongTermMemoryService: lambda: stub(LongTermMemoryService, MEMORIES),
    ChatContextService: lambda: stub(ChatContextService, "SELECT session_id FROM memory_use"),
    MessageRepositoryTag: lambda: stub(MessageRepositoryTag, MESSAGES, claim_work=lambda *_, **__: None),
    MemoryRepositoryTag: lambda: stub(MemoryRepositoryTag, MEMORIES),
    ItemRepositoryTag: lambda: stub(ItemRepositoryTag, "SELECT key FROM item"),
    HistoryStrategyTag: lambda: stub(
        HistoryStrategyTag,
        SUMMARIES,
        threshold=WorkThreshold(),
        after_add=lambda _: HistoryReport("idle"),
    ),
    SkillRunnerTag: lambda: stub(SkillRunnerTag, SUMMARIES, run=lambda *_: "said"),
    EmbedderTag: embedder,
    MemoryExtractorTag: lambda: stub(
        MemoryExtractorTag,
        "SELECT content FROM atomic_memory WHERE content LIKE '%tea%'",
        extract=lambda *_, **__: Extraction((), "nobody"),
    ),
    RecallRankerTag: lambda: stub(RecallRankerTag, "SELECT session_id FROM memory_use"),
    TokenCounterTag: lambda: stub(
        TokenCounterTag, "SELECT tokens FROM chat_message WHERE tokens <> 7", count=lambda _: 7
    ),
}


async def use_every_part(runtime: ManagedRuntime[stacks.MemoryTags]) -> list[UnimplementedError]:
    """Do a bit of everything, and return how a stub without a script was asked in vain."""
    in_vain: list[UnimplementedError] = []
    chat = await runtime.service(ChatMemoryService)
    memory = await runtime.service(LongTermMemoryService)
    contexts = await runtime.service(ChatContextService)
    items = await runtime.service(ItemRepositoryTag)
    now = TestClock().now()
    steps: list[Callable[[], Awaitable[object]]] = [
        lambda: chat.add_messages("茶", [NewMessage("user", text, text) for text in ("一", "二", "三")]),
        lambda: chat.get_messages("茶"),
        lambda: memory.auto_save(MEI, "I love green tea. My name is Mei."),
        lambda: memory.put_value(MEI, "drink", "茶"),
        lambda: memory.recall(MEI, "茶"),
        lambda: contexts.build(MEI, "茶", "green tea?"),
        lambda: items.namespaces((), now=now),
    ]
    for step in steps:
        try:
            await step()
        except UnimplementedError as error:
            in_vain.append(error)
    return in_vain


def found(path: Path, statement: str) -> list[Any]:
    with closing(sqlite3.connect(path)) as file:
        return file.execute(statement).fetchall()


@pytest.mark.parametrize("tag", SWAPS)
@pytest.mark.parametrize("where", ["embedded", "testing"])
async def test_each_part_is_swapped_in_one_line(tag: Any, where: str, tmp_path: Path) -> None:
    path, swap = tmp_path / "prod.db", SWAPS[tag]()
    stack = stacks.embedded(path, strategy=SOON) if where == "embedded" else stacks.testing(strategy=SOON)
    async with ManagedRuntime(stack.replace(Layer.succeed(tag, swap.fake))) as runtime:
        assert await runtime.service(tag) is swap.fake
        in_vain = await use_every_part(runtime)
    assert swap.calls or in_vain
    assert where == "testing" or found(path, swap.written) == []


WRITING = [tag for tag in SWAPS if tag is not RecallRankerTag and tag is not ItemRepositoryTag]


@pytest.mark.parametrize("tag", WRITING)
async def test_the_real_part_would_have_written(tag: Any, tmp_path: Path) -> None:
    path = tmp_path / "prod.db"
    async with ManagedRuntime(stacks.embedded(path, strategy=SOON)) as runtime:
        await use_every_part(runtime)
    assert found(path, SWAPS[tag]().written)


async def said(stack: stacks.Stack) -> None:
    async with ManagedRuntime(stack) as runtime:
        chat = await runtime.service(ChatMemoryService)
        await chat.add_messages("茶", [NewMessage("user", "secret of a test")]).or_raise()


async def test_wire_overrides_a_repository_that_is_deep_in_a_stack(tmp_path: Path) -> None:
    path = tmp_path / "prod.db"
    await said(wire(stacks.embedded(path), override=[message_repository]))
    assert found(path, MESSAGES) == []


async def test_a_repository_merged_beside_a_stack_is_refused_and_nothing_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "prod.db"
    with pytest.raises(ShadowedServiceError, match=r"stack\.replace\(fake\), not stack \| fake"):
        await said(stacks.embedded(path) | message_repository)
    assert not path.exists()


async def test_a_repository_fed_to_a_stack_is_refused_and_nothing_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "prod.db"
    with pytest.raises(ShadowedServiceError, match=r"stack\.replace\(fake\), not fake >> stack"):
        await said(message_repository.feed_keep(stacks.embedded(path)))
    assert not path.exists()


@pytest.mark.parametrize(
    "swapped",
    [
        lambda path: stacks.embedded(path).replace(REPOSITORIES),
        lambda path: stacks.embedded(path, repositories=REPOSITORIES),
        lambda path: stacks.embedded(path, repositories=message_repository).replace(
            memory_repository, item_repository
        ),
        lambda path: wire(
            stacks.embedded(path), override=[message_repository, memory_repository, item_repository]
        ),
        lambda path: stacks.from_configuration(
            environment={"CHATMEMORY_MEMORY_STORE_SQLITE_PATH": str(path)}, repositories=REPOSITORIES
        ),
        lambda path: stacks.from_configuration(
            environment={"CHATMEMORY_MEMORY_STORE_SQLITE_PATH": str(path)}
        ).replace(REPOSITORIES),
    ],
    ids=["replace", "repositories", "both", "wire", "configuration", "configuration, replace"],
)
async def test_a_store_that_feeds_no_repository_is_not_opened(
    swapped: Callable[[Path], stacks.Stack], tmp_path: Path
) -> None:
    await said(swapped(tmp_path / "prod.db"))
    assert not (tmp_path / "prod.db").exists()


async def test_a_store_that_is_not_there_hinders_nobody_who_swaps_it() -> None:
    await said(stacks.postgres("postgresql://nobody@127.0.0.1:1/nothing", repositories=REPOSITORIES))


async def test_a_clock_is_swapped_where_a_stack_has_one_and_where_it_has_none(tmp_path: Path) -> None:
    clock = TestClock()
    for stack in (stacks.testing(), stacks.embedded(tmp_path / "a.db")):
        async with ManagedRuntime(stack.replace(Layer.succeed(ClockTag, clock))) as runtime:
            chat = await runtime.service(ChatMemoryService)
            await chat.add_messages("茶", [NewMessage("user", "now")]).or_raise()
            (message,) = await chat.get_messages("茶").or_raise()
            assert message.timestamp == clock.now()


async def test_a_spy_goes_around_the_real_part_which_writes_as_ever(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    messages = Spy(MessageRepositoryTag)
    await said(stacks.embedded(path).replace(messages.layer))
    await said(stacks.embedded(path, repositories=messages.layer))
    assert [call.method for call in messages.calls].count("append") == 2
    assert found(path, MESSAGES) == [("secret of a test",)] * 2


async def test_an_embedder_behind_a_spy_keeps_its_guard(tmp_path: Path) -> None:
    spy = Spy(EmbedderTag, embed=[raises(OSError("no")), passes])
    async with ManagedRuntime(stacks.embedded(tmp_path / "a.db").replace(spy.layer)) as runtime:
        memory = await runtime.service(LongTermMemoryService)
        for words in ("Mei loves tea.", "Mei has a cat."):
            await memory.put_value(MEI, words, words).or_raise()
    assert [call.method for call in spy.calls].count("embed") == 1  # after that the guard lets it rest
