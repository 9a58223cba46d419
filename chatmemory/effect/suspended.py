"""Running a coroutine to its end without an event loop."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

from typing_extensions import TypeVar

__all__ = ["SuspendedError", "run_without_waiting"]

A = TypeVar("A")


class SuspendedError(RuntimeError):
    """The work was to be done at once and came to a point where it has to wait."""

    def __init__(self) -> None:
        super().__init__(
            "this effect waits for something, so it needs an event loop: await it, or start one with anyio.run(...)"
        )


def run_without_waiting(work: Coroutine[Any, Any, A]) -> A:
    """Run *work* and return its result.

    Raises:
        SuspendedError: *work* waits; it is closed where it stands.
    """
    try:
        work.send(None)
    except StopIteration as done:
        result: A = done.value
        return result
    work.close()
    raise SuspendedError
