"""What is acquired and released joins its errors and services."""

from __future__ import annotations

from typing import Never, assert_type

from chatmemory.effect import Effect, Exit, Layer
from tests.typing.world import DictStore, PrefixTag, Store, StoreBroken, StoreTag, TooSlow

OPEN = Effect.sync(lambda: DictStore({}))


def close(_store: Store, _exit: Exit[object, object]) -> Effect[None]:
    return Effect.succeed(None)


def close_with_a_prefix(_store: Store, _exit: Exit[object, object]) -> Effect[str, Never, PrefixTag]:
    return PrefixTag.get()


def read(store: Store) -> Effect[list[str], StoreBroken]:
    return store.rows("c1")


def kept(slow: Effect[Store, TooSlow, StoreTag]) -> None:
    assert_type(Layer.acquire_release(StoreTag, OPEN, close), Layer[StoreTag])
    assert_type(Layer.acquire_release(StoreTag, OPEN, close_with_a_prefix), Layer[StoreTag, Never, PrefixTag])
    assert_type(
        Layer.acquire_release(StoreTag, slow, close_with_a_prefix, needs=[StoreTag, PrefixTag]),
        Layer[StoreTag, TooSlow, StoreTag | PrefixTag],
    )
    Layer.acquire_release(StoreTag, OPEN, read)  # type: ignore[call-overload]  # a release is given how it ended
