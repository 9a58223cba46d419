"""``Wrong``: a mistake in a program, and what its error has to say; and what the mistakes are made with."""

from collections.abc import Callable, Coroutine
from inspect import isawaitable
from typing import Any, Protocol

import pytest
from attrs import frozen

import chatmemory.effect
from chatmemory.effect import Effect, Layer, Tag

kernel: Any = chatmemory.effect  # type checkers refuse most of these programs


@frozen
class Wrong:
    """A program with a mistake in it, and the words that its error must hold.

    Attributes:
        program: makes the mistake when it is called, or when what it returns is awaited.
        names: what was given, or what is missing.
        cure: what to write instead.
        error: the class of the exception.
    """

    program: Callable[[], Any]
    names: str
    cure: str
    error: type[Exception] = TypeError


async def check(wrong: Wrong) -> None:
    """Fail unless the error of *wrong* says what was meant and what to write."""

    async def run() -> None:
        made = wrong.program()
        if isawaitable(made):
            await made

    with pytest.raises((wrong.error, ExceptionGroup)) as raised:
        await run()
    error: BaseException = raised.value
    while isinstance(error, BaseExceptionGroup):  # of a task group
        (error,) = error.exceptions
    assert isinstance(error, wrong.error)
    assert wrong.names in str(error)
    assert wrong.cure in str(error)


async def use(layer: Any, program: Callable[[Any], Any] | None = None) -> None:
    """Open *layer*, and run what *program* makes of the runtime."""
    async with kernel.ManagedRuntime(layer) as opened:
        if program is not None:
            made = program(opened)
            if isinstance(made, Coroutine):
                await made


class Greeter(Protocol):
    """What the tags below name."""

    def greet(self, name: str) -> Effect[str]:
        """Return a greeting."""
        ...

    def leave(self) -> Effect[None]:
        """Say goodbye."""
        ...


class GreeterTag(Tag[Greeter]):
    """A service."""


class GuestTag(Tag[str]):
    """Another one, which is text."""


class PoliteGreeter:
    """A service that fits."""

    def greet(self, name: str) -> Effect[str]:
        return Effect.succeed(f"good morning, {name}")

    def leave(self) -> Effect[None]:
        return Effect.succeed(None)


one = Effect.succeed(1)
greeter = PoliteGreeter()
layer = Layer.succeed(GreeterTag, greeter)
failing: Effect[int, str] = Effect.fail("refused")


async def answer() -> int:
    return 42


def greet_layer() -> Layer[GreeterTag]:
    return layer


def greets(greeter: Any) -> Any:
    return greeter.greet("Ann")
