"""Do-notation: steps of effects written as one coroutine, with the errors and services that they may use declared.

``Effect.gen`` turns such a coroutine function into a function that returns an effect.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Generic, Never, final

from returns.result import Failure, Success
from typing_extensions import TypeVar

from chatmemory.effect.context import Context
from chatmemory.effect.key import TagOf
from chatmemory.effect.outcome import Outcome
from chatmemory.effect.runs import Runs

__all__ = ["Do", "run_do"]

A = TypeVar("A")
S = TypeVar("S")
E_contra = TypeVar("E_contra", contravariant=True)
R_contra = TypeVar("R_contra", contravariant=True, default=Never)


@final
class Do(Generic[E_contra, R_contra]):
    """The scope of one run of a ``gen`` coroutine: it may fail with ``E`` and use the services ``R``.

    It belongs to that coroutine and its task; a step that is not declared in ``E`` and ``R`` is a type error.
    """

    __slots__ = ("_context",)

    def __init__(self, context: Context[R_contra]) -> None:
        self._context = context

    async def __call__(self, effect: Runs[A, E_contra, R_contra]) -> A:
        """Run *effect* and return its value; if it fails, the whole coroutine ends with that failure."""
        outcome = await effect.run_in(self._context)
        if type(outcome) is Success:
            return outcome.unwrap()
        raise _ShortCircuit(self, outcome)

    def fail(self, error: E_contra) -> Never:
        """End the whole coroutine with *error*."""
        raise _ShortCircuit(self, Failure(error))

    def service(self, tag: TagOf[R_contra, S]) -> S:
        """Return the service of *tag*."""
        return self._context.get(tag)


class _ShortCircuit(BaseException):
    """Carries a failure to the end of its coroutine.

    Not an ``Exception``, so that ``except Exception`` in a step lets it pass.
    """

    def __init__(self, scope: Do[Any, Any], failure: Failure[Any]) -> None:
        self.scope = scope
        self.failure = failure


async def run_do(body: Callable[[Do[Any, Any]], Awaitable[A]], context: Context[Any]) -> Outcome[A, Any]:
    """Run *body* in a scope of its own."""
    do: Do[Any, Any] = Do(context)
    try:
        return Success(await body(do))
    except _ShortCircuit as stop:
        # An effect may be run inside the steps of another one: only the scope's own failure ends it.
        if stop.scope is not do:
            raise
        return stop.failure
