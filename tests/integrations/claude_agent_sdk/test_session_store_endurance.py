"""What the session store of the Claude Agent SDK survives."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

pytest.importorskip("claude_agent_sdk", reason="pip install 'chatmemory-effect[claude-agent-sdk]'")

from claude_agent_sdk import ClaudeSDKError, SessionKey

from chatmemory.integrations.claude_agent_sdk import ChatMemorySessionStore
from tests.integrations.adapter_endurance import AdapterEndurance, Runtime

PARTS = "甲乙丙"


def key_of(name: str) -> SessionKey:
    return {"project_key": "项目", "session_id": name}


class TestEndurance(AdapterEndurance):
    """A batch is three entries."""

    failure: ClassVar[type[Exception]] = ClaudeSDKError

    def adapter(self, runtime: Runtime) -> ChatMemorySessionStore:
        return ChatMemorySessionStore(runtime)

    async def write(self, adapter: ChatMemorySessionStore, name: str, number: int) -> None:
        entries: Any = [{"type": "user", "uuid": f"{number} {part}", "n": number} for part in PARTS]
        await adapter.append(key_of(name), entries)

    async def numbers(self, adapter: ChatMemorySessionStore, name: str) -> list[int]:
        entries: Any = await adapter.load(key_of(name)) or []
        numbers = [entry["n"] for entry in entries]
        assert numbers[::3] == numbers[1::3] == numbers[2::3], "no batch is torn"
        return numbers[::3]
