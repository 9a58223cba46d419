"""The stages of a stream that run one after the other in the task of the consumer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from typing_extensions import TypeVar

from chatmemory.effect.context import Context
from chatmemory.effect.effect import Effect
from chatmemory.effect.outcome import Exit
from chatmemory.effect.scope import Scope
from chatmemory.effect.stream.pull import Open, Pull
from chatmemory.effect.stream.sources import value_in

A = TypeVar("A")
B = TypeVar("B")


def each_chunk(open_: Open[A], change: Callable[[Sequence[A]], Sequence[B]]) -> Open[B]:
    """Yield the result of *change* for each chunk; an empty result is skipped."""

    async def open_changed(context: Context[Any], scope: Scope) -> Pull[B]:
        pull = await open_(context, scope)

        async def pull_changed() -> Sequence[B]:
            while chunk := await pull():
                if changed := change(chunk):
                    return changed
            return ()

        return pull_changed

    return open_changed


def each_value(open_: Open[A], effect_of: Callable[[A], Effect[B, Any, Any]]) -> Open[B]:
    """Yield the values of the effects, which run one after the other and only when the consumer pulls."""

    async def open_changed(context: Context[Any], scope: Scope) -> Pull[B]:
        next_value = one_by_one(await open_(context, scope))

        async def pull() -> Sequence[B]:
            return [await value_in(effect_of(value), context) for value in await next_value()]

        return pull

    return open_changed


def one_by_one(pull: Pull[A]) -> Pull[A]:
    """Return a pull whose chunks have one value each."""
    waiting: list[A] = []

    async def pull_one() -> Sequence[A]:
        if not waiting:
            waiting.extend(reversed(await pull()))
        return (waiting.pop(),) if waiting else ()

    return pull_one


def first(open_: Open[A], count: int) -> Open[A]:
    """Yield *count* values, then release the source."""

    async def open_first(context: Context[Any], scope: Scope) -> Pull[A]:
        own_scope = scope.fork()
        pull = await open_(context, own_scope)
        left = count

        async def pull_first() -> Sequence[A]:
            nonlocal left
            chunk = (await pull())[:left] if left > 0 else ()
            left -= len(chunk)
            if not chunk:
                await own_scope.close()
            return chunk

        return pull_first

    return open_first


def in_sequence(open_: Open[A], stream_of: Callable[[A], Open[B]]) -> Open[B]:
    """Yield the values of the streams that *stream_of* makes from each value; each is released before the next begins."""

    async def open_all(context: Context[Any], scope: Scope) -> Pull[B]:
        next_value = one_by_one(await open_(context, scope))
        inner: tuple[Pull[B], Scope] | None = None

        async def pull() -> Sequence[B]:
            nonlocal inner
            while True:
                if inner is None:
                    value = await next_value()
                    if not value:
                        return ()
                    inner_scope = scope.fork()
                    inner = await stream_of(value[0])(context, inner_scope), inner_scope
                if chunk := await inner[0]():
                    return chunk
                await inner[1].close()
                inner = None

        return pull

    return open_all


def ended_by(open_: Open[A], effect: Effect[Any, Any, Any]) -> Open[A]:
    """Yield the values, and run *effect* between the last one and the end."""

    async def open_ended(context: Context[Any], scope: Scope) -> Pull[A]:
        pull = await open_(context, scope)
        is_over = False

        async def pull_ended() -> Sequence[A]:
            nonlocal is_over
            chunk = await pull()
            if not chunk and not is_over:
                is_over = True
                await value_in(effect, context)
            return chunk

        return pull_ended

    return open_ended


def finalized(open_: Open[A], finalizer: Callable[[Exit[Any, Any]], Effect[Any, Any, Any]]) -> Open[A]:
    """Yield the values, and run *finalizer* after the source is released, however the run ends."""

    async def open_finalized(context: Context[Any], scope: Scope) -> Pull[A]:
        await scope.add(lambda exit_: finalizer(exit_).run_in(context))
        return await open_(context, scope)

    return open_finalized
