"""``Gathering``: what the tasks of one event loop ask for at the same time is done together.

A group is whatever has come by the next turn of the loop, or waits when the last group has ended; nobody waits for
company.  So 64 tasks that put something share one embedding, one transaction and one sync.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar, final

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
        self._waiting: list[tuple[Q, asyncio.Future[A]]] = []
        self._worker: asyncio.Task[None] | None = None

    async def ask(self, request: Q) -> A:
        """Have *request* done.  Cancelling stops the waiting, and the request while its group has not begun."""
        answer: asyncio.Future[A] = asyncio.get_running_loop().create_future()
        self._waiting.append((request, answer))
        if self._worker is None:
            self._worker = asyncio.create_task(self._work_off())
        return await answer

    async def _work_off(self) -> None:
        try:
            while self._waiting:
                group, self._waiting = self._waiting, []
                await self._do([(request, answer) for request, answer in group if not answer.done()])
        finally:
            self._worker = None
            for _, answer in self._waiting:  # the loop is closing
                answer.cancel()

    async def _do(self, group: Sequence[tuple[Q, asyncio.Future[A]]]) -> None:
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
                answer.cancel()
            raise
        else:
            for (_, answer), value in zip(group, answers, strict=True):
                if not answer.done():
                    answer.set_result(value)
