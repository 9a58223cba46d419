"""``Schedule``: an immutable plan of when to do something again; ``driver.py`` defines one run of it.

A schedule answers one question: how many seconds until the next time?  It uses the result of the last time and the
time of a clock.  It neither sleeps nor runs anything; ``Effect.retry`` does.  The names are those of Effect:
https://effect.website/docs/scheduling/built-in-schedules/
"""

from __future__ import annotations

from collections.abc import Callable
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
In_contra = TypeVar("In_contra", contravariant=True)

# As in Effect's Schedule.jittered: enough to spread many clients, too little to change the plan.
JITTER = (0.8, 1.2)


@final
@frozen
class Schedule(Generic[In_contra]):
    """A plan for doing something again.  ``In`` is the type of its inputs.

    Durations are in seconds; making a schedule with a negative one raises ``ValueError``.

    >>> from random import Random
    >>> plan = Schedule.exponential(0.5) & Schedule.recurs(3)
    >>> driver = plan.start(Random(0))
    >>> [driver.next("busy", now=0.0) for _ in range(5)]
    [0.5, 1.0, 2.0, None, None]
    """

    _begin: Callable[[Moment[In_contra]], Run[In_contra]]

    def start(self, random: Random) -> Driver[In_contra]:
        """Start a run; the schedule itself never changes."""
        return Driver(self._begin, random)

    @staticmethod
    def recurs(times: int) -> Schedule[object]:
        """Repeat *times* times without a pause; never for 0 or less."""
        require_count(times, example="Schedule.recurs(3)")

        def begin(_: Moment[object]) -> Run[object]:
            for _recurrence in range(times):
                yield 0.0

        return Schedule(begin)

    @staticmethod
    def spaced(seconds: float) -> Schedule[object]:
        """Pause for *seconds* between one end and the next start."""
        _require_span(seconds)

        def begin(_: Moment[object]) -> Run[object]:
            while True:
                yield seconds

        return Schedule(begin)

    @staticmethod
    def exponential(base: float, factor: float = 2.0) -> Schedule[object]:
        """Pause for *base* seconds, then each time *factor* times as long.

        Args:
            base: the first pause, in seconds.
            factor: each pause divided by the one before it.
        """
        _require_span(base)
        _require_span(factor)

        def begin(_: Moment[object]) -> Run[object]:
            pause = base
            while True:
                yield pause
                pause *= factor  # grows to infinity; a power would raise OverflowError after 1,024 doublings

        return Schedule(begin)

    def __or__(self: Schedule[In], other: Schedule[In]) -> Schedule[In]:
        """Union: continue while either schedule does, with the shorter pause; ``exponential(1) | spaced(60)`` is a cap."""
        _require_schedule(other, "|")

        def begin(moment: Moment[In]) -> Run[In]:
            mine, theirs = self.start(moment.random), other.start(moment.random)
            while going := [pause for pause in (mine.step(moment), theirs.step(moment)) if pause is not None]:
                moment = yield min(going)

        return Schedule(begin)

    def __and__(self: Schedule[In], other: Schedule[In]) -> Schedule[In]:
        """Intersection: continue while both schedules do, with the longer pause; ``spaced(5) & recurs(3)`` is a limit."""
        _require_schedule(other, "&")

        def begin(moment: Moment[In]) -> Run[In]:
            mine, theirs = self.start(moment.random), other.start(moment.random)
            while True:
                one, two = mine.step(moment), theirs.step(moment)
                if one is None or two is None:
                    return
                moment = yield max(one, two)

        return Schedule(begin)

    def jittered(self) -> Schedule[In_contra]:
        """Change every pause at random to 80 % to 120 % of it, so that many clients do not return at the same moment."""

        def begin(moment: Moment[In_contra]) -> Run[In_contra]:
            plan = self.start(moment.random)
            while (pause := plan.step(moment)) is not None:
                moment = yield pause * moment.random.uniform(*JITTER)

        return Schedule(begin)


def _require_schedule(other: object, where: str) -> None:
    if not isinstance(other, Schedule):
        raise no_schedule(other, where=where)


def _require_span(seconds: float) -> None:
    require_seconds(seconds)
    if not seconds >= 0:  # `seconds < 0` would let NaN pass
        msg = f"seconds must be 0 or more, not {seconds}"
        raise ValueError(msg)
