"""``Driver``: one run of a schedule, which returns how long to wait before each step; ``Moment``: the input of one step.

The schedules themselves are defined in ``schedule.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Generic, TypeAlias, final

from attrs import frozen
from typing_extensions import TypeVar

if TYPE_CHECKING:
    from random import Random

__all__ = ["Driver", "Moment", "Run"]

In = TypeVar("In")
In_co = TypeVar("In_co", covariant=True)
In_contra = TypeVar("In_contra", contravariant=True)


@final
@frozen
class Moment(Generic[In_co]):
    """The input of one step of a schedule.

    Attributes:
        input: the error after which to retry.
        now: seconds on a monotonic clock.
        random: the source of jitter.
    """

    input: In_co
    now: float
    random: Random


# A run receives its first moment as an argument and the others from `yield`; it yields the pauses, in seconds.
Run: TypeAlias = Generator[float, Moment[In], None]


@final
class Driver(Generic[In_contra]):
    """One run of a schedule, as ``Schedule.start`` makes it."""

    __slots__ = ("_begin", "_over", "_random", "_run")

    def __init__(self, begin: Callable[[Moment[In_contra]], Run[In_contra]], random: Random) -> None:
        self._begin = begin
        self._random = random
        self._run: Run[In_contra] | None = None
        self._over = False

    def next(self, value: In_contra, now: float) -> float | None:
        """Return the seconds to wait before the next time; None when the schedule has ended.

        Args:
            value: the error of the last time.
            now: seconds on a monotonic clock.
        """
        return self.step(Moment(value, now, self._random))

    def step(self, moment: Moment[In_contra]) -> float | None:
        """Return the seconds to wait, as ``next`` does; a schedule that combines others calls it with its own *moment*."""
        if self._over:
            return None
        try:
            if self._run is None:
                self._run = self._begin(moment)
                return next(self._run)
            return self._run.send(moment)
        except StopIteration:
            self._over = True
            return None
