"""``>>`` takes from the requirements what the left side gives; a runtime takes only what has none left."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Never, assert_type

from chatmemory.effect import Layer, ManagedRuntime, Outcome, Tag
from tests.typing.do_notation import count
from tests.typing.world import (
    Chat,
    ChatTag,
    PrefixTag,
    ReadError,
    Store,
    StoreBroken,
    StoreTag,
    app_layer,
    broken_store_layer,
    chat_layer,
    prefix_layer,
    store_layer,
)

assert_type(chat_layer, Layer[ChatTag, Never, StoreTag | PrefixTag])
assert_type(store_layer | prefix_layer, Layer[StoreTag | PrefixTag])
assert_type(app_layer, Layer[ChatTag])
assert_type(store_layer >> chat_layer, Layer[ChatTag, Never, PrefixTag])
assert_type(store_layer >> (prefix_layer >> chat_layer), Layer[ChatTag])
assert_type((broken_store_layer | prefix_layer) >> chat_layer, Layer[ChatTag, StoreBroken])
assert_type((store_layer | prefix_layer).feed_keep(chat_layer), Layer[StoreTag | PrefixTag | ChatTag])

Layer.succeed(StoreTag, "not a store")  # type: ignore[misc]  # it has no rows
Layer.scoped(ChatTag, lambda: None)  # type: ignore[call-overload]  # it opens nothing

half = store_layer >> chat_layer
ManagedRuntime(half)  # type: ignore[arg-type]  # PrefixTag is required
ManagedRuntime(chat_layer)  # type: ignore[arg-type]  # StoreTag and PrefixTag are required


class ModelTag(Tag[float]): ...


@asynccontextmanager
async def open_model(store: Store, prefix: str, chat: Chat) -> AsyncGenerator[float]:
    yield 0.5


model_layer = Layer.scoped(ModelTag, open_model, StoreTag, PrefixTag, ChatTag)
assert_type(store_layer >> model_layer, Layer[ModelTag, Never, PrefixTag | ChatTag])
assert_type(store_layer.feed_keep(model_layer), Layer[StoreTag | ModelTag, Never, PrefixTag | ChatTag])
assert_type(app_layer >> (prefix_layer >> (store_layer >> model_layer)), Layer[ModelTag])
assert_type((prefix_layer | app_layer) >> (store_layer >> model_layer), Layer[ModelTag])


async def run() -> None:
    async with ManagedRuntime(app_layer) as runtime:
        assert_type(runtime, ManagedRuntime[ChatTag])
        assert_type(await runtime.run(count("c1")), Outcome[int, ReadError])
        assert_type(await runtime.service(ChatTag), Chat)
        await runtime.service(StoreTag)  # type: ignore[arg-type]  # the app gives ChatTag only
        await runtime.run(StoreTag.use(lambda store: store.rows("c1")))  # type: ignore[arg-type]  # StoreTag is not given


def more_serves_where_less_is_asked_for(both: ManagedRuntime[ChatTag | StoreTag]) -> ManagedRuntime[ChatTag]:
    return both


def less_does_not_serve_for_more(one: ManagedRuntime[ChatTag]) -> ManagedRuntime[ChatTag | StoreTag]:
    return one  # type: ignore[return-value]  # StoreTag is not given


def a_service_of_the_same_shape_is_another_service(other: Store) -> None:
    class OtherStoreTag(Tag[Store]): ...

    fed = Layer.succeed(OtherStoreTag, other) >> (prefix_layer >> chat_layer)
    ManagedRuntime(fed)  # type: ignore[arg-type]  # StoreTag is required
