"""``Effect.all`` and streams keep the type of each value, and join the errors and the services of all."""

from collections.abc import AsyncIterator
from typing import Never, assert_type

from chatmemory.effect import Effect, Stream
from tests.typing.world import (
    Chat,
    ChatTag,
    NotFound,
    PrefixTag,
    ReadError,
    Store,
    StoreBroken,
    StoreTag,
    TooSlow,
)

ONE = Effect.succeed(1)
TEXT = Effect.succeed("one")
SLOW: Effect[bytes, TooSlow] = Effect.fail(TooSlow())


def a_tuple() -> None:
    assert_type(Effect.all((ONE, TEXT)), Effect[tuple[int, str]])
    both = Effect.all((ChatTag.get(), StoreTag.get()), concurrency=None)
    assert_type(both, Effect[tuple[Chat, Store], Never, ChatTag | StoreTag])
    three = Effect.all((PrefixTag.get(), StoreTag.use(lambda store: store.rows("c1")), SLOW))
    assert_type(three, Effect[tuple[str, list[str], bytes], StoreBroken | TooSlow, PrefixTag | StoreTag])


async def values_are_unpacked() -> None:
    number, text = (await Effect.all((ONE, TEXT))).unwrap()
    assert_type(number, int)
    assert_type(text, str)


def any_number(store: Store, rows: tuple[Effect[list[str], StoreBroken], ...]) -> None:
    assert_type(Effect.all([ONE, ONE]), Effect[list[int]])
    assert_type(Effect.all(rows), Effect[tuple[list[str], ...], StoreBroken])
    assert_type(Effect.all(store.rows(name) for name in ("c1", "c2")), Effect[list[list[str]], StoreBroken])
    Effect.all(1)  # type: ignore[call-overload]  # it is no effects
    Effect.all((ONE, 2))  # type: ignore[arg-type]  # 2 is not an effect
    Effect.all((ONE, TEXT), concurrency="2")  # type: ignore[call-overload]  # a number is wanted


def an_error_is_not_lost(store: Store) -> Effect[tuple[list[str], bytes], TooSlow]:
    return Effect.all((store.rows("c1"), SLOW))  # type: ignore[arg-type]  # StoreBroken is left


no_number: Effect[int, NotFound] = Effect.fail(NotFound("c1"))
no_text: Effect[str, StoreBroken, StoreTag] = StoreTag.get().bind(lambda _: Effect.fail(StoreBroken()))


def effects_side_by_side() -> None:
    assert_type(Effect.sleep(1), Effect[None])
    assert_type(no_text.with_span("read", {"messages": 3}), Effect[str, StoreBroken, StoreTag])
    no_text.with_span("read", {"messages": [3]})  # type: ignore[dict-item]  # an attribute is a text or a number


def numbers_up_to(count: int) -> Stream[int, TooSlow]:
    return Stream.from_iterable(range(count))


async def pieces() -> AsyncIterator[str]:
    yield "春"


async def streams(read: Stream[list[str], ReadError], needing: Stream[str, NotFound, StoreTag]) -> None:
    assert_type(Stream.from_iterable([1, 2, 3]).map(str).filter(bool).take(2), Stream[str])
    assert_type(read.tap(lambda _: no_text), Stream[list[str], ReadError, StoreTag])
    assert_type(read.on_end(no_text), Stream[list[str], ReadError, StoreTag])
    assert_type(read.on_exit(lambda _: StoreTag.get()), Stream[list[str], ReadError, StoreTag])
    assert_type(Stream.unwrap(no_number.map(numbers_up_to)), Stream[int, NotFound | TooSlow])
    read.on_exit(lambda _: no_number)  # type: ignore[arg-type, return-value]  # a finalizer does not fail
    assert_type(needing.run_collect(), Effect[list[str], NotFound, StoreTag])
    async with read.iterate() as values:
        async for value in values:
            assert_type(value, list[str])
    needing.iterate()  # type: ignore[misc]  # StoreTag is required


def sources() -> None:
    assert_type(Stream.from_async_iterable(pieces), Stream[str])
    assert_type(Stream.from_async_iterable(pieces()), Stream[str])
    failing = Stream.from_async_iterable(pieces, OSError, to=lambda error: StoreBroken(error.errno is None))
    assert_type(failing, Stream[str, StoreBroken])
    Stream.from_async_iterable(pieces, OSError)  # type: ignore[call-overload]  # what becomes of the exception is not said
