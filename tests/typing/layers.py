"""Layers, and the runtimes on them: what is required, given and replaced is known, and nothing is left unwired."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Never, assert_type

from chatmemory.effect import (
    ClockTag,
    Effect,
    Layer,
    ManagedRuntime,
    Outcome,
    Runner,
    Tag,
    TestClock,
    ThreadRuntime,
)
from tests.typing.do_notation import count
from tests.typing.world import (
    Chat,
    ChatTag,
    PrefixTag,
    ReadError,
    Store,
    StoreBroken,
    StoreTag,
    TooSlow,
    app_layer,
    broken_store_layer,
    chat_layer,
    prefix_layer,
    store_layer,
)

# ``>>`` takes from the requirements what the left side gives.
assert_type(chat_layer, Layer[ChatTag, Never, StoreTag | PrefixTag])
assert_type(store_layer | prefix_layer, Layer[StoreTag | PrefixTag])
assert_type(app_layer, Layer[ChatTag])
assert_type(store_layer >> chat_layer, Layer[ChatTag, Never, PrefixTag])
assert_type((broken_store_layer | prefix_layer) >> chat_layer, Layer[ChatTag, StoreBroken])
Layer.succeed(StoreTag, "not a store")  # type: ignore[misc]  # it has no rows
Layer.scoped(ChatTag, lambda: None)  # type: ignore[call-overload]  # it opens nothing


class ModelTag(Tag[float]): ...


@asynccontextmanager
async def open_model(store: Store, prefix: str, chat: Chat) -> AsyncGenerator[float]:
    yield 0.5


model_layer = Layer.scoped(ModelTag, open_model, StoreTag, PrefixTag, ChatTag)
assert_type(store_layer >> model_layer, Layer[ModelTag, Never, PrefixTag | ChatTag])
assert_type(store_layer.feed_keep(model_layer), Layer[StoreTag | ModelTag, Never, PrefixTag | ChatTag])
assert_type((prefix_layer | app_layer) >> (store_layer >> model_layer), Layer[ModelTag])

# A runtime takes only what requires nothing more.
half = store_layer >> chat_layer
ManagedRuntime(half)  # type: ignore[arg-type]  # PrefixTag is required
ThreadRuntime(chat_layer)  # type: ignore[arg-type]  # StoreTag and PrefixTag are required
ROWS = StoreTag.use(lambda store: store.rows("c1"))


async def run() -> None:
    async with ManagedRuntime(app_layer) as runtime:
        assert_type(runtime, ManagedRuntime[ChatTag])
        assert_type(await runtime.run(count("c1")), Outcome[int, ReadError])
        assert_type(await runtime.service(ChatTag), Chat)
        await runtime.service(StoreTag)  # type: ignore[arg-type]  # the app gives ChatTag only
        await runtime.run(ROWS)  # type: ignore[arg-type]  # StoreTag is not given
        await adapt(runtime)
    with ThreadRuntime(app_layer) as threaded:
        assert_type(threaded, ThreadRuntime[ChatTag])
        assert_type(threaded.run_blocking(count("c1")), Outcome[int, ReadError])
        threaded.run_blocking(ROWS)  # type: ignore[arg-type]  # StoreTag is not given
        await adapt(threaded)


async def adapt(runner: Runner[ChatTag]) -> None:
    """An adapter asks for a runner: both runtimes are one, of the services that they have."""
    assert_type(await runner.run(count("c1")), Outcome[int, ReadError])
    await runner.run(ROWS)  # type: ignore[arg-type]  # StoreTag is not given


async def more_serves_where_less_is_asked_for(
    rich: ThreadRuntime[ChatTag | StoreTag], poor: ThreadRuntime[StoreTag]
) -> None:
    await adapt(rich)
    await adapt(poor)  # type: ignore[arg-type]  # ChatTag is not given


def so_it_is_of_a_managed_one(both: ManagedRuntime[ChatTag | StoreTag]) -> ManagedRuntime[ChatTag]:
    return both


def less_does_not_serve_for_more(one: ManagedRuntime[ChatTag]) -> ManagedRuntime[ChatTag | StoreTag]:
    return one  # type: ignore[return-value]  # StoreTag is not given


def a_service_of_the_same_shape_is_another_service(other: Store) -> None:
    class OtherStoreTag(Tag[Store]): ...

    fed = Layer.succeed(OtherStoreTag, other) >> (prefix_layer >> chat_layer)
    ManagedRuntime(fed)  # type: ignore[arg-type]  # StoreTag is required


# ``replace`` takes layers that give nothing but what the stack gives, and leaves what they lack to be fed.
stack = (store_layer | prefix_layer).feed_keep(chat_layer)
assert_type(stack, Layer[StoreTag | PrefixTag | ChatTag])

mocked = Layer.mock(StoreTag, rows=store_layer)
quoting = Layer.succeed(PrefixTag, '"')
around = Layer.effect(StoreTag, StoreTag.get(), needs=[StoreTag])
prefixed = Layer.effect(PrefixTag, StoreTag.get().map(str), needs=[StoreTag])
slow = Layer.effect(PrefixTag, Effect.fail(TooSlow()))
clock = Layer.succeed(ClockTag, TestClock())

assert_type(stack.replace(mocked, quoting, clock), Layer[StoreTag | PrefixTag | ChatTag])
assert_type(stack.replace(mocked | quoting), Layer[StoreTag | PrefixTag | ChatTag])
assert_type(stack.replace(mocked >> prefixed), Layer[StoreTag | PrefixTag | ChatTag])
assert_type(
    stack.replace(broken_store_layer | slow), Layer[StoreTag | PrefixTag | ChatTag, StoreBroken | TooSlow]
)
assert_type(store_layer.replace(around), Layer[StoreTag])
assert_type(chat_layer.replace(clock), Layer[ChatTag, Never, StoreTag | PrefixTag])

app_layer.replace(quoting)  # type: ignore[arg-type]  # it gives ChatTag only
stack.replace(mocked | Layer.succeed(ClockTag, "noon"))  # type: ignore[misc]  # that is no clock
stack.replace(mocked, "a store")  # type: ignore[call-overload]  # that is not a layer
store_layer.replace(mocked, quoting)  # type: ignore[arg-type]  # it gives StoreTag only


def a_fake_that_needs_what_the_stack_lacks(store: Store) -> None:
    formatted = Layer.effect(StoreTag, PrefixTag.get().map(lambda _: store), needs=[PrefixTag])
    replaced = store_layer.replace(formatted)
    assert_type(replaced, Layer[StoreTag, Never, PrefixTag])
    ManagedRuntime(prefix_layer >> replaced)
    ManagedRuntime(stack.replace(formatted))


async def a_request(
    runtime: ManagedRuntime[StoreTag], chats: Layer[ChatTag, ReadError, StoreTag | PrefixTag]
) -> None:
    async with runtime.child(prefix_layer) as outer:
        assert_type(await outer.run(PrefixTag.get()), Outcome[str, Never])
        async with outer.child(chats) as request:
            await request.run(ChatTag.get())
            await request.run(StoreTag.get())
        await outer.run(ChatTag.get())  # type: ignore[arg-type]  # ChatTag is the inner one's
    runtime.child(chats)  # type: ignore[arg-type]  # PrefixTag is required
    runtime.child(store_layer)
    runtime.child(clock)
