"""Two sessions with an agent of pydantic-ai: what is said in the first is known in the second, after a restart.

The model is a script, so that it runs offline: it answers with the first memory that it is shown.
"""

import asyncio
import json
from pathlib import Path
from tempfile import TemporaryDirectory

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from chatmemory import ManagedRuntime, Namespace
from chatmemory.integrations.pydantic_ai import ChatMemoryHistory, LongTermMemories
from chatmemory_layers import stacks


def answer(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
    """Say what was remembered, or nothing much."""
    shown = "\n".join(str(getattr(part, "content", "")) for part in messages[-1].parts)
    remembered = [json.loads(line) for line in shown.splitlines() if line.startswith('{"memory"')]
    return ModelResponse([TextPart(f"You said: {remembered[0]['content']}" if remembered else "Nice.")])


async def session(store: Path, conversation_id: str, said: str) -> None:
    """Open the store, say one thing, close it."""
    async with ManagedRuntime(stacks.embedded(store)) as runtime:
        history = ChatMemoryHistory(conversation_id, runtime)
        agent = Agent(FunctionModel(answer), capabilities=[LongTermMemories(Namespace("mei"), runtime)])
        result = await agent.run(said, message_history=await history.load())
        await history.append(result.new_messages())
        print(f"{conversation_id}: {said}\n  -> {result.output}")


async def main() -> None:
    """Meet twice."""
    with TemporaryDirectory() as folder:
        store = Path(folder, "agent.db")
        await session(store, "monday", "Hi, I'm Mei. I live in Hangzhou.")
        await session(store, "tuesday", "Which city do I live in?")


if __name__ == "__main__":
    asyncio.run(main())
