"""How an effect can end: ``Outcome`` for callers, ``Exit`` for those who clean up.

``Outcome`` is the closed union of the two classes of ``returns``, so ``match`` with ``assert_never`` exhausts it in
mypy and in pyright, and every value is a ``returns.result.Result`` as well.  ``Exit`` tells what ``Outcome`` cannot:
a defect, or an interruption.  Running effects is left to ``effect.py``.
"""

from __future__ import annotations

from typing import Generic, Literal, Never, TypeAlias, final

from attrs import frozen
from returns.result import Failure, Success
from typing_extensions import TypeVar

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
    "exit_from_exception",
    "exit_from_outcome",
    "outcome_from_exit",
]

A = TypeVar("A")
E = TypeVar("E")
A_co = TypeVar("A_co", covariant=True)
E_co = TypeVar("E_co", covariant=True)

Outcome: TypeAlias = Success[A] | Failure[E]


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


class EffectFailed(Exception):  # noqa: N818  reads as what happened, like returns' UnwrapFailedError
    """Raised by ``or_raise`` for a typed failure that is a value and not an exception."""

    def __init__(self, error: object) -> None:
        super().__init__(str(error))
        self.error = error


class EffectInterrupted(Exception):  # noqa: N818  as above
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
