"""What was opened is released in reverse order: at the end, after a failure, after a cancellation at any await."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from contextvars import ContextVar
from functools import reduce
from operator import or_, rshift
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from chatmemory.effect import (
    Effect,
    EffectFailed,
    Layer,
    ManagedRuntime,
    MissingServiceError,
    Tag,
)
from tests.effect.numbered_layers import (
    TAGS,
    Journal,
    One,
    Three,
    Two,
    build_and_release,
)
from tests.for_each import for_each
from tests.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.anyio

SETTER: ContextVar[str] = ContextVar("SETTER", default="nobody")

Open = Callable[..., AbstractAsyncContextManager[Any]]
Step = Callable[[], Awaitable[object]]


def opening(
    journal: list[str], name: object, *, step: Step = anyio.lowlevel.checkpoint, fails: bool = False
) -> Open:
    """A resource with a task group of its own, which must be left in the task that entered it."""

    @asynccontextmanager
    async def open_(*_: Any) -> AsyncGenerator[Any]:
        async with anyio.create_task_group() as tasks:
            await step()
            journal.append(f"a{name}")
            try:
                await step()
                yield name
            finally:
                with anyio.CancelScope(shield=True):
                    await step()
                journal.append(f"r{name}")
                tasks.cancel_scope.cancel()
        if fails:
            raise OSError(f"{name} is torn")

    return open_


def resource(journal: list[str], number: int, *needs: Any, fails: bool = False) -> Layer[Any]:
    return Layer.scoped(TAGS[number], opening(journal, number, fails=fails), *needs)


async def at_once() -> None:
    """Wait for nothing."""


@for_each("graph", [or_, rshift])
@for_each("step", [at_once, anyio.lowlevel.checkpoint])
async def test_many_are_opened_from_left_to_right_and_released_in_reverse_order(
    graph: Any, step: Step
) -> None:
    journal = list[str]()
    tags: list[Any] = [type(f"Service{number}", (Tag,), {}) for number in range(100)]
    layers = [Layer.scoped(tag, opening(journal, tag.__name__, step=step)) for tag in tags]
    names = [tag.__name__ for tag in tags]
    async with ManagedRuntime(reduce(graph, layers)):
        assert journal == [f"a{name}" for name in names]
    assert journal[100:] == [f"r{name}" for name in reversed(names)]


class Cancels:
    """An await of the layers, which cancels who builds or uses them when it is reached for the n-th time."""

    def __init__(self, at: int) -> None:
        self.left = at
        self.scope = anyio.CancelScope()

    async def __call__(self) -> None:
        self.left -= 1
        if self.left == 0:
            self.scope.cancel()
        await anyio.lowlevel.checkpoint()


def three_layers(journal: Journal, step: Step) -> Layer[Any]:
    one, three = (Layer.scoped(TAGS[number], opening(journal, number, step=step)) for number in (1, 3))
    waits = Layer.effect(Two, Effect.promise(step).map(lambda _: 2), needs=[One])
    return one >> waits >> three


async def test_a_cancellation_at_any_await_releases_whatever_was_acquired_and_its_consumer_first() -> None:
    for at in range(1, 100):
        journal, step = Journal(), Cancels(at)
        with anyio.fail_after(PATIENCE_SECONDS), step.scope:
            async with ManagedRuntime(three_layers(journal, step)):
                await step()
        acquired = [entry[1] for entry in journal if entry[0] == "a"]
        assert [entry[1] for entry in journal if entry[0] == "r"] == acquired[::-1], at
        if step.left > 0:  # nothing was cancelled any more
            break
    assert at == 9


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_second_native_cancel_during_the_release_changes_nothing() -> None:
    journal, built, releasing, goes_on = Journal(), asyncio.Event(), asyncio.Event(), asyncio.Event()

    @asynccontextmanager
    async def slow_to_leave(_: int) -> AsyncGenerator[int]:
        yield 0
        releasing.set()
        await goes_on.wait()
        journal.append("r2")

    async def use() -> None:
        async with ManagedRuntime(resource(journal, 1) >> Layer.scoped(Two, slow_to_leave, One)):
            built.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(use())
    await built.wait()
    task.cancel()
    await releasing.wait()
    task.cancel()
    await anyio.wait_all_tasks_blocked()
    assert journal == ["a1"]
    goes_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert journal == ["a1", "r2", "r1"]


async def test_a_failing_acquire_is_raised_bare_after_the_release_of_the_others() -> None:
    def fails() -> AbstractAsyncContextManager[int]:
        raise ZeroDivisionError

    @asynccontextmanager
    async def fails_later() -> AsyncGenerator[int]:
        await anyio.lowlevel.checkpoint()
        raise ZeroDivisionError
        yield 0

    for open_ in (fails, fails_later):
        journal = Journal()
        with pytest.raises(ZeroDivisionError):
            await build_and_release(resource(journal, 1).feed_keep(Layer.scoped(Two, open_)))
        assert journal == ["a1", "r1"]
    with pytest.raises(OSError, match="disk full"):  # as is what the body raises
        async with ManagedRuntime(resource(journal, 1)):
            raise OSError("disk full")


async def test_the_first_failure_begins_no_other() -> None:
    journal = Journal()
    fails = Layer.effect(Two, Effect.fail("broken"))
    with pytest.raises(EffectFailed, match="broken"):
        await build_and_release(journal.layer(1) | fails | journal.layer(3))
    assert journal == ["a1", "r1"]


async def test_a_failing_release_stops_none_of_those_that_follow() -> None:
    journal = Journal()
    with pytest.raises(OSError, match="3 is torn"):
        await build_and_release(resource(journal, 1) | resource(journal, 3, fails=True))
    assert journal[2:] == ["r3", "r1"]
    journal.clear()
    two_fail = resource(journal, 1, fails=True) | resource(journal, 2) | resource(journal, 3, fails=True)
    with pytest.raises(OSError, match="1 is torn") as caught:  # the last one, behind the others
        await build_and_release(two_fail)
    assert journal[3:] == ["r3", "r2", "r1"]
    assert str(caught.value.__context__) == "3 is torn"


async def test_what_cannot_be_closed_after_a_failed_opening_is_noted_on_the_failure() -> None:
    broken = Layer.effect(Two, Effect.fail("broken"))
    with pytest.raises(EffectFailed, match="broken") as caught:
        await build_and_release(resource(Journal(), 1, fails=True) | broken)
    assert caught.value.__notes__ == ["what was open could not be closed either: OSError('1 is torn')"]


async def test_a_body_that_failed_is_the_context_of_a_release_that_fails() -> None:
    two_fail = resource(Journal(), 1, fails=True) | resource(Journal(), 3, fails=True)
    with pytest.raises(OSError, match="1 is torn") as caught:
        async with ManagedRuntime(two_fail):
            raise KeyError("body")
    earlier = caught.value.__context__
    assert str(earlier) == "3 is torn"
    assert isinstance(earlier and earlier.__context__, KeyError)


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
        async with ManagedRuntime(resource(journal, 1) | Layer.scoped(Two, broken) | resource(journal, 3)):
            breaks.set()
            await is_broken.wait()
            await anyio.wait_all_tasks_blocked()

    with pytest.raises(ExceptionGroup) as caught:
        await use()
    assert caught.group_contains(ZeroDivisionError)
    assert journal[2:] == ["r3", "r1"]


async def test_a_resource_of_the_parent_stays_open_while_its_neighbours_in_a_child_are_released() -> None:
    journal = Journal()
    one, two, three = (resource(journal, number) for number in (1, 2, 3))
    async with ManagedRuntime(two) as runtime:
        async with runtime.child(one | two | three):
            assert len(journal) == 3
        assert journal[3:] == ["r3", "r1"]
    assert journal[3:] == ["r3", "r1", "r2"]


async def test_one_task_opens_and_leaves_all_with_the_variables_of_its_builder() -> None:
    seen, tasks = list[str](), set[int]()

    @asynccontextmanager
    async def setting(*_: object) -> AsyncGenerator[int]:
        seen.append(SETTER.get())
        tasks.add(anyio.get_current_task().id)
        before = SETTER.set("resource")
        yield 0
        tasks.add(anyio.get_current_task().id)
        SETTER.reset(before)  # fails in any context but the one that it was set in

    SETTER.set("builder")
    async with ManagedRuntime(Layer.scoped(One, setting) >> Layer.scoped(Three, setting, One)):
        assert SETTER.get() == seen[0] == "builder"
    assert len(tasks) == 1
    assert anyio.get_current_task().id not in tasks


async def test_a_shield_around_the_opening_holds_off_an_interruption() -> None:
    journal, is_shielded = Journal(), anyio.Event()

    @asynccontextmanager
    async def migrates_first() -> AsyncGenerator[int]:
        with anyio.CancelScope(shield=True):
            is_shielded.set()
            await anyio.wait_all_tasks_blocked()
            journal.append("migrated")
        await anyio.lowlevel.checkpoint()
        journal.append("entered")
        yield 0

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(build_and_release, Layer.scoped(One, migrates_first))
        await is_shielded.wait()
        tasks.cancel_scope.cancel()
    assert journal == ["migrated"]


async def test_an_interruption_begins_no_further_resource_and_leaves_none_open() -> None:
    journal, builder = Journal(), anyio.CancelScope()

    @asynccontextmanager
    async def interrupts() -> AsyncGenerator[int]:
        builder.cancel()
        yield 0

    tags: list[Any] = [type(f"Service{number}", (Tag,), {}) for number in range(50)]
    layers: list[Any] = [Layer.scoped(One, interrupts)]
    layers += [Layer.scoped(tag, opening(journal, tag.__name__)) for tag in tags]
    with builder:
        async with ManagedRuntime(reduce(or_, layers)):
            raise AssertionError("built in spite of the interruption")
    assert len(journal) < 10
    assert sorted(entry for entry in journal if entry[0] == "a") == sorted(
        f"a{entry[1:]}" for entry in journal if entry[0] == "r"
    )


async def test_a_service_that_is_missing_in_an_opening_function_is_named_with_its_layer() -> None:
    def asks() -> AbstractAsyncContextManager[int]:
        raise MissingServiceError(Two.key)

    with pytest.raises(MissingServiceError, match="Two, needed by layer One"):
        await build_and_release(Layer.scoped(One, asks))
