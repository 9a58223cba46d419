"""``Crew``: carries out a plan in parallel where its steps do not depend on each other.

What a step is, and how one is built, is left to ``place.py`` and ``build.py``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import final

import anyio
from anyio.abc import TaskGroup

from chatmemory.effect.layers.place import Gate, Plan, Step

__all__ = ["Crew"]


@final
class Crew:
    """Workers that take the steps of a plan as they become ready."""

    def __init__(self, plan: Plan, build_step: Callable[[Step], Awaitable[None]]) -> None:
        self._build_step = build_step
        self._failures: list[Exception] = []
        self._is_help_coming = False
        self._open = {point: len(point.after) for point in plan.points}
        self._followers: dict[Step | Gate, list[Step | Gate]] = {point: [] for point in plan.points}
        for point in plan.points:
            for earlier in point.after:
                self._followers[earlier].append(point)
        self._ready = [point for point in reversed(plan.points) if not point.after]

    async def work_through(self) -> None:
        """Carry out the whole plan; the first step that fails ends the others, and its exception is raised."""
        async with anyio.create_task_group() as tasks:
            await self._work(tasks)
        if self._failures:
            raise self._failures[0]

    async def _work(self, tasks: TaskGroup) -> None:
        """Take steps in order, and call for help when more than one is ready.

        So independent steps start from left to right on trio too, which begins tasks in any order, and a step that
        never waits costs no task.
        """
        self._is_help_coming = False
        while self._ready and not self._failures:
            point = self._ready.pop()
            if isinstance(point, Step):
                if self._ready and not self._is_help_coming:
                    self._is_help_coming = True
                    tasks.start_soon(self._work, tasks)
                try:
                    await self._build_step(point)
                except Exception as failure:  # noqa: BLE001  raised bare by work_through
                    self._failures.append(failure)
                    tasks.cancel_scope.cancel()
                    return
            # On top of the stack: a consumer follows its dependency before what stands to the right of both.
            for follower in reversed(self._followers[point]):
                self._open[follower] -= 1
                if self._open[follower] == 0:
                    self._ready.append(follower)
