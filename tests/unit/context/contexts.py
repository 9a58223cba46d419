"""A builder of contexts over a conversation and memories that a test gives; the same fences and ids every time."""

from random import Random
from typing import Any

from chatmemory import ChatContext, ChatMemory, ChatMessage, Instructions, NewMessage
from chatmemory.context.chat_context_live import ChatContextLive
from chatmemory.conversation.token_counter import EstimatedTokens
from chatmemory.effect.services.ids import SequentialIds
from chatmemory.settings.memory_settings import ContextSettings
from tests.remembered import USER, Remembered, memory_of

BASE = "You are a helpful assistant."
SCENE = Instructions(
    system=BASE, scenario="在 Excel 中工作。", skills=("会写公式", "会画图"), profile="用户：小明"
)
MEMORIES = (memory_of("喜欢蓝色表头"), memory_of("Lives in Beijing"), memory_of("每周五做周报"))


class CharacterTokens:
    """A token for each character and each character of the metadata: budgets that can be foreseen."""

    def count(self, message: NewMessage | ChatMessage, /) -> int:
        return len(message.content) + len(str(message.metadata or ""))


def said(*words: str) -> list[NewMessage]:
    return [
        NewMessage("user" if index % 2 == 0 else "assistant", word, id=word)
        for index, word in enumerate(words)
    ]


def builder(conversations: ChatMemory, remembered: Remembered, **settings: Any) -> ChatContextLive:
    return ChatContextLive(
        conversations,
        remembered,
        CharacterTokens() if "tokens" in settings else EstimatedTokens(),
        ContextSettings(**settings),
        SequentialIds(),
        Random(1),
    )


async def built(service: ChatContextLive, message: str = "画一张图", **options: Any) -> ChatContext:
    return await service.build(USER, "c", message, **options).or_raise()


def roles(context: ChatContext) -> list[str]:
    return [message.role for message in context.messages]
