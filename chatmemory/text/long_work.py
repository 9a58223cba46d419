"""``beside_the_loop``: long work in pieces on a worker thread, so that an event loop answers others meanwhile."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Never, TypeVar

from anyio.lowlevel import RunVar

from chatmemory.effect import Effect, Outcome, Success
from chatmemory.effect.suspended import has_event_loop

if TYPE_CHECKING:
    from anyio import CapacityLimiter

A = TypeVar("A")


def beside_the_loop(work: Callable[[], A]) -> Effect[A]:
    """Run *work* on a worker thread; without an event loop, here.

    One work runs at a time in each event loop: threads of Python take turns of 5 ms, and a loop that waits for ten of them
    waits for each.  A single step of *work* that never comes back to Python keeps its turn: split large texts.
    """

    async def run() -> Outcome[A, Never]:
        if not has_event_loop():
            return Success(work())
        from anyio import CapacityLimiter, to_thread

        try:
            one_at_a_time = _LIMITER.get()
        except LookupError:
            one_at_a_time = CapacityLimiter(1)
            _LIMITER.set(one_at_a_time)
        return Success(await to_thread.run_sync(work, limiter=one_at_a_time, abandon_on_cancel=True))

    return Effect.from_outcome(run)


_LIMITER: RunVar["CapacityLimiter"] = RunVar("chatmemory.long_work")
