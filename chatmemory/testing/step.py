"""``Step``: what one call of a service does in a script; and the steps that a plain outcome cannot express.

A step is a function from the work of the real part to the effect that replaces it.  A script may also contain plain values
and outcomes: ``"a summary"`` and ``Success("a summary")`` succeed, ``Failure(error)`` fails; they do not run the real part.

``Call`` records one call, ``Calls`` several.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Never, TypeAlias, cast, final

from attrs import define, frozen
from returns.result import Result

from chatmemory.effect.effect import Effect
from chatmemory.effect.lazy import anyio
from chatmemory.effect.outcome import Die, Interrupt, Outcome
from chatmemory.errors import RepositoryError

LOOK_SECONDS: Final = 0.001

Ending: TypeAlias = Outcome[Any, Any] | Die | Interrupt
Work: TypeAlias = Callable[[], Effect[Any, Any]]
"""Returns the effect in which the real part does its work."""


@final
@frozen
class Step:
    """The behaviour of one call.

    >>> backwards = Step(lambda work: work().map(lambda messages: messages[::-1]))

    Attributes:
        function: returns the effect to run; its argument is the work of the real part.
        repeats: whether every further call does the same.
    """

    function: Callable[[Work], Effect[Any, Any]]
    repeats: bool = False


passes: Final = Step(lambda work: work())
"""Runs the real part, which only a ``Spy`` has."""

hangs: Final = Step(lambda _: Effect.never())
"""Does nothing until the call is cancelled."""

LOST: Final = RepositoryError("the call", "outcome_unknown", "the test lost its answer")


def loses_answer(error: object = LOST) -> Step:
    """Return a step that runs the real part and then fails with *error*, as when a connection breaks before the answer."""

    def lose(_: object) -> Effect[Never, Any]:
        return Effect.fail(error)

    return Step(lambda work: work().lash(lose).bind(lose))


def raises(exception: Exception) -> Step:
    """Return a step that raises *exception* as a defect, without running the real part."""

    def raise_() -> Never:
        raise exception

    return Step(lambda _: Effect.sync(raise_))


def after(seconds: float, step: object = passes) -> Step:
    """Return a step that waits on the provided ``Clock`` and then does *step*; a test moves a ``TestClock`` forward.

    Args:
        seconds: how long to wait, in seconds; 0 lets other tasks run.
        step: a step, an outcome or a value.

    Returns:
        the step.
    """
    then = as_step(step)
    return Step(lambda work: Effect.sleep(seconds).bind(lambda _: then.function(work)))


def forever(step: object) -> Step:
    """Return a step that does *step* (a step, an outcome or a value) at this call and at every further call."""
    return Step(as_step(step).function, repeats=True)


def as_step(given: object) -> Step:
    """Return *given* as a step: it may be a step, an effect, an outcome, or the value of a success.

    Raises:
        TypeError: *given* is an error without an outcome, so it is not clear whether it is a value or a failure.
    """
    if isinstance(given, Step):
        return given
    if isinstance(given, Effect):
        effect = cast("Effect[object, object]", given)
        return Step(lambda _: effect)
    if isinstance(given, Result):  # the outcomes of this package, and the outcomes of returns
        outcome = cast("Result[object, object]", given)
        return Step(lambda _: Effect.from_result(outcome))
    _refuse_exception_class(given)
    if isinstance(given, Exception):
        msg = f"{given!r} stands for nothing: raises({given!r}) raises it, Failure({given!r}) fails with it"
        raise TypeError(msg)
    if hasattr(given, "retry_is_safe"):
        msg = f"{given!r} is an error: Failure({given!r}) fails with it, Success({given!r}) succeeds with it"
        raise TypeError(msg)
    return Step(lambda _: Effect.succeed(given))


def _refuse_exception_class(given: object) -> None:
    if isinstance(given, type) and issubclass(given, BaseException):
        msg = f"{given.__name__} is the class of an exception: raises({given.__name__}(...)) raises one"
        raise TypeError(msg)


@final
@define
class Call:
    """One recorded run of one method.

    Attributes:
        service: the name of the contract, for example ``MessageRepository``.
        method: the name of the method, for example ``append``.
        arguments: the given arguments by name; omitted arguments are not included.
        outcome: ``Success`` with the value, ``Failure`` with the error, ``Die`` with the exception, or ``Interrupt``; None
            while the call is running.
    """

    service: str
    method: str
    arguments: Mapping[str, Any]
    outcome: Ending | None = None


@final
class Calls(list[Call]):
    """Calls in the order in which they began; several parts may record in one list."""

    @property
    def methods(self) -> list[str]:
        """The names of the called methods, in order."""
        return [call.method for call in self]

    async def called(self, times: int = 1, *, seconds: float = 10.0) -> None:
        """Wait until *times* calls have begun.

        Args:
            times: the number of calls, those before included.
            seconds: the real time that they have, whatever clock the test uses.

        Raises:
            TimeoutError: fewer calls have begun by then.
        """
        with anyio.move_on_after(seconds):
            while len(self) < times:  # a call may begin in any thread, so no event tells it
                await anyio.sleep(LOOK_SECONDS)
            return
        begun = ", ".join(self.methods) or "none"
        raise TimeoutError(f"{len(self)} calls have begun instead of {times}: {begun}")

    def of(self, method: str) -> list[Call]:
        """Return the calls of *method*."""
        return [call for call in self if call.method == method]
