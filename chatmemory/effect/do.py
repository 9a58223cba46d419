"""Do-notation: effects as steps of one coroutine, whose signature declares its errors and services.

``Effect.gen`` turns such a coroutine function into a function that returns an effect.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from types import CodeType
from typing import Any, Final, Generic, Never, final

from typing_extensions import TypeVar

from chatmemory.effect.checks import COROUTINE, no_effect
from chatmemory.effect.context import Context
from chatmemory.effect.for_type_checkers import Runs
from chatmemory.effect.key import TagOf
from chatmemory.effect.outcome import Failure, Outcome, Success

A = TypeVar("A")
S = TypeVar("S")
E_contra = TypeVar("E_contra", contravariant=True)
R_contra = TypeVar("R_contra", contravariant=True, default=Never)


@final
class Do(Generic[E_contra, R_contra]):
    """The handle of one run of a ``gen`` coroutine, which may fail with ``E`` and use the services ``R``.

    It belongs to that coroutine and its task.  A step that needs more than ``E`` and ``R`` is a type error.
    """

    __slots__ = ("_context",)

    def __init__(self, context: Context[R_contra]) -> None:
        self._context = context

    async def __call__(self, effect: Runs[A, E_contra, R_contra]) -> A:
        """Run *effect* and return its value; if it fails, the whole coroutine ends with that failure."""
        try:
            running = effect.run_in(self._context)  # only makes the coroutine
        except AttributeError:
            raise no_effect(effect) from None
        outcome = await running
        if type(outcome) is Success:
            return outcome.unwrap()
        raise _ShortCircuit(self, outcome)

    def fail(self, error: E_contra) -> Never:
        """End the whole coroutine with the failure *error*."""
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


def place_of_do(function: object) -> int:
    """Return the position of the parameter ``do`` of *function*: 0 in a function, 1 in a method.

    Raises:
        TypeError: *function* is not a coroutine function with such a parameter.
    """
    name = getattr(function, "__qualname__", repr(function))
    code: CodeType | None = getattr(function, "__code__", None)
    if code is None or not code.co_flags & COROUTINE:
        msg = f"{name} is not a coroutine function: write @Effect.gen directly above an `async def` that returns its value"
        raise TypeError(msg)
    parameters = code.co_varnames[: code.co_argcount]
    place = 1 if parameters[:1] in {("self",), ("cls",)} else 0
    if parameters[place : place + 1] not in _NAMES_OF_DO:
        others = (name for name in parameters[place:] if (name,) not in _NAMES_OF_DO)
        written = ", ".join((*parameters[:place], "do: Do[E, R]", *others))
        msg = f"{name} has no parameter `do` where Effect.gen puts it: write `async def {code.co_name}({written})`"
        raise TypeError(msg)
    return place


_NAMES_OF_DO: Final = {("do",), ("_do",), ("_",)}  # with an underscore for a `do` that is not used


async def run_do(
    function: Callable[..., Awaitable[A]],
    before: tuple[Any, ...],
    after: tuple[Any, ...],
    named: dict[str, Any],
    context: Context[Any],
) -> Outcome[A, Any]:
    """Run *function* with its own ``Do``, and return its outcome.

    Args:
        function: the coroutine function.
        before: its arguments before ``do``: none, or ``self``.
        after: its arguments after ``do``.
        named: its keyword arguments.
        context: the services.
    """
    do: Do[Any, Any] = Do(context)
    try:
        return Success(await function(*before, do, *after, **named))
    except _ShortCircuit as stop:
        # The steps may run another effect: end only for the failure of this coroutine's own `do`.
        if stop.scope is not do:
            raise
        return stop.failure
