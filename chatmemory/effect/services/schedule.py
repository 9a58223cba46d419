"""``Schedule``: an immutable plan of the pauses between attempts.

It neither sleeps nor runs anything; ``Effect.retry`` does.  The names come from Effect:
https://effect.website/docs/scheduling/built-in-schedules/
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import repeat
from random import Random, SystemRandom
from typing import Generic, TypeAlias, final

from attrs import frozen
from typing_extensions import TypeVar

from chatmemory.effect.checks import no_schedule, require_count, require_seconds
from chatmemory.effect.key import Reference

In = TypeVar("In")
In_contra = TypeVar("In_contra", contravariant=True)

Step: TypeAlias = Callable[[In], float | None]
"""Returns the pause after an error, in seconds; None: no further attempt.  It is not called again after None."""

# As in Effect's Schedule.jittered: enough to spread many clients, too little to change the plan.
JITTER = (0.8, 1.2)


@final
@frozen
class Schedule(Generic[In_contra]):
    """A plan of pauses.  ``In`` is the type of the errors that it may look at.

    Durations are in seconds; making a schedule with a negative one raises ``ValueError``.

    >>> from random import Random
    >>> pause_after = (Schedule.exponential(0.5) & Schedule.recurs(3)).start(Random(0))
    >>> [pause_after("busy") for _ in range(4)]
    [0.5, 1.0, 2.0, None]

    Attributes:
        start: starts a run; the schedule itself never changes.  The random source is used for the jitter.
    """

    start: Callable[[Random], Step[In_contra]]

    @staticmethod
    def recurs(times: int) -> Schedule[object]:
        """Repeat *times* times without a pause; never for 0 or less."""
        require_count(times, example="Schedule.recurs(3)")
        return _of(lambda: repeat(0.0, times))

    @staticmethod
    def spaced(seconds: float) -> Schedule[object]:
        """Pause for *seconds* between one end and the next start."""
        _require_span(seconds)
        return _of(lambda: repeat(seconds))

    @staticmethod
    def exponential(base: float, factor: float = 2.0) -> Schedule[object]:
        """Pause for *base* seconds, then each time *factor* times as long.

        Args:
            base: the first pause, in seconds.
            factor: each pause divided by the one before it.
        """
        _require_span(base)
        _require_span(factor)

        def pauses() -> Iterator[float]:
            pause = base
            while True:
                yield pause
                pause *= factor  # grows to infinity; a power would raise OverflowError after 1,024 doublings

        return _of(pauses)

    def __or__(self: Schedule[In], other: Schedule[In]) -> Schedule[In]:
        """Union: continue while either schedule does, with the shorter pause; ``exponential(1) | spaced(60)`` is a cap."""
        _require_schedule(other, "|")

        def start(random: Random) -> Step[In]:
            going = [self.start(random), other.start(random)]

            def step(error: In) -> float | None:
                pauses = [(one, one(error)) for one in going]
                going[:] = [one for one, pause in pauses if pause is not None]
                return min((pause for _, pause in pauses if pause is not None), default=None)

            return step

        return Schedule(start)

    def __and__(self: Schedule[In], other: Schedule[In]) -> Schedule[In]:
        """Intersection: continue while both schedules do, with the longer pause; ``spaced(5) & recurs(3)`` is a limit."""
        _require_schedule(other, "&")

        def start(random: Random) -> Step[In]:
            mine, theirs = self.start(random), other.start(random)

            def step(error: In) -> float | None:
                one, two = mine(error), theirs(error)
                return None if one is None or two is None else max(one, two)

            return step

        return Schedule(start)

    def jittered(self) -> Schedule[In_contra]:
        """Change every pause at random to 80 % to 120 % of it, so that many clients do not return at the same moment."""

        def start(random: Random) -> Step[In_contra]:
            plan = self.start(random)

            def step(error: In_contra) -> float | None:
                pause = plan(error)
                return None if pause is None else pause * random.uniform(*JITTER)

            return step

        return Schedule(start)


class RandomTag(Reference[Random]):
    """The tag of the random source; tests provide ``random.Random(seed)``."""

    @classmethod
    def default(cls) -> Random:
        """Return the system's random source, which is stateless: two forked processes cannot share a state."""
        return SystemRandom()


def _of(pauses: Callable[[], Iterator[float]]) -> Schedule[object]:
    """Return the schedule of *pauses*, whatever the errors are."""

    def start(_: Random) -> Step[object]:
        left = pauses()
        return lambda _: next(left, None)

    return Schedule(start)


def _require_schedule(other: object, where: str) -> None:
    if not isinstance(other, Schedule):
        raise no_schedule(other, where=where)


def _require_span(seconds: float) -> None:
    require_seconds(seconds)
    if not seconds >= 0:  # `seconds < 0` would let NaN pass
        msg = f"seconds must be 0 or more, not {seconds}"
        raise ValueError(msg)
