"""``Effect.gen`` declares the errors and services of a coroutine; what it does beyond them is a type error."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Never, assert_type

from attrs import frozen

from chatmemory.effect import Clock, ClockTag, Do, Effect, Failure, Outcome, Success
from tests.typing.world import Chat, ChatTag, NotFound, PrefixTag, ReadError, Store, StoreBroken, StoreTag


@Effect.gen
async def count(do: Do[ReadError, ChatTag], conversation_id: str, *, limit: int | None = None) -> int:
    chat = do.service(ChatTag)
    assert_type(chat, Chat)
    messages = await do(chat.messages(conversation_id, limit=limit))
    assert_type(messages, list[str])
    if not messages:
        do.fail(NotFound(conversation_id))
    return len(messages)


@Effect.gen
async def wait(do: Do[Never]) -> None:
    assert_type(do.service(ClockTag), Clock)  # a reference is there without being declared


async def ask(conversation_id: str) -> int:
    return len(conversation_id)


async def stream(do: Do[Never]) -> AsyncGenerator[int]:
    yield 1


def plain(do: Do[Never]) -> int:
    return 1


Effect.gen(ask)  # type: ignore[arg-type]  # it has no do
Effect.coroutine(ask)  # type: ignore[arg-type]  # it returns no outcome
Effect.coroutine(plain)  # type: ignore[arg-type]  # it is not a coroutine function
Effect.gen(stream)  # type: ignore[arg-type]  # it gives many values
Effect.gen(plain)  # type: ignore[arg-type]  # it is not a coroutine function


class Counter:
    @classmethod
    @Effect.gen
    async def start(cls, do: Do[NotFound], *, above: int = 0) -> int:
        return do.fail(NotFound("c1")) if above else 3

    @staticmethod
    @Effect.gen
    async def add(_: Do[Never], *numbers: int) -> int:
        return sum(numbers)


assert_type(Counter.start(above=2), Effect[int, NotFound])
assert_type(Counter().add(1, 2), Effect[int])
Counter.start(below=2)  # type: ignore[call-arg]  # no such parameter


@frozen
class Messages:
    store: Store

    @Effect.gen
    async def read(
        self, do: Do[ReadError], conversation_id: str, *, limit: int | None = None
    ) -> Sequence[str]:
        rows = await do(self.store.rows(conversation_id))
        return rows[:limit] if rows else do.fail(NotFound(conversation_id))

    @Effect.gen
    async def hide_an_error(self, do: Do[NotFound], conversation_id: str) -> Sequence[str]:
        return await do(self.store.rows(conversation_id))  # type: ignore[arg-type]  # StoreBroken is not declared

    @Effect.coroutine
    async def first(self, conversation_id: str, *, after: int = 0) -> Outcome[str, ReadError]:
        outcome = await self.store.rows(conversation_id)
        if isinstance(outcome, Failure):
            return outcome
        rows = outcome.unwrap()[after:]
        return Success(rows[0]) if rows else Failure(NotFound(conversation_id))


def calls_are_typed(messages: Messages) -> None:
    assert_type(messages.first("c1", after=2), Effect[str, ReadError])
    messages.first("c1", before=2)  # type: ignore[call-arg]  # no such parameter
    assert_type(count("c1", limit=3), Effect[int, ReadError, ChatTag])
    assert_type(messages.read("c1"), Effect[Sequence[str], ReadError])
    count(1)  # type: ignore[arg-type]  # an id is text
    count("c1", limits=3)  # type: ignore[call-arg]  # no such parameter
    messages.read(1)  # type: ignore[arg-type]  # an id is text


@Effect.gen
async def use_what_is_not_declared(do: Do[StoreBroken, StoreTag], chat: Chat) -> None:
    await do(do.service(StoreTag).rows("c1"))
    await do(chat.messages("c1"))  # type: ignore[arg-type]  # NotFound is not declared
    await do(PrefixTag.get())  # type: ignore[arg-type]  # PrefixTag is not declared
    do.service(ChatTag)  # type: ignore[arg-type]  # ChatTag is not declared
    do.fail(NotFound("c1"))  # type: ignore[arg-type]  # NotFound is not declared


async def run_what_still_needs_something() -> None:
    await count("c1")  # type: ignore[misc]  # ChatTag is required
    await count("c1").or_raise()  # type: ignore[misc]  # ChatTag is required
    count("c1").run_sync()  # type: ignore[misc]  # ChatTag is required
