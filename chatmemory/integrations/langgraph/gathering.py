"""``Gathering``: what the tasks of one event loop ask for at the same time is done together.

A group is whatever has come by the next turn of the loop, or waits when the last group has ended.  So 64 tasks that put
something share one embedding, one transaction and one sync.  Who was alone the last time waits for nobody.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Generic, TypeVar, final

Q = TypeVar("Q")
A = TypeVar("A")


@final
class Gathering(Generic[Q, A]):
    """Answers with what *run* makes of a group: an answer for each request, in their order.

    When *run* raises, all of the group have failed, unless *is_of_one* says that the fault may be that of one request:
    then each is run alone, for *run* has done nothing.
    """

    def __init__(
        self,
        run: Callable[[Sequence[Q]], Awaitable[Sequence[A]]],
        *,
        is_of_one: Callable[[Exception], bool],
    ) -> None:
        """Belong to the event loop of the first request."""
        self._run = run
        self._is_of_one = is_of_one
        self._waiting: list[tuple[Q, _Answer[A]]] = []
        self._is_busy = False
        self._worker: asyncio.Task[None] | None = None  # asyncio itself keeps only a weak reference
        self._last_size = 1

    async def ask(self, request: Q, *, to_its_end: bool = False) -> A:
        """Have *request* done.

        Cancelling stops the waiting, and the request while its group has not begun; or, *to_its_end*, neither: the
        cancellation is heard when the request has been done.
        """
        if self._last_size == 1 and not self._is_busy and not to_its_end:
            return await self._ask_alone(request)
        answer = _Answer[A](to_its_end=to_its_end)
        self._waiting.append((request, answer))
        if not self._is_busy:
            self._go_on()
        try:
            return await answer
        finally:
            answer.take_note()

    async def _ask_alone(self, request: Q) -> A:
        self._is_busy = True
        try:
            (answer,) = await self._run([request])
        finally:
            self._go_on()
        return answer

    def _go_on(self) -> None:
        self._is_busy = bool(self._waiting)
        if self._is_busy:
            self._worker = asyncio.create_task(self._work_off())

    async def _work_off(self) -> None:
        try:
            while self._waiting:
                group, self._waiting = self._waiting, []
                self._last_size = len(group)
                await self._do([(request, answer) for request, answer in group if not answer.done()])
                if self._waiting:
                    await asyncio.sleep(
                        0
                    )  # those who have their answer now may ask again, and share the next run
        finally:
            self._is_busy = False
            left, self._waiting = self._waiting, []
            for _, answer in left:  # the loop is closing
                answer.give_up()

    async def _do(self, group: Sequence[tuple[Q, _Answer[A]]]) -> None:
        if not group:
            return
        try:
            answers = await self._run([request for request, _ in group])
        except Exception as failure:  # noqa: BLE001  it belongs to who has asked
            if len(group) > 1 and self._is_of_one(failure):
                for each in group:
                    await self._do([each])
                return
            for _, answer in group:
                if not answer.done():
                    answer.set_exception(failure)
        except BaseException:
            for _, answer in group:
                answer.give_up()
            raise
        else:
            for (_, answer), value in zip(group, answers, strict=True):
                if not answer.done():
                    answer.set_result(value)


class _Answer(asyncio.Future[A]):
    """What somebody waits for.  *to_its_end*: a task that is cancelled meanwhile hears of it when this is done."""

    def __init__(self, *, to_its_end: bool) -> None:
        super().__init__()
        self._to_its_end = to_its_end

    def cancel(self, msg: Any | None = None) -> bool:
        return not self._to_its_end and super().cancel(msg)

    def give_up(self) -> None:
        """Cancel it whoever waits."""
        super().cancel()

    def take_note(self) -> None:
        """Hear of a failure that nobody has heard because of a cancellation."""
        if self.done() and not self.cancelled():
            self.exception()
