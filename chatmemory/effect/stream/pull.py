"""``Pull``: returns the values of a run chunk by chunk; ``opened``: starts a run and releases it."""

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
"""Returns the next chunk; an empty chunk means the end, also when it is called again.  A failure raises
``StreamFailed``."""

Open: TypeAlias = Callable[[Context[Any], Scope], Awaitable[Pull[A]]]
"""Starts a run with the given services; closing the scope ends it.  The first pull starts to read the source."""


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
