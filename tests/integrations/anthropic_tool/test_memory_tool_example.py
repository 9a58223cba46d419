"""Agents of the SDK with the memory tool: the example, the section of the page on frameworks, and both of the SDK's runners."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("anthropic", reason="pip install 'chatmemory-effect[anthropic]'")

import httpx2
from anthropic import Anthropic, AsyncAnthropic, DefaultAsyncHttpxClient, DefaultHttpxClient
from anthropic.types.beta import BetaMessageParam

from chatmemory import Namespace, ThreadRuntime
from chatmemory.integrations.anthropic import BlockingChatMemoryTool, ChatMemoryTool
from chatmemory_layers.stacks import Stack, embedded

ROOT = Path(__file__).parents[3]
MEI = Namespace("梅")
QUESTION: list[BetaMessageParam] = [{"role": "user", "content": "记住：我对花生过敏。"}]


def ran(*arguments: str, folder: Path) -> str:
    """Return what a program printed, which has to end well and warn of nothing."""
    command = [sys.executable, "-W", "error", *arguments]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, encoding="utf-8", timeout=300, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_the_second_session_recalls_the_first(tmp_path: Path) -> None:
    said = ran(str(ROOT / "examples/anthropic_agent.py"), "a.db", folder=tmp_path).splitlines()
    assert said[:2] == ["好的，我记住了。", "Without nuts, then. My notes:"]
    assert "     1\t- 对花生过敏" in said


class Claude:
    """Calls the memory tool as it is told, then says what it was answered; *read* are the results of its calls."""

    def __init__(self, calls: Sequence[dict[str, Any]]) -> None:
        self.calls = calls
        self.tools: Any = None
        self.read: list[dict[str, Any]] = []

    def answer(self, request: httpx2.Request) -> httpx2.Response:
        asked = json.loads(request.content)
        self.tools = asked.get("tools", self.tools)
        said = asked["messages"][-1]["content"]
        if isinstance(said, list):
            self.read = said
            content: list[dict[str, Any]] = [{"type": "text", "text": "好的"}]
        else:
            content = [
                {"type": "tool_use", "id": f"toolu_{number}", "name": "memory", "input": call}
                for number, call in enumerate(self.calls)
            ]
        message = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude",
            "content": content,
            "stop_reason": "end_turn" if self.read else "tool_use",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        return httpx2.Response(200, json=message)

    @property
    def results(self) -> list[tuple[str, bool]]:
        """What each call was answered, and whether as an error."""
        return [(result["content"], result.get("is_error", False)) for result in self.read]


CALLS = [
    {"command": "create", "path": "/memories/过敏.md", "file_text": "花生"},
    {"command": "create", "path": "/memories/过敏.md", "file_text": "牛奶"},
    {"command": "view", "path": "/memories/过敏.md"},
    {"command": "view", "path": "/memories/../etc"},
    {"command": "fly", "path": "/memories"},
]
ANSWERS = [
    ("File created successfully at: /memories/过敏.md", False),
    ("File /memories/过敏.md already exists", True),
    ("Here's the content of /memories/过敏.md with line numbers:\n     1\t花生", False),
    ("Path /memories/../etc would escape /memories directory", True),
]


async def test_the_awaited_runner_of_the_sdk_hands_the_model_our_answers(every_stack: Stack) -> None:
    claude = Claude(CALLS)
    transport = httpx2.MockTransport(claude.answer)
    client = AsyncAnthropic(api_key="none", http_client=DefaultAsyncHttpxClient(transport=transport))
    async with ThreadRuntime(every_stack) as runtime, client:
        tool = ChatMemoryTool(MEI, runtime)
        runner = client.beta.messages.tool_runner(
            model="claude", max_tokens=99, messages=QUESTION, tools=[tool]
        )
        await runner.until_done()
    assert claude.tools == [{"type": "memory_20250818", "name": "memory"}]
    assert claude.results[:4] == ANSWERS
    assert claude.results[4][1], "a command that nobody knows is an error as well"


def test_the_blocking_runner_of_the_sdk_hands_the_model_our_answers(tmp_path: Path) -> None:
    claude = Claude(CALLS)
    transport = httpx2.MockTransport(claude.answer)
    with (
        ThreadRuntime(embedded(tmp_path / "a.db", durability="process")) as runtime,
        Anthropic(api_key="none", http_client=DefaultHttpxClient(transport=transport)) as client,
    ):
        tool = BlockingChatMemoryTool(MEI, runtime)
        client.beta.messages.tool_runner(
            model="claude", max_tokens=99, messages=QUESTION, tools=[tool]
        ).until_done()
    assert claude.results[:4] == ANSWERS
