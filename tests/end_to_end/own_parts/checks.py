"""What the stranger checks: the laws on the backend, and a program on all parts together."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest

from chatmemory import ChatMemory, ChatMemoryService, ManagedRuntime, NewMessage, StrategySettings, wire
from chatmemory.conversation.chat_memory import chat_memory
from chatmemory.conversation.token_count import token_counter
from chatmemory.effect import Layer
from chatmemory.laws import MessageRepositoryLaws
from chatmemory.settings import StrategySettingsTag
from own_parts.folder_repository import in_folder
from own_parts.parts import clock, skills, strategy


class TestFolderRepository(MessageRepositoryLaws):
    examples = 20

    @pytest.fixture(autouse=True)
    def in_a_folder(self, tmp_path: Path) -> None:
        self.repository = in_folder(tmp_path)


def test_the_parts_work_together_and_after_a_restart(tmp_path: Path) -> None:
    settings = Layer.succeed(StrategySettingsTag, StrategySettings())
    stack = wire(chat_memory, token_counter, settings, in_folder(tmp_path), strategy, skills, clock)

    async def view(memory: ChatMemory) -> list[str]:
        messages = await memory.get_messages("会议").or_raise()
        return [message.content for message in messages]

    async def before_the_restart() -> list[str]:
        async with ManagedRuntime(stack) as runtime:
            memory = await runtime.service(ChatMemoryService)
            for words in ("你好 小王", "hello there", "上海 下周三", "noted", "再见"):
                report = await memory.add_messages("会议", [NewMessage("user", words)]).or_raise()
            assert report.history.status == "done"
            (first, *_) = await memory.get_messages("会议", view="full").or_raise()
            assert datetime(2026, 5, 4, tzinfo=UTC) < first.timestamp < datetime(2026, 5, 5, tzinfo=UTC)
            return await view(memory)

    async def after_the_restart() -> list[str]:
        async with ManagedRuntime(stack) as runtime:
            return await view(await runtime.service(ChatMemoryService))

    seen = asyncio.run(before_the_restart())
    assert seen == ["headlines: 你好, hello, 上海", "noted", "再见"]
    assert asyncio.run(after_the_restart()) == seen
