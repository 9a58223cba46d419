"""One chat of an agent of LlamaIndex over two days: Tuesday's program goes on with what was said on Monday.

Run it with a path to keep the store: `python examples/llama_index_chat.py agent.db`.  The model is a script, so that it
runs offline: it answers with the first thing that it was told.
"""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.memory import ChatMemoryBuffer

from chatmemory import ThreadRuntime
from chatmemory.integrations.llama_index import ChatMemoryChatStore
from chatmemory_layers import stacks


def answer(messages: Sequence[ChatMessage], **_: object) -> ChatMessage:
    """Say what the user said first, as soon as there is an earlier message."""
    said = [message.content for message in messages if message.role is MessageRole.USER]
    told = f"You told me: {said[0]}" if len(said) > 1 else "I will remember that."
    return ChatMessage(told, role=MessageRole.ASSISTANT)


async def day(name: str, path: Path, said: str) -> None:
    """Open the store, say one thing, close it."""
    async with ThreadRuntime(stacks.embedded(path)) as runtime:
        store = ChatMemoryChatStore(runtime=runtime)
        memory = ChatMemoryBuffer.from_defaults(chat_store=store, chat_store_key="mei", token_limit=3000)
        agent = FunctionAgent(llm=MockFunctionCallingLLM(response_generator=answer), streaming=False)
        print(f"{name}: {said}\n  -> {await agent.run(said, memory=memory)}")
        print(f"  {len(await store.aget_messages('mei'))} messages are kept of {await store.aget_keys()}")


async def main(path: Path) -> None:
    """Talk on Monday, and go on with a new agent on Tuesday."""
    await day("monday", path, "我住在杭州，对花生过敏。")
    await day("tuesday", path, "我对什么过敏？")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        asyncio.run(main(Path(sys.argv[1])))
    else:
        with TemporaryDirectory() as folder:
            asyncio.run(main(Path(folder, "agent.db")))
