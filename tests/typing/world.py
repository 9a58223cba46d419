"""The services, errors and layers that the programs beside this one use.  It has no type error."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Literal, Protocol, TypeAlias, final

from attrs import frozen

from chatmemory.effect import Effect, Layer, Tag


@final
@frozen
class NotFound:
    conversation_id: str
    tag: Literal["NotFound"] = "NotFound"


@final
@frozen
class StoreBroken:
    retry_is_safe: bool = True
    tag: Literal["StoreBroken"] = "StoreBroken"


@final
@frozen
class TooSlow:
    tag: Literal["TooSlow"] = "TooSlow"


ReadError: TypeAlias = NotFound | StoreBroken


class Store(Protocol):
    def rows(self, conversation_id: str) -> Effect[list[str], StoreBroken]: ...


class Chat(Protocol):
    def messages(self, conversation_id: str, *, limit: int | None = None) -> Effect[list[str], ReadError]: ...


class StoreTag(Tag[Store]): ...


class ChatTag(Tag[Chat]): ...


class PrefixTag(Tag[str]): ...


@frozen
class DictStore:
    conversations: dict[str, list[str]]

    def rows(self, conversation_id: str) -> Effect[list[str], StoreBroken]:
        return Effect.succeed(self.conversations.get(conversation_id, []))


@frozen
class ChatLive:
    store: Store
    prefix: str

    def messages(self, conversation_id: str, *, limit: int | None = None) -> Effect[list[str], ReadError]:
        def number(rows: list[str]) -> Effect[list[str], NotFound]:
            found = [f"{self.prefix}{row}" for row in rows[:limit]]
            return Effect.succeed(found) if found else Effect.fail(NotFound(conversation_id))

        return self.store.rows(conversation_id).bind(number)


@asynccontextmanager
async def open_chat(store: Store, prefix: str) -> AsyncGenerator[Chat]:
    yield ChatLive(store, prefix)


store_layer = Layer.succeed(StoreTag, DictStore({"c1": ["hello"]}))
broken_store_layer = Layer.effect(StoreTag, Effect.fail(StoreBroken()))
prefix_layer = Layer.succeed(PrefixTag, "> ")
chat_layer = Layer.scoped(ChatTag, open_chat, StoreTag, PrefixTag)
app_layer = (store_layer | prefix_layer) >> chat_layer
