"""``Pull``: how one run of a stream hands over its values; ``opened``: starts a run and releases it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

from typing_extensions import TypeVar

from chatmemory.effect.context import Context
from chatmemory.effect.outcome import Cause, Exit, Fail, Failure, exit_from_exception
from chatmemory.effect.scope import Scope

__all__ = ["Open", "Pull", "StreamFailed", "exit_of_stream", "opened"]

A = TypeVar("A")

Pull: TypeAlias = Callable[[], Awaitable[Sequence[A]]]
"""Gives the next chunk; an empty one is the end, now and whenever it is asked again.  A failure is ``StreamFailed``."""

Open: TypeAlias = Callable[[Context[Any], Scope], Awaitable[Pull[A]]]
"""Begins a run: with the services at hand, until the scope is closed.  The source is asked by the first pull."""


class StreamFailed(Exception):  # noqa: N818  private: how a typed failure travels from stage to stage
    """Carries the typed failure of a stream to the code that catches or reports it."""

    def __init__(self, error: Any) -> None:
        super().__init__(str(error))
        self.error = error


def exit_of_stream(exception: BaseException) -> Exit[Any, Any]:
    """Return *exception* as an ``Exit``: a typed failure, a defect or an interruption."""
    if isinstance(exception, StreamFailed):
        return Failure(Cause((Fail(exception.error),)))
    return exit_from_exception(exception)


@asynccontextmanager
async def opened(
    open_: Open[A], context: Context[Any], scope: Scope | None = None
) -> AsyncGenerator[Pull[A]]:
    """Start a run, and release everything that it holds at the end.

    Args:
        open_: opens the stream.
        context: the services of the stream.
        scope: holds the resources of the run; None: a scope of its own.
    """
    scope = scope or Scope()
    try:
        yield await open_(context, scope)
    except BaseException as exception:
        await scope.close(exit_of_stream(exception))
        raise
    else:
        await scope.close()
