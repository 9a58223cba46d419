"""``Queue``: passes values from the fibers that offer them to the fibers that take them."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Generic, Literal, TypeAlias, final

from typing_extensions import TypeVar

from chatmemory.effect.effect import Effect
from chatmemory.effect.outcome import EffectInterrupted
from chatmemory.effect.suspended import new_event

if TYPE_CHECKING:
    import anyio

__all__ = ["OnFull", "Queue"]

A = TypeVar("A")

OnFull: TypeAlias = Literal["suspend", "dropping", "sliding"]


@final
class Queue(Generic[A]):
    """A first-in, first-out queue: ``Queue[int].bounded(16)``, or one of the other three constructors.

    Waiting fibers are served in the order in which they came.  When a fiber that was about to receive a value is interrupted,
    the next fiber receives it.
    """

    __slots__ = ("_capacity", "_is_ended", "_is_shut_down", "_offerers", "_on_full", "_takers", "_values")

    def __init__(self, capacity: int | None, on_full: OnFull) -> None:
        """Hold at most *capacity* values (``None``: any number), and do *on_full* with one more.

        Raises:
            ValueError: *capacity* is less than 1.
        """
        if capacity is not None and capacity < 1:
            msg = f"a queue holds at least 1 value, not {capacity}; Queue.unbounded() holds any number"
            raise ValueError(msg)
        self._capacity = capacity
        self._on_full: OnFull = on_full
        self._is_ended = False
        self._is_shut_down = False
        self._values: deque[A] = deque()
        self._takers: deque[_Taker[A]] = deque()  # only while there are no values
        self._offerers: deque[_Offerer[A]] = deque()  # only while there is no room

    @classmethod
    def bounded(cls, capacity: int) -> Queue[A]:
        """Return a queue in which an offer waits while the queue is full (back-pressure)."""
        return cls(capacity, "suspend")

    @classmethod
    def dropping(cls, capacity: int) -> Queue[A]:
        """Return a queue that refuses new values while it is full."""
        return cls(capacity, "dropping")

    @classmethod
    def sliding(cls, capacity: int) -> Queue[A]:
        """Return a queue that drops its oldest value to make room for a new one."""
        return cls(capacity, "sliding")

    @classmethod
    def unbounded(cls) -> Queue[A]:
        """Return a queue that always has room."""
        return cls(None, "suspend")

    def offer(self, value: A) -> Effect[bool]:
        """Add *value*; succeed with False if it is refused, because the queue has ended or is a full dropping queue.

        When the queue is shut down, the effect is interrupted.
        """
        return Effect.promise(lambda: self._offer(value))

    def take(self) -> Effect[A]:
        """Remove the oldest value and succeed with it; wait while there is none.

        When the queue is shut down, or has ended and is empty, the effect is interrupted.
        """
        return Effect.promise(self._take)

    def take_all(self) -> Effect[list[A]]:
        """Remove all values, those of waiting offers included, and succeed with them; an empty list when there are none."""
        return Effect.sync(lambda: self._remove(len(self._values) + len(self._offerers)))

    def end(self) -> Effect[None]:
        """Refuse further offers; the values in the queue, and those of waiting offers, can still be taken."""
        return Effect.sync(self._end)

    def shutdown(self) -> Effect[None]:
        """Drop all values, and interrupt all effects that wait for the queue now or use it later."""
        return Effect.sync(self._shut_down)

    def size(self) -> int:
        """Return the number of values that can be taken without waiting."""
        return len(self._values)

    def is_shutdown(self) -> bool:
        """Return whether ``shutdown`` was called."""
        return self._is_shut_down

    async def receive(self, limit: int) -> list[A]:
        """Remove between 1 and *limit* values; an empty list means that the queue has ended.  Streams pull with it.

        Raises:
            EffectInterrupted: the queue is shut down.
        """
        if values := self._remove(limit):
            return values
        if self._is_ended:
            return []
        taker: _Taker[A] = _Taker(new_event())
        self._takers.append(taker)
        try:
            await taker.woken.wait()
        except BaseException:
            if taker.values:
                self._values.extendleft(taker.values)
                self._serve()
            elif taker in self._takers:
                self._takers.remove(taker)
            raise
        if not taker.values:
            self._check()
        return taker.values

    async def _take(self) -> A:
        values = await self.receive(1)
        if not values:
            raise EffectInterrupted("the queue has ended")
        return values[0]

    async def _offer(self, value: A) -> bool:
        self._check()
        if self._is_ended:
            return False
        if self._capacity is None or len(self._values) < self._capacity:
            self._values.append(value)
            self._serve()
            return True
        if self._on_full == "dropping":
            return False
        if self._on_full == "sliding":
            self._values.popleft()
            self._values.append(value)
            return True
        offerer = _Offerer(value, new_event())
        self._offerers.append(offerer)
        try:
            await offerer.woken.wait()
        except BaseException:
            if offerer in self._offerers:
                self._offerers.remove(offerer)
            raise
        self._check()
        return True

    def _check(self) -> None:
        if self._is_shut_down:
            raise EffectInterrupted("the queue was shut down")

    def _remove(self, limit: int) -> list[A]:
        self._check()
        values: list[A] = []
        while self._values and len(values) < limit:
            values.append(self._values.popleft())
            if self._offerers:
                offerer = self._offerers.popleft()
                self._values.append(offerer.value)
                offerer.woken.set()
        self._wake_takers_at_the_end()
        return values

    def _serve(self) -> None:
        while self._takers and self._values:
            taker = self._takers.popleft()
            taker.values = self._remove(1)
            taker.woken.set()

    def _end(self) -> None:
        self._is_ended = True
        self._wake_takers_at_the_end()

    def _wake_takers_at_the_end(self) -> None:
        if self._is_ended and not self._values:
            while self._takers:
                self._takers.popleft().woken.set()

    def _shut_down(self) -> None:
        self._is_shut_down = self._is_ended = True
        self._values.clear()
        for taker in self._takers:
            taker.woken.set()
        for offerer in self._offerers:
            offerer.woken.set()
        self._takers.clear()
        self._offerers.clear()


@final
class _Taker(Generic[A]):
    """A fiber that waits for a value."""

    __slots__ = ("values", "woken")

    def __init__(self, woken: anyio.Event) -> None:
        self.values: list[A] = []
        self.woken = woken


@final
class _Offerer(Generic[A]):
    """A fiber that waits for room."""

    __slots__ = ("value", "woken")

    def __init__(self, value: A, woken: anyio.Event) -> None:
        self.value = value
        self.woken = woken
