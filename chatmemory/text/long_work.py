"""Moves long work to a worker thread, so that the event loop can continue; defines what is long.

No operation blocks the loop for more than 5 ms.  Using a thread costs 0.1 ms, so short work stays in the loop.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, Never, TypeVar, cast

from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import RunVar

from chatmemory.effect import Do, Effect, Outcome, Success
from chatmemory.effect.suspended import has_event_loop

A = TypeVar("A")


SHORT: Final = 2_000
"""The number of characters that are read, checked and split into words in at most 2 ms."""

_CHARACTERS_OF_A_MEMBER: Final = (
    10  # checking a number or a container takes as long as checking this many characters
)


def is_long(value: object) -> bool:
    """Return whether *value* (text, JSON, or a sequence of them) has more than ``SHORT`` characters; counting stops there."""
    size = 0
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            size += len(one)
        elif isinstance(one, Mapping | list | tuple):
            size += _CHARACTERS_OF_A_MEMBER * len(cast("Collection[object]", one))
        if size > SHORT:
            return True
        if isinstance(one, Mapping):
            members = cast("Mapping[object, object]", one)
            waiting += members.keys()
            waiting += members.values()
        elif isinstance(one, list | tuple):
            waiting += cast("Collection[object]", one)
        size += _CHARACTERS_OF_A_MEMBER
    return False


async def long_or_short(do: Do[Any], value: object, work: Callable[[], A]) -> A:
    """Run *work* on a worker thread if *value* is long, otherwise in the caller; return its result."""
    return await do(in_worker_thread(work)) if is_long(value) else work()


def in_worker_thread(work: Callable[[], A]) -> Effect[A]:
    """Run *work* on a worker thread, or in the caller without an event loop.

    In each event loop, one work runs at a time: threads of Python take turns of 5 ms, so with ten of them the loop would
    wait for each.  A long step of *work* in C code does not give up its turn, so split large texts.
    """

    async def run() -> Outcome[A, Never]:
        if not has_event_loop():
            return Success(work())
        try:
            one_at_a_time = _LIMITER.get()
        except LookupError:
            one_at_a_time = CapacityLimiter(1)
            _LIMITER.set(one_at_a_time)
        return Success(await to_thread.run_sync(work, limiter=one_at_a_time, abandon_on_cancel=True))

    return Effect.from_outcome(run)


_LIMITER: RunVar[CapacityLimiter] = RunVar("chatmemory.long_work")
