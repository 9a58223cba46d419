"""A pytest plugin that lets Agent Framework's own tests of its history providers run on ours.

The framework's names are bound to providers of ours before a test module is imported.
``test_agent_framework_suite.py`` starts it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import agent_framework
from agent_framework import Message, _sessions

from chatmemory import ThreadRuntime
from chatmemory.conversation.contract import ChatMemoryService
from chatmemory.integrations.agent_framework import ChatMemoryHistoryProvider
from chatmemory_layers import stacks

BREAK = os.environ.get(
    "BREAK_PROVIDER", ""
)  # the name of a method that is to do nothing, to see the suite notice it
opened: list[ThreadRuntime[ChatMemoryService]] = []


class Swapped(ChatMemoryHistoryProvider):
    def __init__(self, runtime: ThreadRuntime[ChatMemoryService], *args: Any, **options: Any) -> None:
        opened.append(runtime)
        super().__init__(runtime, *args, **options)


class InMemoryHistoryProvider(Swapped):
    """The framework's own keeps its messages in the state, where some tests look for them: this one shows them there."""

    DEFAULT_SOURCE_ID = "in_memory"

    def __init__(self, source_id: str = DEFAULT_SOURCE_ID, **options: Any) -> None:
        super().__init__(ThreadRuntime(stacks.testing()), source_id, **options)

    async def save_messages(
        self,
        session_id: str | None,
        messages: Sequence[Message],
        *,
        state: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        await super().save_messages(session_id, messages, state=state, **kwargs)
        if state is not None:
            state["messages"] = await self.get_messages(session_id)


class FileHistoryProvider(Swapped):
    def __init__(self, storage_path: str | Path, **options: Any) -> None:
        super().__init__(ThreadRuntime(stacks.embedded(Path(storage_path, "history.db"))), **options)


async def does_nothing(*_: object, **__: object) -> list[object]:
    return []


if BREAK:
    setattr(Swapped, BREAK, does_nothing)
for module in (agent_framework, _sessions):
    module.InMemoryHistoryProvider = InMemoryHistoryProvider
    module.FileHistoryProvider = FileHistoryProvider


def pytest_runtest_teardown() -> None:
    while opened:
        opened.pop().close()
