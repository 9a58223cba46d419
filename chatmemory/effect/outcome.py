"""How an effect can end: ``Outcome`` for callers, ``Exit`` for code that cleans up.

``Outcome`` is a closed union of two classes, so ``match`` with ``assert_never`` is exhaustive in mypy and in pyright.
Both classes are subclasses of classes of ``returns``, but refuse a truth value, because a ``Failure`` would count as true.
``Exit`` also covers defects and interruption.  Running effects is left to ``effect.py``.
"""

# ruff: noqa: TID251  this module derives its classes from those of returns

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Generic, Literal, Never, TypeAlias, final

from attrs import frozen
from returns import result
from returns.primitives.container import BaseContainer
from returns.primitives.exceptions import UnwrapFailedError
from typing_extensions import TypeVar

from chatmemory.effect.defects import defect_of

A = TypeVar("A")
E = TypeVar("E")
A_co = TypeVar("A_co", covariant=True)
E_co = TypeVar("E_co", covariant=True)

MYPY = False  # mypy takes this name for true

NO_TRUTH: Final = (
    "an outcome is neither true nor false: match it, or take the value out first, "
    "by `(await effect.or_raise())` or by `outcome.value_or(False)`"
)


@final
class Success(result.Success[A_co]):  # type: ignore[misc]  # final in returns, to close Result; this class keeps it closed
    """The outcome of an effect that succeeded; it holds the value."""

    __slots__ = ()

    if not TYPE_CHECKING:  # type checkers use the signatures of returns

        def __init__(self, inner_value):
            """Hold *inner_value*."""
            # Does what the two constructors of the base classes would do, in a third of their time.
            _hold(self, inner_value)

        def map(self, function):
            """Return a success with the result of *function* for the value."""
            return Success(function(self._inner_value))

        def __eq__(self, other):
            if not isinstance(other, result.Success):
                return NotImplemented
            return self._inner_value == other.unwrap()

        __hash__ = result.Success.__hash__

    # Without this method mypy reports tests for truth (truthy-bool); with it, pyright reports them.
    if not MYPY:

        def __bool__(self) -> Never:
            raise TypeError(NO_TRUTH)


@final
class Failure(result.Failure[E_co]):  # type: ignore[misc]  # as above
    """The outcome of an effect that failed with an error that its type names; it holds the error."""

    __slots__ = ()

    def unwrap(self) -> Never:
        """Raise ``EffectFailed``, which names the error."""
        raise EffectFailed(self._inner_value)

    if not TYPE_CHECKING:  # as above

        def alt(self, function):
            """Return a failure with the result of *function* for the error."""
            return Failure(function(self._inner_value))

        def __eq__(self, other):
            if not isinstance(other, result.Failure):
                return NotImplemented
            return self._inner_value == other.failure()

        __hash__ = result.Failure.__hash__

    if not MYPY:  # as above

        def __bool__(self) -> Never:
            raise TypeError(NO_TRUTH)


_hold: Final = vars(BaseContainer)["_inner_value"].__set__

Outcome: TypeAlias = Success[A] | Failure[E]


class EffectFailed(UnwrapFailedError):  # noqa: N818  reads as what happened
    """Raised when a caller asks for the value of an effect that has failed.

    Errors are values and no exceptions, so ``except`` catches this one, and ``match`` tells the errors apart::

        except EffectFailed as failed:
            match failed.error:
                case ConversationNotFoundError(conversation_id): ...

    Attributes:
        error: the failure; the exception that it keeps as its cause is ``__cause__``.
    """

    def __init__(self, error: object) -> None:
        Exception.__init__(self, error)
        self.error = error
        self.halted_container = result.Failure(error)  # the do-notation of returns ends with this failure
        cause = error if isinstance(error, BaseException) else getattr(error, "cause", None)
        if isinstance(cause, BaseException):
            self.__cause__ = cause

    @property
    def tag(self) -> str:
        """The ``tag`` of the error; the name of its class if it has none."""
        return str(getattr(self.error, "tag", type(self.error).__name__))

    def __reduce__(self) -> Any:
        return EffectFailed, (self.error,)


def as_outcome(outcome: result.Result[Any, Any]) -> Outcome[Any, Any]:
    """Return *outcome* as a ``Success`` or ``Failure`` of this module; outcomes of ``returns`` are converted.

    Raises:
        TypeError: it is not an outcome.
    """
    if isinstance(outcome, result.Success):
        return Success(outcome.unwrap())
    if isinstance(outcome, result.Failure):
        return Failure(outcome.failure())
    raise TypeError(
        f"an effect has come to {outcome!r}, which is not an outcome: "
        "return Success(value) or Failure(error); a plain value is made an effect by Effect.succeed(value), "
        "a function that returns one by Effect.sync(function) or Effect.attempt(function, ...)"
    )


@final
@frozen
class Fail(Generic[E_co]):
    """An expected failure: an error that the effect's type names."""

    error: E_co
    tag: Literal["Fail"] = "Fail"


@final
@frozen
class Die:
    """A defect: an exception that the effect's type does not name."""

    defect: Exception
    tag: Literal["Die"] = "Die"


@final
@frozen
class Interrupt:
    """The work was cancelled before it ended."""

    tag: Literal["Interrupt"] = "Interrupt"


Cause: TypeAlias = Fail[E] | Die | Interrupt
"""What went wrong."""

Exit: TypeAlias = Success[A] | Failure[Cause[E]]


class EffectInterrupted(Exception):  # noqa: N818  reads as what happened, like EffectFailed
    """Raised by a runtime that is not open, or that is closed while the effect runs."""

    def __init__(self, reason: str = "the runtime of this effect was closed") -> None:
        super().__init__(f"interrupted: {reason}")


def exit_from_outcome(outcome: Outcome[A, E]) -> Exit[A, E]:
    """Return *outcome* as an ``Exit``: a typed failure becomes a ``Cause``."""
    return outcome if type(outcome) is Success else Failure(Fail(outcome.failure()))


def exit_from_exception(exception: BaseException) -> Failure[Die | Interrupt]:
    """Return *exception* as an ``Exit``: a defect or an interruption; call it in the task that caught the exception.

    Cancellation is an exception class of the event loop and, like ``KeyboardInterrupt``, not a subclass of
    ``Exception``.  A cancellation that was not requested is a defect.
    """
    defect = defect_of(exception)
    if defect is not None and not isinstance(defect, EffectInterrupted):
        return Failure(Die(defect))
    return Failure(Interrupt())


def exception_of(error: object) -> Exception:
    """Return the exception to raise for the failure *error*: *error* itself if it is an exception."""
    return error if isinstance(error, Exception) else EffectFailed(error)
