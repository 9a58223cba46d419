"""``run``: an effect as users of the Microsoft Agent Framework wait for it, with the exceptions that they catch."""

from __future__ import annotations

from typing import TypeVar

from agent_framework.exceptions import (
    IntegrationException,
    IntegrationInitializationError,
    IntegrationInvalidRequestException,
)

from chatmemory.effect import Effect, EffectFailed, EffectInterrupted, Runner, Success
from chatmemory.errors import DataValidationError

A = TypeVar("A")
E = TypeVar("E")
R = TypeVar("R")


async def run(runtime: Runner[R], effect: Effect[A, E, R]) -> A:
    """Return the value, or raise what users of the framework catch."""
    try:
        outcome = await runtime.run(effect)
    except EffectInterrupted as closed:
        raise IntegrationException("the runtime of this memory is closed") from closed
    except EffectFailed as failed:  # while the runtime was opening
        raise IntegrationInitializationError(str(failed.error)) from failed
    if isinstance(outcome, Success):
        return outcome.unwrap()
    error = outcome.failure()
    is_refused = isinstance(error, DataValidationError)
    kind = IntegrationInvalidRequestException if is_refused else IntegrationException
    raise kind(str(error)) from EffectFailed(error)
