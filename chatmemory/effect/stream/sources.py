"""The sources of a stream: Python's iterables, synchronous or asynchronous, and effects."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Sequence
from itertools import islice
from typing import Any, Final

from typing_extensions import TypeVar

from chatmemory.effect.context import Context
from chatmemory.effect.effect import Effect
from chatmemory.effect.outcome import Success
from chatmemory.effect.scope import Scope
from chatmemory.effect.stream.pull import Open, Pull, StreamFailed

A = TypeVar("A")

CHUNK_SIZE: Final = 1024
"""The largest number of values of a sequence that go through the stages in one chunk."""


def values(iterable: Iterable[A]) -> Open[A]:
    """Yield the values of *iterable*: a sequence in chunks, anything else one by one."""
    chunk_size = CHUNK_SIZE if isinstance(iterable, Sequence) else 1

    async def open_(_: Context[Any], __: Scope) -> Pull[A]:
        iterator = iter(iterable)

        async def pull() -> Sequence[A]:
            return tuple(islice(iterator, chunk_size))

        return pull

    return open_


def async_values(
    source: AsyncIterable[A] | Callable[[], AsyncIterable[A]],
    exceptions: tuple[type[Exception], ...],
    to: Callable[[Any], object],
) -> Open[A]:
    """Yield the values of *source* one by one, and close it if it can be closed."""
    # With a callable that is also an iterable, pyright would lose the type of the values.
    given: Any = source
    make: Callable[[], AsyncIterable[A]] = (lambda: given) if isinstance(source, AsyncIterable) else given

    async def open_(_: Context[Any], scope: Scope) -> Pull[A]:
        iterator: AsyncIterator[A] | None = None

        async def release(_: object) -> None:
            if (close := getattr(iterator, "aclose", None)) is not None:
                await close()

        await scope.add(release)

        async def pull() -> Sequence[A]:
            nonlocal iterator
            try:
                if iterator is None:
                    iterator = aiter(make())
                return (await anext(iterator),)
            except StopAsyncIteration:
                return ()
            except exceptions as exception:
                raise StreamFailed(to(exception)) from exception

        return pull

    return open_


def value_of(effect: Effect[A, Any, Any]) -> Open[A]:
    """Yield the one value of *effect*."""

    async def open_(context: Context[Any], _: Scope) -> Pull[A]:
        is_over = False

        async def pull() -> Sequence[A]:
            nonlocal is_over
            if is_over:
                return ()
            is_over = True
            return (await value_in(effect, context),)

        return pull

    return open_


async def value_in(effect: Effect[A, Any, Any], context: Context[Any]) -> A:
    """Run *effect* as a step of a stream, and return its value.

    Raises:
        StreamFailed: the effect failed.
    """
    outcome = await effect.run_in(context)
    if type(outcome) is Success:
        return outcome.unwrap()
    raise StreamFailed(outcome.failure())
