"""A model's reply, shown piece by piece and kept as one message, also when the client hangs up in the middle.

    python examples/streamed_reply.py

The model is scripted; put the stream of any SDK in the place of ``say``.
"""

import asyncio
from collections.abc import AsyncIterator

from chatmemory import ChatMemory, ChatMemoryService, ManagedRuntime, NewMessage, Stream, streamed_reply
from chatmemory_layers import stacks


class ModelError(Exception):
    """The model did not answer."""


async def say(text: str) -> AsyncIterator[str]:
    """Give *text* word by word, as a model does."""
    for word in text.split(" "):
        await asyncio.sleep(0)
        yield word + " "


def reply(memory: ChatMemory, text: str) -> Stream[str, object]:
    """Return what the model says, on its way into the conversation."""
    pieces = Stream.from_async_iterable(lambda: say(text), ModelError, to=str)
    return streamed_reply(memory, "tea", pieces)


async def main() -> None:
    """Ask twice, and hang up once."""
    async with ManagedRuntime(stacks.testing()) as runtime:
        memory = await runtime.service(ChatMemoryService)
        await memory.add_messages("tea", [NewMessage("user", "How long does green tea take?")]).or_raise()
        async with reply(memory, "Two minutes, at 80 degrees.").iterate() as words:
            async for word in words:
                print(word, end="")
        print()

        await memory.add_messages("tea", [NewMessage("user", "And black tea?")]).or_raise()
        async with reply(memory, "Four minutes, and the water boils.").iterate() as words:
            print(await anext(words), await anext(words), "... the client hangs up", sep="")

        for message in await memory.get_messages("tea").or_raise():
            note = f" {message.metadata}" if message.metadata else ""
            print(f"{message.role:>9} | {message.content.strip()}{note}")


if __name__ == "__main__":
    asyncio.run(main())
