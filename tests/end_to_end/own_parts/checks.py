"""What the stranger checks: the laws on the backend, and a program on all parts together."""

import asyncio
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from chatmemory import (
    ChatMemory,
    ChatMemoryService,
    LongTermMemoryService,
    ManagedRuntime,
    Namespace,
    NewMessage,
    Settings,
    StrategySettings,
)
from chatmemory.conversation.chat_memory_live import chat_memory
from chatmemory.conversation.token_counter import token_counter
from chatmemory.effect import Layer
from chatmemory.embedding.embedding_guard import guarded
from chatmemory.embedding.space import EmbeddingSpace
from chatmemory.laws import MessageRepositoryLaws
from chatmemory.longterm.long_term_memory_live import long_term_memory
from chatmemory.settings.memory_settings import SqliteSettings, SqliteSettingsTag, StrategySettingsTag
from chatmemory_layers import stacks
from chatmemory_layers.configuration import settings_given
from chatmemory_layers.sqlite.engine.database import database
from chatmemory_layers.sqlite.memories.memory_repository import memory_repository
from own_parts.folder_repository import in_folder
from own_parts.memory_parts import TheLatestFirst, embedder, extractor, ranker
from own_parts.parts import OfficeClock, clock, skills, strategy


class TestFolderRepository(MessageRepositoryLaws):
    examples = 1
    rounds = 4
    keeps_log = False

    @pytest.fixture(autouse=True)
    def in_a_folder(self, tmp_path: Path) -> None:
        self.repository = in_folder(tmp_path)


def test_the_parts_work_together_and_after_a_restart(tmp_path: Path) -> None:
    settings = Layer.succeed(StrategySettingsTag, StrategySettings())
    parts = settings | token_counter | in_folder(tmp_path) | skills | clock
    stack = parts.feed_keep(strategy) >> chat_memory

    async def after_the_restart() -> list[str]:
        async with ManagedRuntime(stack) as runtime:
            memory = await runtime.service(ChatMemoryService)
            (first, *_) = await memory.get_messages("会议", view="full").or_raise()
            assert datetime(2026, 5, 4, tzinfo=UTC) < first.timestamp < datetime(2026, 5, 5, tzinfo=UTC)
            return await view(memory)

    seen = asyncio.run(said(stack))
    assert seen == ["headlines: 你好, hello, 上海", "noted", "再见"]
    assert asyncio.run(after_the_restart()) == seen


def test_memories_are_found_embedded_and_ranked_by_parts_of_ones_own(tmp_path: Path) -> None:
    given = settings_given(Settings())
    file = Layer.succeed(SqliteSettingsTag, SqliteSettings(path=str(tmp_path / "memories.db")))
    repository = (file >> database) >> memory_repository
    parts = repository | clock | given.feed_keep(embedder >> guarded)
    stack = parts.feed_keep(extractor | ranker) >> long_term_memory
    mei = Namespace("梅")

    async def before_the_restart() -> list[str]:
        async with ManagedRuntime(stack) as runtime:
            memory = await runtime.service(LongTermMemoryService)
            for words in ("你好\nnote: 她住在杭州\n", "note: 她爱喝龙井茶\nbye", "hello, nothing to note"):
                await memory.auto_save(mei, words).or_raise()
            page = await memory.list(mei).or_raise()
            assert {one.embedding for one in page.memories} == {EmbeddingSpace("counted-characters", 64)}
            assert {one.provenance.extractor for one in page.memories} == {"notes"}
            return [one.content for one in page.memories]

    async def after_the_restart() -> tuple[str, list[str]]:
        async with ManagedRuntime(stack) as runtime:
            memory = await runtime.service(LongTermMemoryService)
            recall = await memory.recall(mei, "她住在杭州").or_raise()
            return recall.mode, [hit.memory.content for hit in recall.hits]

    assert asyncio.run(before_the_restart()) == ["她爱喝龙井茶", "她住在杭州"]
    assert asyncio.run(after_the_restart()) == ("hybrid", ["她爱喝龙井茶", "她住在杭州"])


def test_a_backend_of_ones_own_goes_into_or_replaces_that_of_a_ready_stack(tmp_path: Path) -> None:
    for number in range(2):
        folder, file = tmp_path / f"folder{number}", tmp_path / f"agent{number}.db"
        folder.mkdir()
        given = stacks.embedded(file, repositories=in_folder(folder))
        asyncio.run(said(stacks.embedded(file).replace(in_folder(folder)) if number else given))
        assert messages_in(file) == 0
        assert any(folder.iterdir())


def test_a_strategy_a_ranking_and_a_clock_of_ones_own_go_into_a_ready_stack(tmp_path: Path) -> None:
    assert asyncio.run(said(stacks.testing(strategy=strategy, skills=skills)))[0].startswith("headlines: ")

    async def recalled() -> str:
        async with ManagedRuntime(stacks.testing(ranker=TheLatestFirst())) as runtime:
            memory = await runtime.service(LongTermMemoryService)
            await memory.put_value(Namespace("梅"), "drink", "龙井茶").or_raise()
            return (await memory.recall(Namespace("梅"), "龙井茶").or_raise()).reason

    assert asyncio.run(recalled()) == "the latest first"

    async def year() -> int:
        async with ManagedRuntime(stacks.embedded(tmp_path / "agent.db", clock=OfficeClock())) as runtime:
            memory = await runtime.service(ChatMemoryService)
            await memory.add_messages("会议", [NewMessage("user", "你好")]).or_raise()
            return (await memory.get_messages("会议").or_raise())[0].timestamp.year

    assert asyncio.run(year()) == 2026


async def view(memory: ChatMemory) -> list[str]:
    return [message.content for message in await memory.get_messages("会议").or_raise()]


async def said(stack: stacks.Stack) -> list[str]:
    """Say five things to *stack*, and return what a model would see."""
    async with ManagedRuntime(stack) as runtime:
        memory = await runtime.service(ChatMemoryService)
        for words in ("你好 小王", "hello there", "上海 下周三", "noted", "再见"):
            await memory.add_messages("会议", [NewMessage("user", words)]).or_raise()
        return await view(memory)


def messages_in(path: Path) -> int:
    with closing(sqlite3.connect(path)) as file:
        (count,) = file.execute("SELECT count(*) FROM chat_message").fetchone()
    return int(count)
