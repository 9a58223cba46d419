"""Stores for sessions of the OpenAI Agents SDK."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from chatmemory import StrategySettings, ThreadRuntime
from chatmemory.conversation.contract import ChatMemoryService
from chatmemory_layers.stacks import Stack, embedded


@pytest.fixture
def runtime(every_stack: Stack) -> Generator[ThreadRuntime[ChatMemoryService]]:
    with ThreadRuntime(every_stack) as opened:
        yield opened


@pytest.fixture
def summarizing(tmp_path: Path) -> Generator[ThreadRuntime[ChatMemoryService]]:
    """Summarize as soon as six items have gathered, and keep the last two."""
    strategy = StrategySettings(type="summarize", summarize_every_n=6, keep_last=2)
    with ThreadRuntime(embedded(tmp_path / "agent.db", strategy=strategy)) as opened:
        yield opened
