"""Do-notation."""

import inspect
import re
from collections.abc import AsyncGenerator
from functools import partial
from typing import Any, ClassVar, Never

import anyio
import pytest

from chatmemory.effect import Context, Do, Effect, Failure, Outcome, Success, Tag
from tests.for_each import for_each

pytestmark = pytest.mark.anyio


class Price(Tag[int]): ...


@Effect.gen
async def total(do: Do[str, Price], count: int, *, discount: int = 0) -> int:
    """Return the price of *count* pieces."""
    price = do.service(Price)
    if count < 0:
        do.fail("less than nothing")
    return await do(Effect.succeed(price * count)) - discount


class Shop:
    def __init__(self, price: int) -> None:
        self.price = price

    @Effect.gen
    async def total(self, do: Do[str], count: int) -> int:
        """Return the price of *count* pieces."""
        return await do(Effect.fail("sold out")) if count > 10 else self.price * count


async def test_steps_unwrap_or_end_the_whole() -> None:
    shelf = Context.of(Price, 3)
    effect = total(2).provide(shelf)
    assert await effect == await effect == Success(6)
    assert await total(2, discount=1).provide(shelf) == Success(5)
    assert await total(-1).provide(shelf) == Failure("less than nothing")


async def test_methods_of_an_object_a_class_or_none_make_effects_too() -> None:
    class Counter:
        started: ClassVar[int] = 3

        @classmethod
        @Effect.gen
        async def start(cls, do: Do[str], *, above: int = 0) -> int:
            return cls.started if cls.started > above else do.fail("too low")

        @staticmethod
        @Effect.gen
        async def add(do: Do[str], *numbers: int) -> int:
            return sum([await do(Effect.succeed(number)) for number in numbers])

    assert await Shop(3).total(2) == Success(6)
    assert await Shop(3).total(count=11) == Failure("sold out")
    assert await Counter.start(above=2) == Success(3)
    assert await Counter().start(above=5) == Failure("too low")
    assert await Counter.add(1, 2, 3) == await Counter().add(1, 2, 3) == Success(6)


async def test_a_program_inside_a_method_sees_its_self() -> None:
    class Basket:
        price = 2

        def total(self, count: int) -> Effect[int]:
            @Effect.gen
            async def program(_: Do[Never], more: int = 1) -> int:
                return self.price * (count + more)

            return program()

    assert await Basket().total(2) == Success(6)


async def add(left: int, do: Do[str], right: int) -> int:
    return left + right


async def add_keyword(*, do: Do[str]) -> int:
    return 1


async def add_all(*numbers: int) -> int:
    return 1


async def method(self: object, count: int) -> int:
    return 1


async def misnamed(this: object, do: Do[str]) -> int:
    return 1


async def stream(do: Do[str]) -> AsyncGenerator[int]:
    yield 1


def plain(do: Do[str]) -> int:
    return 1


@for_each(
    ("function", "cure"),
    [
        (add, "`async def add(do: Do[E, R], left, right)`"),
        (add_all, "`async def add_all(do: Do[E, R])`"),
        (add_keyword, "`async def add_keyword(do: Do[E, R])`"),
        (method, "`async def method(self, do: Do[E, R], count)`"),
        (misnamed, "`async def misnamed(do: Do[E, R], this)`"),
        (plain, "plain is not a coroutine function: write @Effect.gen directly above an `async def`"),
        (stream, "stream is not a coroutine function"),
        (partial(add, 1), "is not a coroutine function"),
        (staticmethod(add), "add is not a coroutine function: write @Effect.gen directly above"),
        (None, "None is not a coroutine function"),
    ],
)
def test_another_function_is_refused_with_the_cure(function: Any, cure: str) -> None:
    with pytest.raises(TypeError, match=re.escape(cure)):
        Effect.gen(function)


def test_name_docstring_and_signature_survive() -> None:
    assert total.__name__ == "total"
    assert total.__doc__ == "Return the price of *count* pieces."
    assert "discount" in inspect.signature(total).parameters
    assert Shop.total.__qualname__ == "Shop.total"


async def test_except_exception_does_not_eat_a_failure_and_a_defect_is_raised() -> None:
    @Effect.gen
    async def program(do: Do[str]) -> int:
        try:
            return await do(Effect.fail("no"))
        except Exception:  # noqa: BLE001  the point
            return 0

    @Effect.gen
    async def torn(do: Do[str]) -> int:
        raise ValueError("torn")

    assert await program() == Failure("no")
    with pytest.raises(ValueError, match="torn"):
        await torn()


async def test_a_failure_of_an_inner_program_ends_the_outer_one_only_as_its_step() -> None:
    @Effect.gen
    async def inner(do: Do[str], foreign: Do[str] | None = None) -> int:
        (foreign or do).fail("inner")

    @Effect.gen
    async def outer(do: Do[str]) -> Outcome[int, str]:
        return await inner()

    @Effect.gen
    async def ended(do: Do[str]) -> int:
        await inner(do)
        raise AssertionError("the outer scope has failed")

    assert await outer() == Success(Failure("inner"))
    assert await ended() == Failure("inner")


async def test_a_program_is_cancelled_like_any_coroutine() -> None:
    @Effect.gen
    async def program(do: Do[str]) -> None:
        scope.cancel()
        await anyio.sleep_forever()

    with anyio.CancelScope() as scope:
        await program()
    assert scope.cancelled_caught
