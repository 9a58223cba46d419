"""An agent on Anthropic's API that keeps notes in files: what it writes on Monday it reads on Tuesday, in another program.

    pip install 'chatmemory-effect[anthropic]'
    python examples/anthropic_agent.py

Claude is scripted, so that no network is needed; with the real one, ``AsyncAnthropic()`` takes the place of ``scripted``.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import httpx2
from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient

from chatmemory import Namespace, ThreadRuntime
from chatmemory.integrations.anthropic import ChatMemoryTool
from chatmemory_layers import stacks

MEI = Namespace("mei", "harbor")

Block: TypeAlias = dict[str, Any]
Step: TypeAlias = Callable[[str], Block]
"""What Claude does next, once it has read the result of its last command."""


async def converse(store: Path, question: str, claude: AsyncAnthropic) -> str:
    """Ask Claude in one session; the program may end before the next."""
    async with ThreadRuntime(stacks.embedded(store)) as runtime, claude:
        runner = claude.beta.messages.tool_runner(
            model="claude-sonnet-5-5",
            max_tokens=1024,
            messages=[{"role": "user", "content": question}],
            tools=[ChatMemoryTool(MEI, runtime)],
        )
        answer = await runner.until_done()
        return "".join([block.text for block in answer.content if block.type == "text"])


def command(name: str, path: str, **fields: str) -> Block:
    """Return a call of the memory tool, as Claude writes it."""
    call = {"command": name, "path": path, **fields}
    return {"type": "tool_use", "id": f"toolu_{name}", "name": "memory", "input": call}


def says(text: str) -> Block:
    """Return an answer to the user."""
    return {"type": "text", "text": text}


def scripted(steps: Sequence[Step]) -> AsyncAnthropic:
    """Return a client whose Claude takes one step after the other."""
    coming: Iterator[Step] = iter(steps)

    def answer(request: httpx2.Request) -> httpx2.Response:
        content = json.loads(request.content)["messages"][-1]["content"]
        read = content if isinstance(content, str) else content[0]["content"]
        block = next(coming)(read)
        message = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-5-5",
            "content": [block],
            "stop_reason": "tool_use" if block["type"] == "tool_use" else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        return httpx2.Response(200, json=message)

    return AsyncAnthropic(
        api_key="scripted", http_client=DefaultAsyncHttpxClient(transport=httpx2.MockTransport(answer))
    )


def newest_path(listing: str) -> str:
    """Return the last path of a listing."""
    return listing.splitlines()[-1].split("\t")[1]


async def main(store: Path) -> None:
    """Two sessions, two programs, one memory."""
    monday: list[Step] = [
        lambda _: command("view", "/memories"),
        lambda _: command("create", "/memories/people/mei.md", file_text="- 对花生过敏\n"),
        lambda _: says("好的，我记住了。"),
    ]
    tuesday: list[Step] = [
        lambda _: command("view", "/memories"),
        lambda listing: command("view", newest_path(listing)),
        lambda notes: says(f"Without nuts, then. My notes:\n{notes}"),
    ]
    print(await converse(store, "我对花生过敏。", scripted(monday)))
    print(await converse(store, "Order me a snack, please.", scripted(tuesday)))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        asyncio.run(main(Path(sys.argv[1])))
    else:
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(main(Path(folder) / "agent.db"))
