"""``Gathering``: runs the simultaneous requests of the tasks of one event loop together.

A group is the requests that arrive before the next turn of the loop, or that wait when the last group ends.  So 64
tasks that put something share one embedding, one transaction and one sync.  A request does not wait when the last
group had one request.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar, final

from attrs import define

from chatmemory.access.principal import Principal, acting_as, principal
from chatmemory.effect.defects import defect_of
from chatmemory.integrations.raising import to_its_end

Q = TypeVar("Q")
A = TypeVar("A")


@final
@define(eq=False)
class _Asked(Generic[Q, A]):
    """A request, the future of its answer, and the end of its group, once the group has started."""

    request: Q
    who: Principal
    answer: asyncio.Future[A]
    end: asyncio.Future[None] | None = None


@final
class Gathering(Generic[Q, A]):
    """Runs groups of requests with *run*, which returns an answer for each request, in order.

    The requests of a principal run together, with its rights and in its name.  When *run* raises, all of them fail.  If
    *is_of_one* returns True, one request may be at fault, and *run* has changed nothing: then each request runs alone.
    """

    def __init__(
        self,
        run: Callable[[Sequence[Q]], Awaitable[Sequence[A]]],
        *,
        is_of_one: Callable[[Exception], bool],
    ) -> None:
        self._run = run
        self._is_of_one = is_of_one
        self._waiting: list[_Asked[Q, A]] = []
        self._is_busy = False
        # asyncio itself keeps only a weak reference to a task.  None without a task, which would keep its loop.
        self._worker: asyncio.Task[None] | None = None
        self._last_size = 1

    async def ask(self, request: Q, *, writes: bool = False) -> A:
        """Run *request* and return its answer.

        A cancellation removes the request when its group has not started, and stops the waiting afterwards.  With
        *writes*, the cancellation is raised only after the end of the group, so that it is known what is stored.
        """
        if self._last_size == 1 and not (self._is_busy or writes):
            return await self._ask_alone(request)
        asked: _Asked[Q, A] = _Asked(request, principal(), asyncio.get_running_loop().create_future())
        self._waiting.append(asked)
        if not self._is_busy:
            self._start_next_group()
        try:
            return await asked.answer
        except asyncio.CancelledError:
            if writes and asked.end is not None:
                await to_its_end(asked.end)
            raise

    async def _ask_alone(self, request: Q) -> A:
        self._is_busy = True
        try:
            (answer,) = await self._run([request])
        finally:
            self._start_next_group()
        return answer

    def _start_next_group(self) -> None:
        self._is_busy = bool(self._waiting)
        if self._is_busy:
            self._worker = asyncio.create_task(self._run_groups())

    async def _run_groups(self) -> None:
        try:
            while self._waiting:
                group = [asked for asked in self._waiting if not asked.answer.done()]
                self._waiting = []
                self._last_size = len(group)
                await self._run_group(group)
                if self._waiting:
                    # Tasks that have their answer now may ask again, and share the next run.
                    await asyncio.sleep(0)
        finally:
            self._is_busy, self._worker = False, None
            left, self._waiting = self._waiting, []
            for asked in left:  # the loop is closing
                asked.answer.cancel()

    async def _run_group(self, group: Sequence[_Asked[Q, A]]) -> None:
        end = asyncio.get_running_loop().create_future()
        for asked in group:
            asked.end = end
        by_principal = defaultdict[Principal, list[_Asked[Q, A]]](list)
        for asked in group:
            by_principal[asked.who].append(asked)
        try:
            for who, theirs in by_principal.items():
                with acting_as(who):
                    await self._run_for_principal(theirs)
        finally:
            for asked in group:  # without an answer only if the loop is closing
                asked.answer.cancel()
            end.set_result(None)

    async def _run_for_principal(self, group: Sequence[_Asked[Q, A]]) -> None:
        try:
            answers = await self._run([asked.request for asked in group])
            answered = list(zip(group, answers, strict=True))
        except BaseException as exception:
            if (failure := defect_of(exception)) is None:
                raise
            if len(group) > 1 and self._is_of_one(failure):
                for asked in group:
                    await self._run_for_principal([asked])
                return
            for asked in group:
                if not asked.answer.done():
                    asked.answer.set_exception(failure)  # it belongs to who has asked
        else:
            for asked, answer in answered:
                if not asked.answer.done():
                    asked.answer.set_result(answer)
