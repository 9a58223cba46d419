"""Resources that are released one after the other: each by its own task, which goes on with the next."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import reduce
from operator import or_, rshift
from typing import Any

import anyio
import pytest

from chatmemory.effect import Effect, Layer, ManagedRuntime, MemoMap, Tag
from tests.effect.numbered_layers import One, Three, Two
from tests.for_each import for_each

pytestmark = pytest.mark.anyio


class Journal(list[str]):
    def resource(
        self, tag: Any, *needs: Any, waits: bool = False, fails: bool = False
    ) -> Layer[Any, Any, Any]:
        @asynccontextmanager
        async def open_(*_: Any) -> AsyncGenerator[str]:
            yield tag.__name__
            if waits:
                await anyio.lowlevel.checkpoint()
            self.append(tag.__name__)
            if fails:
                raise RuntimeError(tag.__name__)

        return Layer.scoped(tag, open_, *needs)

    def effect(self, tag: Any) -> Layer[Any]:
        async def release() -> Any:
            await anyio.lowlevel.checkpoint()
            self.append(
                f"{tag.__name__} in {'the' if task == anyio.get_current_task().id else 'another'} task"
            )
            return await Effect.succeed(None)

        task = anyio.get_current_task().id
        return Layer.acquire_release(
            tag, Effect.succeed(tag.__name__), lambda _, __: Effect.from_outcome(release)
        )


async def open_and_close(layer: Layer[Any, Any], memo: MemoMap | None = None) -> None:
    async with ManagedRuntime(layer, memo):
        pass


@for_each("waits", [False, True])
@for_each("graph", [or_, rshift])
async def test_many_are_released_in_reverse_order(graph: Any, *, waits: bool) -> None:
    journal = Journal()
    tags: list[Any] = [type(f"Service{number}", (Tag,), {}) for number in range(100)]
    await open_and_close(reduce(graph, [journal.resource(tag, waits=waits) for tag in tags]))
    assert journal == [tag.__name__ for tag in reversed(tags)]


async def test_an_effect_between_two_resources_is_run_in_its_turn_by_the_task_that_closes() -> None:
    journal = Journal()
    await open_and_close(journal.resource(One) | journal.effect(Two) | journal.resource(Three))
    assert journal == ["Three", "Two in the task", "One"]


async def test_a_failing_release_stops_none_of_those_that_follow() -> None:
    journal = Journal()
    layers = journal.resource(One, fails=True) | journal.resource(Two) | journal.resource(Three, fails=True)
    with pytest.raises(BaseExceptionGroup) as caught:
        await open_and_close(layers)
    assert journal == ["Three", "Two", "One"]
    assert [str(failure) for failure in caught.value.exceptions] == ["Three", "One"]


async def test_a_resource_that_has_ended_by_itself_is_passed_over_and_its_failure_raised() -> None:
    journal, breaks, is_broken = Journal(), anyio.Event(), anyio.Event()

    async def break_() -> None:
        await breaks.wait()
        raise ZeroDivisionError

    @asynccontextmanager
    async def broken() -> AsyncGenerator[int]:
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(break_)
                yield 0
        finally:
            is_broken.set()

    async def use() -> None:
        async with ManagedRuntime(
            journal.resource(One) | Layer.scoped(Two, broken) | journal.resource(Three)
        ):
            breaks.set()
            await is_broken.wait()
            await anyio.wait_all_tasks_blocked()

    with pytest.raises(ExceptionGroup) as caught:
        await use()
    assert caught.group_contains(ZeroDivisionError)
    assert journal == ["Three", "One"]


async def test_a_resource_that_another_runtime_uses_stays_open_while_its_neighbours_are_released() -> None:
    journal, memo = Journal(), MemoMap()
    one, two, three = journal.resource(One), journal.resource(Two), journal.resource(Three)
    async with ManagedRuntime(two, memo):
        await open_and_close(one | two | three, memo)
        assert journal == ["Three", "One"]
    assert journal == ["Three", "One", "Two"]
