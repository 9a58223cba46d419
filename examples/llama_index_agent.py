"""Two sessions with an agent of LlamaIndex: what is said in the first is known in the second, after a restart.

The model is a script, so that it runs offline: it answers with the first memory that it is shown.
"""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.memory import Memory

from chatmemory import ManagedRuntime, Namespace
from chatmemory.integrations.llama_index import ChatMemoryBlock
from chatmemory_layers import stacks


def answer(messages: Sequence[ChatMessage], **_: object) -> ChatMessage:
    """Say what was remembered, or nothing much."""
    shown = "\n".join(message.content or "" for message in messages)
    remembered = [json.loads(line) for line in shown.splitlines() if line.startswith('{"memory"')]
    said = f"You said: {remembered[0]['content']}" if remembered else "Nice."
    return ChatMessage(role="assistant", content=said)


async def session(store: Path, session_id: str, said: str) -> None:
    """Open the store, say one thing, close it."""
    async with ManagedRuntime(stacks.embedded(store)) as runtime:
        block = ChatMemoryBlock(namespace=Namespace("mei"), runtime=runtime)
        memory = Memory.from_defaults(session_id=session_id, memory_blocks=[block])
        agent = FunctionAgent(llm=MockFunctionCallingLLM(response_generator=answer), streaming=False)
        print(f"{session_id}: {said}\n  -> {await agent.run(said, memory=memory)}")


async def main() -> None:
    """Meet twice."""
    with TemporaryDirectory() as folder:
        store = Path(folder, "agent.db")
        await session(store, "monday", "Hi, I'm Mei. I live in Hangzhou.")
        await session(store, "tuesday", "Which city do I live in?")


if __name__ == "__main__":
    asyncio.run(main())
