"""How effects are run for pydantic-ai: what chatmemory refuses raises ``UserError``, what fails beneath it ``AgentRunError``.

Each has chatmemory's own words; ``__cause__.error`` is the failure as a value.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TypeVar

from pydantic_ai.exceptions import AgentRunError, UserError

from chatmemory.effect import (
    Effect,
    EffectFailed,
    EffectInterrupted,
    Outcome,
    Runner,
    Success,
    ThreadRuntime,
)
from chatmemory.errors import DataValidationError

A = TypeVar("A")
E = TypeVar("E")
R = TypeVar("R")


async def run(runtime: Runner[R], effect: Effect[A, E, R]) -> Outcome[A, E]:
    """Run *effect* in a task."""
    with _as_theirs():
        return await runtime.run(effect)


def run_sync(runtime: Runner[R], effect: Effect[A, E, R]) -> Outcome[A, E]:
    """Run *effect* where nobody awaits."""
    if not isinstance(runtime, ThreadRuntime):
        raise UserError(
            f"a {type(runtime).__name__} runs in its event loop alone: give a ThreadRuntime, or await"
        )
    with _as_theirs():
        return runtime.run_blocking(effect)


@contextmanager
def _as_theirs() -> Generator[None]:
    """Raise what a runtime raises as what users of the framework catch."""
    try:
        yield
    except EffectInterrupted as closed:
        raise UserError("the runtime of this memory is closed") from closed
    except EffectFailed as failed:  # while the runtime was opening
        raise AgentRunError(str(failed.error)) from failed


def unwrapped(outcome: Outcome[A, object]) -> A:
    """Return the value, or raise the failure as the framework's exception with its text."""
    if isinstance(outcome, Success):
        return outcome.unwrap()
    error = outcome.failure()
    kind = UserError if isinstance(error, DataValidationError) else AgentRunError
    raise kind(str(error)) from EffectFailed(error)
