"""``Schedule``: an immutable plan of when to do something again; ``driver.py`` defines one run of it.

A schedule answers one question: how many seconds until the next time?  It uses the result of the last time and the
time of a clock.  It neither sleeps nor runs anything; ``retry`` and ``repeat`` do.  The names are those of Effect:
https://effect.website/docs/scheduling/built-in-schedules/
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import TYPE_CHECKING, Generic, final

from attrs import frozen
from typing_extensions import TypeVar

from chatmemory.effect.checks.arguments import require_count, require_seconds
from chatmemory.effect.checks.mistakes import no_schedule
from chatmemory.effect.services.driver import Driver, Moment, Run

if TYPE_CHECKING:
    from random import Random

__all__ = ["Driver", "Moment", "Run", "Schedule"]

In = TypeVar("In")
Out = TypeVar("Out")
Out2 = TypeVar("Out2")
In_contra = TypeVar("In_contra", contravariant=True)
Out_co = TypeVar("Out_co", covariant=True)

# As in Effect's Schedule.jittered: enough to spread many clients, too little to change the plan.
JITTER = (0.8, 1.2)


@final
@frozen
class Schedule(Generic[In_contra, Out_co]):
    """A plan for doing something again.  ``In`` is the type of its inputs, ``Out`` that of its outputs.

    Durations are in seconds; making a schedule with a negative one raises ``ValueError``.

    >>> from random import Random
    >>> plan = Schedule.exponential(0.5) & Schedule.recurs(3)
    >>> driver = plan.start(Random(0))
    >>> [driver.next("busy", now=0.0) for _ in range(5)]
    [0.5, 1.0, 2.0, None, None]
    """

    _begin: Callable[[Moment[In_contra]], Run[Out_co, In_contra]]

    def start(self, random: Random) -> Driver[In_contra, Out_co]:
        """Start a run; the schedule itself never changes."""
        return Driver(self._begin, random)

    @staticmethod
    def recurs(times: int) -> Schedule[object, int]:
        """Repeat *times* times without a pause; never for 0 or less.  The output is the number of repetitions so far."""
        require_count(times, example="Schedule.recurs(3)")

        def begin(_: Moment[object]) -> Run[int, object]:
            for recurrence in range(times):
                yield recurrence, 0.0
            return max(times, 0)

        return Schedule(begin)

    @staticmethod
    def spaced(seconds: float) -> Schedule[object, int]:
        """Pause for *seconds* between one end and the next start.  The output is the number of repetitions so far."""
        _require_span(seconds)

        def begin(_: Moment[object]) -> Run[int, object]:
            recurrences = count()
            while True:
                yield next(recurrences), seconds

        return Schedule(begin)

    @staticmethod
    def exponential(base: float, factor: float = 2.0) -> Schedule[object, float]:
        """Pause for *base* seconds, then each time *factor* times as long.  The output is the pause.

        Args:
            base: the first pause, in seconds.
            factor: each pause divided by the one before it.
        """
        _require_span(base)
        _require_span(factor)

        def rests() -> Iterator[float]:
            rest = base
            while True:
                yield rest
                rest *= factor  # grows to infinity; a power would raise OverflowError after 1,024 doublings

        return _rests(rests)

    def __or__(self: Schedule[In, Out], other: Schedule[In, Out2]) -> Schedule[In, tuple[Out, Out2]]:
        """Union: continue while either schedule does, with the shorter pause; ``exponential(1) | spaced(60)`` is a cap."""
        _require_schedule(other, "|")

        def begin(moment: Moment[In]) -> Run[tuple[Out, Out2], In]:
            mine, theirs = self.start(moment.random), other.start(moment.random)
            while True:
                going = [delay for delay in (mine.step(moment), theirs.step(moment)) if delay is not None]
                if not going:
                    return mine.output, theirs.output
                moment = yield (mine.output, theirs.output), min(going)

        return Schedule(begin)

    def __and__(self: Schedule[In, Out], other: Schedule[In, Out2]) -> Schedule[In, tuple[Out, Out2]]:
        """Intersection: continue while both schedules do, with the longer pause; ``spaced(5) & recurs(3)`` is a limit."""
        _require_schedule(other, "&")

        def begin(moment: Moment[In]) -> Run[tuple[Out, Out2], In]:
            mine, theirs = self.start(moment.random), other.start(moment.random)
            while True:
                one, two = mine.step(moment), theirs.step(moment)
                if one is None or two is None:
                    return mine.output, theirs.output
                moment = yield (mine.output, theirs.output), max(one, two)

        return Schedule(begin)

    def jittered(self) -> Schedule[In_contra, Out_co]:
        """Change every pause at random to 80 % to 120 % of it, so that many clients do not return at the same moment."""

        def begin(moment: Moment[In_contra]) -> Run[Out_co, In_contra]:
            plan = self.start(moment.random)
            while (delay := plan.step(moment)) is not None:
                moment = yield plan.output, delay * moment.random.uniform(*JITTER)
            return plan.output

        return Schedule(begin)


def _rests(rests: Callable[[], Iterator[float]]) -> Schedule[object, float]:
    """Return a plan with the pauses of *rests*, whatever the results are."""

    def begin(_: Moment[object]) -> Run[float, object]:
        delays = rests()
        while True:
            delay = next(delays)
            yield delay, delay

    return Schedule(begin)


def _require_schedule(other: object, where: str) -> None:
    if not isinstance(other, Schedule):
        raise no_schedule(other, where=where)


def _require_span(seconds: float) -> None:
    require_seconds(seconds)
    if not seconds >= 0:  # `seconds < 0` would let NaN pass
        msg = f"seconds must be 0 or more, not {seconds}"
        raise ValueError(msg)
