"""How an effect can end: ``Outcome`` for callers, ``Exit`` for those who clean up.

``Outcome`` is a closed union of two classes, so ``match`` with ``assert_never`` exhausts it in mypy and in pyright.
Both are the classes of ``returns`` as well, and refuse to be taken for true or false: a failure of those is true.
``Exit`` tells what ``Outcome`` cannot: a defect, or an interruption.  Running effects is left to ``effect.py``.
"""

# ruff: noqa: TID251  here the classes of returns become ours

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Generic, Literal, Never, TypeAlias, final

from attrs import frozen
from returns import result
from returns.primitives.container import BaseContainer
from typing_extensions import TypeVar

from chatmemory.effect.effect_failed import EffectFailed

__all__ = [
    "Cause",
    "Die",
    "EffectFailed",
    "EffectInterrupted",
    "Exit",
    "Fail",
    "Failure",
    "Interrupt",
    "Outcome",
    "Success",
    "as_outcome",
    "exception_of",
    "exit_from_exception",
    "exit_from_outcome",
    "outcome_from_exit",
    "value_or_raise",
]

A = TypeVar("A")
E = TypeVar("E")
A_co = TypeVar("A_co", covariant=True)
E_co = TypeVar("E_co", covariant=True)

MYPY = False  # a name that mypy takes for true

NO_TRUTH: Final = (
    "an outcome is neither true nor false: match it, or take the value out first, "
    "by `(await effect.or_raise())` or by `outcome.value_or(False)`"
)


@final
class Success(result.Success[A_co]):  # type: ignore[misc]  # pyright: ignore[reportGeneralTypeIssues]  final over there, so that Result stays closed: it does
    """How an effect ended that came to its value."""

    __slots__ = ()

    if not TYPE_CHECKING:  # which takes the signatures of returns

        def __init__(self, inner_value):
            """Hold *inner_value*."""
            _hold(
                self, inner_value
            )  # what the two constructors above this one would do, in a third of their time

        def map(self, function):
            """Return the success that holds what *function* makes of the value."""
            return Success(function(self._inner_value))

        def swap(self):
            """Return the failure that holds the value."""
            return Failure(self._inner_value)

        def equals(self, other):
            """Tell whether *other* is a success of an equal value."""
            return self == other

        def __eq__(self, other):
            if not isinstance(other, result.Success):
                return NotImplemented
            return self._inner_value == other.unwrap()

        __hash__ = result.Success.__hash__

        def __getattr__(self, name):
            """Refuse, and say where the value is."""
            raise _no_attribute(self, name, "the value is inside, outcome.unwrap()")

    if not MYPY:  # it reports truth without a method (truthy-bool), and pyright, truth that never returns

        def __bool__(self) -> Never:
            raise TypeError(NO_TRUTH)


@final
class Failure(result.Failure[E_co]):  # type: ignore[misc]  # pyright: ignore[reportGeneralTypeIssues]  as above
    """How an effect ended that failed in a way that its type names."""

    __slots__ = ()

    def unwrap(self) -> Never:
        """Raise ``EffectFailed``, which says what failed."""
        raise EffectFailed(self._inner_value)

    if not TYPE_CHECKING:  # as above

        def alt(self, function):
            """Return the failure that holds what *function* makes of the error."""
            return Failure(function(self._inner_value))

        def swap(self):
            """Return the success that holds the error."""
            return Success(self._inner_value)

        def equals(self, other):
            """Tell whether *other* is a failure with an equal error."""
            return self == other

        def __eq__(self, other):
            if not isinstance(other, result.Failure):
                return NotImplemented
            return self._inner_value == other.failure()

        __hash__ = result.Failure.__hash__

        def __getattr__(self, name):
            """Refuse, and say where the error is."""
            raise _no_attribute(self, name, "it has failed, and the error is inside, outcome.failure()")

    if not MYPY:  # as above

        def __bool__(self) -> Never:
            raise TypeError(NO_TRUTH)


def _no_attribute(outcome: object, name: str, cure: str) -> AttributeError:
    return AttributeError(f"{type(outcome).__name__!r} object has no attribute {name!r}: {cure}", name=name)


_hold: Final = vars(BaseContainer)["_inner_value"].__set__

Outcome: TypeAlias = Success[A] | Failure[E]


def as_outcome(outcome: result.Result[Any, Any]) -> Outcome[Any, Any]:
    """Return *outcome* as one of our two classes: what ``returns`` made becomes ours.

    Raises:
        TypeError: it is no outcome at all.
    """
    if isinstance(outcome, result.Success):
        return Success(outcome.unwrap())
    if isinstance(outcome, result.Failure):
        return Failure(outcome.failure())
    raise TypeError(
        f"an effect has come to {outcome!r}, which is no outcome: "
        "return Success(value) or Failure(error); a plain value is made an effect by Effect.succeed(value), "
        "a function that returns one by Effect.sync(function) or Effect.attempt(function, ...)"
    )


@final
@frozen
class Fail(Generic[E_co]):
    """An expected failure, one of those that the effect's type names."""

    error: E_co
    tag: Literal["Fail"] = "Fail"


@final
@frozen
class Die:
    """A defect: an exception that no type announced."""

    defect: Exception
    tag: Literal["Die"] = "Die"


@final
@frozen
class Interrupt:
    """The work was cancelled before it could end by itself."""

    tag: Literal["Interrupt"] = "Interrupt"


@final
@frozen
class Cause(Generic[E_co]):
    """Everything that went wrong, in the order in which it did."""

    reasons: tuple[Fail[E_co] | Die | Interrupt, ...]


Exit: TypeAlias = Success[A] | Failure[Cause[E]]


class EffectInterrupted(Exception):  # noqa: N818  reads as what happened, like EffectFailed
    """Raised where an effect is asked for although its runtime is not open, or ended for that reason."""

    def __init__(self, reason: str = "the runtime of this effect was closed") -> None:
        super().__init__(f"interrupted: {reason}")


def exit_from_outcome(outcome: Outcome[A, E]) -> Exit[A, E]:
    """Wrap a typed failure as the ``Cause`` that it is."""
    return outcome if type(outcome) is Success else Failure(Cause((Fail(outcome.failure()),)))


def exit_from_exception(exception: BaseException) -> Failure[Cause[Never]]:
    """Tell a defect from an interruption.

    Cancellation is the event loop's own exception and, like ``KeyboardInterrupt``, never an ``Exception``.
    """
    if isinstance(exception, Exception) and not isinstance(exception, EffectInterrupted):
        return Failure(Cause((Die(exception),)))
    return Failure(Cause((Interrupt(),)))


def value_or_raise(outcome: Outcome[A, object]) -> A:
    """Return the value of *outcome*.

    Raises:
        EffectFailed: it is a failure; ``error`` holds it.  A failure that is itself an exception is raised as it is.
    """
    if type(outcome) is Success:
        return outcome.unwrap()
    raise exception_of(outcome.failure())


def exception_of(error: object) -> Exception:
    """Return what is raised for the failure *error*: itself if it is an exception."""
    return error if isinstance(error, Exception) else EffectFailed(error)


def outcome_from_exit(exit_: Exit[A, E]) -> Outcome[A, E]:
    """Return how *exit_* looks to a caller: a defect is raised, and comes before a typed failure.

    Raises:
        EffectInterrupted: the work was interrupted, and nothing worse.
    """
    if type(exit_) is Success:
        return exit_
    reasons = exit_.failure().reasons
    for reason in reasons:
        if isinstance(reason, Die):
            raise reason.defect
    for reason in reasons:
        if isinstance(reason, Fail):
            return Failure(reason.error)
    raise EffectInterrupted
