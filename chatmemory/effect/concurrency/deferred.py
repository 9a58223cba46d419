"""``Deferred``: a value that is set later, and for which fibers can wait."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, Never, final

from typing_extensions import TypeVar

from chatmemory.effect.context import Context
from chatmemory.effect.effect import Effect
from chatmemory.effect.outcome import (
    Cause,
    Exit,
    Fail,
    Failure,
    Interrupt,
    Outcome,
    Success,
    exit_from_exception,
    exit_from_outcome,
    outcome_from_exit,
)
from chatmemory.effect.suspended import new_event

if TYPE_CHECKING:
    import anyio

__all__ = ["Deferred"]

A = TypeVar("A")
E = TypeVar("E", default=Never)
R = TypeVar("R")


@final
class Deferred(Generic[A, E]):
    """A value or an error that is set once: ``Deferred[int, str]()``.

    Only the first call that completes it counts.  Each method that completes it succeeds with True when its call was
    the first.
    """

    __slots__ = ("_completed", "_exit")

    def __init__(self) -> None:
        self._exit: Exit[A, E] | None = None
        self._completed: anyio.Event | None = None  # made by the first waiter

    def succeed(self, value: A) -> Effect[bool]:
        """Complete it with *value*: the fibers that wait succeed with it."""
        return Effect.sync(lambda: self._done(Success(value)))

    def fail(self, error: E) -> Effect[bool]:
        """Complete it with *error*: the fibers that wait fail with it."""
        return Effect.sync(lambda: self._done(Failure(Cause((Fail(error),)))))

    def interrupt(self) -> Effect[bool]:
        """Complete it with an interruption: the fibers that wait are interrupted."""
        return Effect.sync(lambda: self._done(Failure(Cause((Interrupt(),)))))

    def complete(self, effect: Effect[A, E, R]) -> Effect[bool, Never, R]:
        """Run *effect*, and complete it with the exit of *effect*: a value, an error, a defect or an interruption."""

        async def run(context: Context[R]) -> Outcome[bool, Never]:
            try:
                exit_: Exit[A, E] = exit_from_outcome(await effect.run_in(context))
            except Exception as defect:  # noqa: BLE001  the fibers that wait receive it
                exit_ = exit_from_exception(defect)
            except BaseException as interruption:
                self._done(exit_from_exception(interruption))
                raise
            return Success(self._done(exit_))

        return Effect.in_context(run)

    def await_(self) -> Effect[A, E]:
        """Wait until it is completed, then succeed, fail or raise as it was completed."""

        async def wait() -> Outcome[A, E]:
            while (exit_ := self._exit) is None:
                self._completed = self._completed or new_event()
                await self._completed.wait()
            return outcome_from_exit(exit_)

        return Effect.from_outcome(wait)

    def poll(self) -> Exit[A, E] | None:
        """Return the exit with which it was completed; None while it is not completed."""
        return self._exit

    def is_done(self) -> bool:
        """Return whether it is completed."""
        return self._exit is not None

    def _done(self, exit_: Exit[A, E]) -> bool:
        if self._exit is not None:
            return False
        self._exit = exit_
        if self._completed is not None:
            self._completed.set()
        return True
