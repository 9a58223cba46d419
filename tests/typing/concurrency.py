"""Races and streams carry their types; errors and services join on the way."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Never, assert_type

from chatmemory.effect import (
    ClockTag,
    Effect,
    Layer,
    ManagedRuntime,
    Outcome,
    Stream,
    TestClock,
)
from tests.typing.world import (
    ChatTag,
    NotFound,
    PrefixTag,
    ReadError,
    StoreBroken,
    StoreTag,
    TooSlow,
    prefix_layer,
    store_layer,
)

no_number: Effect[int, NotFound] = Effect.fail(NotFound("c1"))
no_text: Effect[str, StoreBroken, StoreTag] = StoreTag.get().bind(lambda _: Effect.fail(StoreBroken()))


def effects_side_by_side() -> None:
    assert_type(no_number.race(no_text), Effect[int | str, NotFound | StoreBroken, StoreTag])
    assert_type(Effect.sleep(1), Effect[None])
    assert_type(no_text.with_span("read", {"messages": 3}), Effect[str, StoreBroken, StoreTag])
    no_text.with_span("read", {"messages": [3]})  # type: ignore[dict-item]  # an attribute is a text or a number


def numbers_up_to(count: int) -> Stream[int, TooSlow]:
    return Stream.from_iterable(range(count))


def streams_join_errors_and_services(read: Stream[list[str], ReadError]) -> None:
    numbers = Stream.from_iterable([1, 2, 3])
    assert_type(numbers, Stream[int])
    assert_type(numbers.map(str).filter(bool).take(2), Stream[str])
    assert_type(read.tap(lambda _: no_text), Stream[list[str], ReadError, StoreTag])
    assert_type(read.on_end(no_text), Stream[list[str], ReadError, StoreTag])
    assert_type(read.on_exit(lambda _: StoreTag.get()), Stream[list[str], ReadError, StoreTag])
    assert_type(Stream.unwrap(no_number.map(numbers_up_to)), Stream[int, NotFound | TooSlow])
    read.on_exit(lambda _: no_number)  # type: ignore[arg-type, return-value]  # a finalizer does not fail


def running_a_stream(read: Stream[list[str], ReadError, StoreTag]) -> None:
    assert_type(read.run_collect(), Effect[list[list[str]], ReadError, StoreTag])


async def iterating(stream: Stream[str, NotFound], read: Stream[str, NotFound, StoreTag]) -> None:
    async with stream.iterate() as values:
        async for value in values:
            assert_type(value, str)
    read.iterate()  # type: ignore[misc]  # StoreTag is required


async def pieces() -> AsyncIterator[str]:
    yield "春"


def sources() -> None:
    assert_type(Stream.from_async_iterable(pieces), Stream[str])
    assert_type(Stream.from_async_iterable(pieces()), Stream[str])
    assert_type(
        Stream.from_async_iterable(pieces, OSError, to=lambda error: StoreBroken(error.errno is None)),
        Stream[str, StoreBroken],
    )
    Stream.from_async_iterable(pieces, OSError)  # type: ignore[call-overload]  # what becomes of the exception is not said


async def a_request(
    runtime: ManagedRuntime[StoreTag], chat_layer: Layer[ChatTag, ReadError, StoreTag | PrefixTag]
) -> None:
    async with runtime.child(prefix_layer) as outer:
        assert_type(await outer.run(PrefixTag.get()), Outcome[str, Never])
        await outer.run(StoreTag.get())
        async with outer.child(chat_layer) as request:
            await request.run(ChatTag.get())
            await request.run(StoreTag.get())
        await outer.run(ChatTag.get())  # type: ignore[arg-type]  # ChatTag is the inner one's
    runtime.child(chat_layer)  # type: ignore[arg-type]  # PrefixTag is required
    runtime.child(store_layer)
    runtime.child(Layer.succeed(ClockTag, TestClock()))
