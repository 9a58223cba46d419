"""``Crew``: carries out a plan in parallel where its steps do not depend on each other.

``place.py`` defines the steps, and ``build.py`` how one is built.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from contextvars import copy_context
from typing import Any, Protocol, final

import anyio

from chatmemory.effect.defects import defect_of
from chatmemory.effect.layers.hosting import Stay
from chatmemory.effect.layers.place import Gate, Plan, Step
from chatmemory.effect.layers.tasks import current_backend

__all__ = ["Builder", "Claim", "Crew"]


class Claim(Protocol):
    """The right and the duty to open the resource of one step."""

    @property
    def step(self) -> Step:
        """The step."""
        ...

    def open(self) -> AbstractAsyncContextManager[Any]:
        """Return the context manager of the resource."""
        ...

    def keep(self, stay: Stay, /) -> None:
        """Keep the resource if it was entered; otherwise raise the reason."""
        ...

    def give_up(self) -> None:
        """Let another task that waits for the leaf build it."""
        ...


class Builder(Protocol):
    """Builds the steps of a plan."""

    async def carry_out(self, step: Step, /) -> None:
        """Build the leaf of *step*, or wait for the task that builds it."""
        ...

    def claim(self, step: Step, /) -> Claim | None:
        """Return the right to open the resource of *step*; None if the step opens no resource, or it is built already."""
        ...


@final
class Crew:
    """Takes the steps of a plan as they become ready; worker tasks build them, and resources open in their own tasks."""

    def __init__(self, plan: Plan, builder: Builder) -> None:
        self._builder = builder
        self._backend = current_backend()
        self._context = copy_context()
        self._failures: list[Exception] = []
        self._is_help_coming = False
        self._is_done = self._backend.signal()
        self._is_giving_up = False
        self._is_starting = False
        self._left = len(plan.points)
        self._openings: dict[_Opening, Stay] = {}
        self._open = {point: len(point.after) for point in plan.points}
        self._followers: dict[Step | Gate, list[Step | Gate]] = {point: [] for point in plan.points}
        for point in plan.points:
            for earlier in point.after:
                self._followers[earlier].append(point)
        self._ready = [point for point in reversed(plan.points) if not point.after]

    async def work_through(self) -> None:
        """Carry out the whole plan; the first step that fails cancels the others, and its exception is raised."""
        async with anyio.create_task_group() as self._tasks:
            try:
                await self._work()
                if self._left:
                    await self._is_done.wait()
            except BaseException:
                with anyio.CancelScope(shield=True):
                    await self._give_up()
                raise
        if self._failures:
            raise self._failures[0]

    async def _work(self) -> None:
        """Take steps in order, and start another worker when several are ready; a step that never waits costs no task."""
        self._is_help_coming = False
        while (step := self._next()) is not None:
            if self._ready:
                self._call_help()
            try:
                await self._builder.carry_out(step)
            except BaseException as exception:  # work_through raises it without an exception group
                if (failure := defect_of(exception)) is None:
                    raise
                self._fail(failure)
                return
            self._finish(step)

    def _next(self) -> Step | None:
        """Return a step for a worker; None if no step is ready, or if the task of a resource was started instead.

        When that task starts, it continues with the next step: so independent steps start from left to right on trio
        too, which starts tasks in any order.
        """
        if self._failures or self._is_giving_up:
            return None
        while self._ready and not self._is_starting:
            point = self._ready.pop()
            if isinstance(point, Gate):
                self._finish(point)
            elif (claim := self._builder.claim(point)) is None:
                return point
            else:
                self._is_starting = True
                opening = _Opening(self, claim)
                self._openings[opening] = Stay(opening, self._backend, self._context.copy())
                return None
        return None

    def _finish(self, point: Step | Gate) -> None:
        # The list is a stack: a consumer is put on top, so it follows its dependency before the steps to the right of
        # both.
        for follower in reversed(self._followers[point]):
            self._open[follower] -= 1
            if self._open[follower] == 0:
                self._ready.append(follower)
        self._left -= 1
        if not self._left:
            self._is_done.set()

    def _fail(self, failure: Exception) -> None:
        self._failures.append(failure)
        self._tasks.cancel_scope.cancel()

    def _call_help(self) -> None:
        if not self._is_help_coming:
            self._is_help_coming = True
            _ = self._context.copy().run(self._tasks.start_soon, self._work)  # the task group awaits it

    async def _give_up(self) -> None:
        self._is_giving_up = True
        for stay in self._openings.values():
            stay.give_up()
        for opening, stay in self._openings.items():
            await stay.until_over()
            opening.claim.give_up()

    # --- called in the tasks of the resources ---

    def start_next(self) -> None:
        """Continue with the next steps, because a resource has started."""
        self._is_starting = False
        self._go_on()

    def _go_on(self) -> None:
        if (step := self._next()) is not None:
            self._ready.append(step)
            self._call_help()

    def settle(self, opening: _Opening, stay: Stay) -> None:
        """Keep a resource that was entered, and continue with the steps that waited for it."""
        if self._is_giving_up:
            return
        del self._openings[opening]
        try:
            opening.claim.keep(stay)
        except Exception as failure:  # noqa: BLE001  work_through raises it without a group
            self._fail(failure)
        else:
            self._finish(opening.claim.step)
            self._go_on()


@final
class _Opening:
    """The guest of the ``Stay`` that opens the resource of one step."""

    __slots__ = ("_crew", "claim", "open")

    def __init__(self, crew: Crew, claim: Claim) -> None:
        self._crew = crew
        self.claim = claim
        self.open = claim.open

    def started(self) -> None:
        """Let the crew start the next step."""
        self._crew.start_next()

    def settled(self, stay: Stay) -> None:
        """Let the crew start the steps that waited for this resource."""
        self._crew.settle(self, stay)
