"""Running a coroutine to its end without an event loop, and what a coroutine must do to allow it.

Loading anyio and asyncio takes longer than many commands run, so the kernel imports them when something waits:
work that never waits runs without them.
"""

from __future__ import annotations

import sys
from collections.abc import Coroutine
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from typing import Any, cast

from typing_extensions import TypeVar

from chatmemory.effect.lazy import anyio

A = TypeVar("A")


# True also inside a running event loop while synchronous code there runs an effect.
_IS_NOT_TO_WAIT: ContextVar[bool] = ContextVar("_IS_NOT_TO_WAIT", default=False)


class SuspendedError(RuntimeError):
    """The effect had to run without an event loop, and reached a point where it has to wait."""

    def __init__(self) -> None:
        super().__init__(
            "this effect waits for something, so it needs an event loop: await it, or start one with "
            "asyncio.run(effect.run()); where one runs already, as in a notebook, ThreadRuntime(layer).run_blocking(effect); "
            "a runtime is opened by `async with`"
        )


def run_without_waiting(work: Coroutine[Any, Any, A]) -> A:
    """Run *work* without an event loop and return its result.

    Raises:
        SuspendedError: *work* has to wait; it is closed at that point.
    """
    before = _IS_NOT_TO_WAIT.set(True)
    try:
        work.send(None)
    except StopIteration as done:
        result: A = done.value
        return result
    finally:
        _IS_NOT_TO_WAIT.reset(before)
    work.close()
    raise SuspendedError


def may_wait_on_asyncio() -> None:
    """Mark this context as one whose work runs on asyncio, even if the caller's context says otherwise."""
    _IS_NOT_TO_WAIT.set(False)
    if "sniffio" in sys.modules:  # without this, anyio may read trio from the caller's context
        import sniffio

        sniffio.current_async_library_cvar.set("asyncio")


def has_event_loop() -> bool:
    """Return whether this code may wait: it runs in a task, and not under ``run_without_waiting``."""
    # An event loop can run only where its library was imported.
    if _IS_NOT_TO_WAIT.get() or not ("asyncio" in sys.modules or "trio" in sys.modules):
        return False
    try:
        anyio.get_cancelled_exc_class()
    except RuntimeError:
        return False
    return True


def shield() -> AbstractContextManager[object, None]:
    """Return a context manager that holds off the cancel scopes of anyio and trio; without an event loop it does nothing.

    A native ``asyncio.Task.cancel()`` ignores shields.
    """
    if not has_event_loop():
        return nullcontext()
    # Its type says that a cancel scope may suppress an exception; one that is never cancelled does not.
    return cast("AbstractContextManager[object, None]", anyio.CancelScope(shield=True))
