"""``Effect.all`` of a tuple keeps the type of each value, and joins the errors and the services of all."""

from __future__ import annotations

from typing import Never, assert_type

from chatmemory.effect import Effect
from tests.typing.world import (
    Chat,
    ChatTag,
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


def a_tuple(chat: Chat, store: Store) -> None:
    assert_type(Effect.all((ONE, TEXT)), Effect[tuple[int, str]])
    assert_type(Effect.all((SLOW, ONE)), Effect[tuple[bytes, int], TooSlow])
    read = (chat.messages("c1").map(len), SLOW, TEXT)
    assert_type(Effect.all(read, concurrency=None), Effect[tuple[int, bytes, str], ReadError | TooSlow])
    every = Effect.all((ONE, ONE, TEXT, store.rows("c1"), SLOW, PrefixTag.get()), concurrency=2)
    assert_type(every, Effect[tuple[int, int, str, list[str], bytes, str], StoreBroken | TooSlow, PrefixTag])


def services_join() -> None:
    both = Effect.all((ChatTag.get(), StoreTag.get()))
    assert_type(both, Effect[tuple[Chat, Store], Never, ChatTag | StoreTag])
    three = Effect.all((PrefixTag.get(), StoreTag.use(lambda store: store.rows("c1")), ChatTag.get()))
    assert_type(three, Effect[tuple[str, list[str], Chat], StoreBroken, PrefixTag | StoreTag | ChatTag])


async def values_are_unpacked() -> None:
    number, text = (await Effect.all((ONE, TEXT))).unwrap()
    assert_type(number, int)
    assert_type(text, str)


def any_number(store: Store, rows: tuple[Effect[list[str], StoreBroken], ...]) -> None:
    assert_type(Effect.all([ONE, ONE]), Effect[list[int]])
    assert_type(Effect.all(rows), Effect[tuple[list[str], ...], StoreBroken])
    assert_type(Effect.all(map(store.rows, ("c1", "c2"))), Effect[list[list[str]], StoreBroken])
    assert_type(Effect.all(store.rows(name) for name in ("c1", "c2")), Effect[list[list[str]], StoreBroken])
    Effect.all(1)  # type: ignore[call-overload]  # it is no effects
    Effect.all((ONE, 2))  # type: ignore[arg-type]  # 2 is not an effect
    Effect.all((ONE, TEXT), concurrency="2")  # type: ignore[call-overload]  # a number is wanted


def an_error_is_not_lost(store: Store) -> Effect[tuple[list[str], bytes], TooSlow]:
    return Effect.all((store.rows("c1"), SLOW))  # type: ignore[arg-type]  # StoreBroken is left
