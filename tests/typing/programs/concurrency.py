"""Fibers, what they share, and streams carry their types; errors and services join on the way."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Never, assert_type

from chatmemory.effect import (
    ClockTag,
    Deferred,
    Effect,
    Exit,
    Fiber,
    Layer,
    ManagedRuntime,
    Outcome,
    Queue,
    Ref,
    Scope,
    Semaphore,
    Stream,
    TestClock,
)
from tests.typing.programs.world import (
    Chat,
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
    assert_type(no_number.race_first(no_text), Effect[int | str, NotFound | StoreBroken, StoreTag])
    assert_type(no_number.zip(no_text), Effect[tuple[int, str], NotFound | StoreBroken, StoreTag])
    assert_type(no_number.zip(no_text, concurrent=True).or_die(), Effect[tuple[int, str], Never, StoreTag])
    assert_type(no_number.or_die(), Effect[int])
    assert_type(Effect.sleep(1), Effect[None])
    assert_type(no_text.with_span("read", {"messages": 3}), Effect[str, StoreBroken, StoreTag])
    no_text.with_span("read", {"messages": [3]})  # type error: an attribute is a text or a number


def a_fiber_ends_as_its_effect(scope: Scope) -> None:
    assert_type(no_text.fork(), Effect[Fiber[str, StoreBroken], Never, StoreTag])
    forked = no_number.fork()
    assert_type(forked, Effect[Fiber[int, NotFound]])
    assert_type(forked.bind(lambda fiber: fiber.join()), Effect[int, NotFound])
    assert_type(no_number.fork_in(scope), Effect[Fiber[int, NotFound]])


def the_ends_of_a_fiber(fiber: Fiber[int, NotFound]) -> None:
    assert_type(fiber.join(), Effect[int, NotFound])
    assert_type(fiber.await_(), Effect[Exit[int, NotFound]])
    assert_type(fiber.interrupt(), Effect[Exit[int, NotFound]])
    assert_type(fiber.poll(), Exit[int, NotFound] | None)
    wider: Fiber[int | str, ReadError] = fiber
    narrower: Fiber[bool, NotFound] = fiber  # type error: an int is no bool
    del wider, narrower


async def a_scope_is_asked_for_and_provided() -> None:
    scoped = no_number.fork_scoped()
    assert_type(scoped.scoped(), Effect[Fiber[int, NotFound]])
    await scoped.scoped()
    await scoped  # type error: a scope is required
    within_a_store = StoreTag.get().bind(lambda _: scoped)
    assert_type(within_a_store.scoped(), Effect[Fiber[int, NotFound], Never, StoreTag])


def what_fibers_share(
    ref: Ref[int], deferred: Deferred[int, NotFound], queue: Queue[int], semaphore: Semaphore
) -> None:
    assert_type(ref.get(), Effect[int])
    assert_type(ref.modify(lambda n: (str(n), n + 1)), Effect[str])
    ref.set("one")  # type error: a text is no number
    assert_type(deferred.await_(), Effect[int, NotFound])
    assert_type(deferred.succeed(1), Effect[bool])
    deferred.fail(StoreBroken())  # type error: not one of its errors
    assert_type(deferred.complete(no_number), Effect[bool])
    assert_type(Queue[int].bounded(3), Queue[int])
    assert_type(queue.offer(1), Effect[bool])
    assert_type(queue.take(), Effect[int])
    assert_type(queue.take_all(), Effect[list[int]])
    queue.offer("one")  # type error: a text is no number
    assert_type(no_text.pipe(semaphore.with_permits(1)), Effect[str, StoreBroken, StoreTag])


def numbers_up_to(count: int) -> Stream[int, TooSlow]:
    return Stream.from_iterable(range(count))


def streams_join_errors_and_services(chat: Chat) -> None:
    numbers = Stream.of(1, 2, 3)
    assert_type(numbers, Stream[int])
    assert_type(numbers.map(str).filter(bool).take(2), Stream[str])
    read = numbers.map_effect(lambda n: chat.messages(str(n)), concurrency=2)
    assert_type(read, Stream[list[str], ReadError])
    assert_type(read.tap(lambda _: no_text), Stream[list[str], ReadError, StoreTag])
    assert_type(read.concat(Stream.from_effect(no_number)), Stream[list[str] | int, ReadError])
    assert_type(read.merge(Stream.fail(TooSlow())), Stream[list[str], ReadError | TooSlow])
    assert_type(read.flat_map(Stream.from_iterable), Stream[str, ReadError])
    assert_type(read.grouped(2, within=1), Stream[list[list[str]], ReadError])
    assert_type(read.scan(0, lambda total, rows: total + len(rows)), Stream[int, ReadError])
    assert_type(read.buffer(3), Stream[list[str], ReadError])
    assert_type(read.catch(lambda error: Stream.of(error.tag)).map(len), Stream[int])
    assert_type(read.alt(lambda _: TooSlow()), Stream[list[str], TooSlow])
    assert_type(read.ensuring(StoreTag.get()), Stream[list[str], ReadError, StoreTag])
    assert_type(Stream.unwrap(no_number.map(numbers_up_to)), Stream[int, NotFound | TooSlow])
    read.buffer(3, on_full="waiting")  # type error: no such way
    read.ensuring(no_number)  # type error: a finalizer does not fail


def running_a_stream(read: Stream[list[str], ReadError, StoreTag]) -> None:
    assert_type(read.run_collect(), Effect[list[list[str]], ReadError, StoreTag])
    assert_type(read.run_drain(), Effect[None, ReadError, StoreTag])
    assert_type(read.run_fold(0, lambda total, rows: total + len(rows)), Effect[int, ReadError, StoreTag])
    assert_type(
        read.run_for_each(lambda _: Effect.fail(TooSlow())), Effect[None, ReadError | TooSlow, StoreTag]
    )


async def iterating(stream: Stream[str, NotFound], read: Stream[str, NotFound, StoreTag]) -> None:
    async with stream.iterate() as values:
        async for value in values:
            assert_type(value, str)
    read.iterate()  # type error: StoreTag is required


async def pieces() -> AsyncIterator[str]:
    yield "春"


def sources() -> None:
    assert_type(Stream.from_async_iterable(pieces), Stream[str])
    assert_type(Stream.from_async_iterable(pieces()), Stream[str])
    assert_type(
        Stream.from_async_iterable(pieces, OSError, to=lambda error: StoreBroken(error.errno is None)),
        Stream[str, StoreBroken],
    )
    assert_type(Stream.from_queue(Queue[int].bounded(2)), Stream[int])
    Stream.from_async_iterable(pieces, OSError)  # type error: what becomes of the exception is not said


async def a_request(
    runtime: ManagedRuntime[StoreTag], chat_layer: Layer[ChatTag, ReadError, StoreTag | PrefixTag]
) -> None:
    async with runtime.child(prefix_layer) as outer:
        assert_type(await outer.run(PrefixTag.get()), Outcome[str, Never])
        await outer.run(StoreTag.get())
        async with outer.child(chat_layer) as request:
            await request.run(ChatTag.get())
            await request.run(StoreTag.get())
        await outer.run(ChatTag.get())  # type error: ChatTag is the inner one's
    runtime.child(chat_layer)  # type error: PrefixTag is required
    runtime.child(store_layer)
    runtime.child(Layer.succeed(ClockTag, TestClock()))
