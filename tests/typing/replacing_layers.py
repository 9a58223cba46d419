"""``replace`` takes layers that give nothing but what the stack gives, and leaves what they lack to be fed."""

from __future__ import annotations

from typing import Never, assert_type

from chatmemory.effect import ClockTag, Effect, Layer, ManagedRuntime, TestClock
from tests.typing.world import (
    ChatTag,
    PrefixTag,
    Store,
    StoreBroken,
    StoreTag,
    TooSlow,
    broken_store_layer,
    chat_layer,
    prefix_layer,
    store_layer,
)

stack = (store_layer | prefix_layer).feed_keep(chat_layer)
assert_type(stack, Layer[StoreTag | PrefixTag | ChatTag])

mocked = Layer.mock(StoreTag, rows=store_layer)
quoting = Layer.succeed(PrefixTag, '"')
around = Layer.effect(StoreTag, StoreTag.get(), needs=[StoreTag])
prefixed = Layer.effect(PrefixTag, StoreTag.get().map(str), needs=[StoreTag])
slow = Layer.effect(PrefixTag, Effect.fail(TooSlow()))
clock = Layer.succeed(ClockTag, TestClock())

assert_type(stack.replace(mocked), Layer[StoreTag | PrefixTag | ChatTag])
assert_type(stack.replace(mocked, quoting, clock), Layer[StoreTag | PrefixTag | ChatTag])
assert_type(stack.replace(mocked | quoting), Layer[StoreTag | PrefixTag | ChatTag])
assert_type(stack.replace(around), Layer[StoreTag | PrefixTag | ChatTag])
assert_type(stack.replace(prefixed), Layer[StoreTag | PrefixTag | ChatTag])
assert_type(stack.replace(mocked >> prefixed), Layer[StoreTag | PrefixTag | ChatTag])
assert_type(
    stack.replace(broken_store_layer | slow), Layer[StoreTag | PrefixTag | ChatTag, StoreBroken | TooSlow]
)
assert_type(store_layer.replace(around), Layer[StoreTag])
assert_type(chat_layer.replace(clock), Layer[ChatTag, Never, StoreTag | PrefixTag])

only_a_store = store_layer >> (prefix_layer >> chat_layer)
only_a_store.replace(quoting)  # type: ignore[arg-type]  # it gives ChatTag only
store_layer.replace(quoting)  # type: ignore[arg-type]  # it gives StoreTag only
stack.replace(mocked | Layer.succeed(ClockTag, "noon"))  # type: ignore[misc]  # that is no clock
stack.replace(mocked, "a store")  # type: ignore[call-overload]  # that is not a layer
store_layer.replace(mocked, quoting)  # type: ignore[arg-type]  # it gives StoreTag only


def a_fake_that_needs_what_the_stack_lacks(store: Store) -> None:
    formatted = Layer.effect(StoreTag, PrefixTag.get().map(lambda _: store), needs=[PrefixTag])
    replaced = store_layer.replace(formatted)
    assert_type(replaced, Layer[StoreTag, Never, PrefixTag])
    ManagedRuntime(replaced)  # type: ignore[arg-type]  # PrefixTag is required
    ManagedRuntime(prefix_layer >> replaced)
    ManagedRuntime(stack.replace(formatted))
