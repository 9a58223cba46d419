"""Two sessions with an agent of Microsoft's Agent Framework: what is said in the first is known in the second.

    pip install 'chatmemory-effect[agent-framework]'
    python examples/agent_framework_agent.py

The model is a script, so that it runs offline: it answers with the first memory that it is shown.  With a real chat
client nothing else changes.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agent_framework import Agent, BaseChatClient, ChatResponse, FunctionInvocationLayer, Message

from chatmemory import Namespace, ThreadRuntime
from chatmemory.integrations.agent_framework import ChatMemoryContextProvider, ChatMemoryHistoryProvider
from chatmemory_layers import stacks


class Scripted(FunctionInvocationLayer[Any], BaseChatClient[Any]):
    """Says what was remembered, or nothing much."""

    async def _inner_get_response(self, *, messages: Sequence[Message], **_: Any) -> ChatResponse[Any]:
        lines = "\n".join(message.text for message in messages).splitlines()
        remembered = [json.loads(line) for line in lines if line.startswith('{"memory"')]
        answer = f"You said: {remembered[0]['content']}" if remembered else "好的，我记住了。"
        return ChatResponse(messages=[Message("assistant", [answer])])


async def converse(store: Path, session_id: str, *said: str) -> None:
    """Open the store, say something in one session, close it."""
    async with ThreadRuntime(stacks.embedded(store)) as runtime:
        history = ChatMemoryHistoryProvider(runtime)
        memories = ChatMemoryContextProvider(runtime, Namespace("mei"))
        agent = Agent(Scripted(), instructions="You help Mei.", context_providers=[history, memories])
        for text in said:
            await agent.run(text, session=agent.create_session(session_id=session_id))
        print(f"{session_id}:")
        for message in await history.get_messages(session_id):
            print(f"  {message.role}: {message.text}")


async def main(store: Path) -> None:
    """Two sessions, as of two programs, and one memory."""
    await converse(store, "monday", "Hi, I'm Mei. I live in Hangzhou.", "我对花生过敏。")
    await converse(store, "tuesday", "Which city do I live in?", "我对什么过敏？")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        asyncio.run(main(Path(sys.argv[1])))
    else:
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(main(Path(folder) / "agent.db"))
