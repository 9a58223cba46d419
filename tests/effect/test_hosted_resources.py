"""Resources in tasks of their own: what they see, the order in which they start, and what becomes of interrupted ones."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from contextvars import ContextVar
from functools import reduce
from operator import or_
from typing import Any

import anyio
import pytest

from chatmemory.effect import Layer, ManagedRuntime, MemoMap, MissingServiceError, Tag
from tests.effect.numbered_layers import One, Three, Two, build_and_interrupt

pytestmark = pytest.mark.anyio

SETTER: ContextVar[str] = ContextVar("SETTER", default="nobody")

Open = Callable[..., AbstractAsyncContextManager[int]]


def opening(journal: list[str], name: str) -> Open:
    @asynccontextmanager
    async def open_(*_: Any) -> AsyncGenerator[int]:
        journal.append(f"open {name}")
        yield 0
        journal.append(f"close {name}")

    return open_


async def test_a_resource_sees_the_variables_of_its_builder_and_not_those_of_another_resource() -> None:
    seen: dict[str, str] = {}

    def setting(name: str) -> Open:
        @asynccontextmanager
        async def open_(*_: Any) -> AsyncGenerator[int]:
            seen[name] = SETTER.get()
            before = SETTER.set(name)
            yield 0
            SETTER.reset(before)  # fails in any context but the one that it was set in

        return open_

    SETTER.set("builder")
    one, two = Layer.scoped(One, setting("one")), Layer.scoped(Two, setting("two"), One)
    three = Layer.scoped(Three, setting("three"))
    async with ManagedRuntime((one >> two) | three):
        pass
    assert seen == {"one": "builder", "two": "builder", "three": "builder"}


async def test_an_effect_after_a_resource_sees_the_variables_of_its_builder() -> None:
    @asynccontextmanager
    async def set_it() -> AsyncGenerator[int]:
        SETTER.set("resource")
        yield 0

    SETTER.set("builder")
    two = Layer.sync(Two, lambda: len(SETTER.get()))
    async with ManagedRuntime(Layer.scoped(One, set_it) >> two.passthrough(One)) as runtime:
        assert await runtime.service(Two) == len("builder")


async def test_a_resource_is_opened_and_entered_and_left_in_one_task() -> None:
    tasks: list[int] = []

    def open_() -> AbstractAsyncContextManager[int]:
        tasks.append(anyio.get_current_task().id)
        return enter()

    @asynccontextmanager
    async def enter() -> AsyncGenerator[int]:
        tasks.append(anyio.get_current_task().id)
        yield 0
        tasks.append(anyio.get_current_task().id)

    async with ManagedRuntime(Layer.scoped(One, open_)):
        tasks.append(anyio.get_current_task().id)
    opened, entered, used, left = tasks
    assert opened == entered == left != used


async def test_independent_resources_start_from_left_to_right_and_end_in_reverse_order() -> None:
    journal: list[str] = []
    one, two, three = (
        Layer.scoped(tag, opening(journal, name)) for tag, name in ((One, "1"), (Two, "2"), (Three, "3"))
    )
    async with ManagedRuntime(one | two | three):
        assert journal == ["open 1", "open 2", "open 3"]
    assert journal[3:] == ["close 3", "close 2", "close 1"]


async def test_a_resource_that_waits_holds_up_only_what_needs_it() -> None:
    is_other_open, journal = anyio.Event(), list[str]()

    @asynccontextmanager
    async def waits() -> AsyncGenerator[int]:
        await is_other_open.wait()
        yield 0

    @asynccontextmanager
    async def other() -> AsyncGenerator[int]:
        is_other_open.set()
        yield 0

    slow = Layer.scoped(One, waits) >> Layer.scoped(Two, opening(journal, "2"), One)
    with anyio.fail_after(5):
        async with ManagedRuntime(slow | Layer.scoped(Three, other)):
            assert journal == ["open 2"]


async def test_whoever_waits_opens_the_resource_when_the_first_builder_is_interrupted() -> None:
    journal, memo, started = list[str](), MemoMap(), anyio.Event()

    @asynccontextmanager
    async def slow_the_first_time() -> AsyncGenerator[int]:
        journal.append("open")
        if not started.is_set():
            started.set()
            try:
                await anyio.sleep_forever()
            finally:
                journal.append("interrupted")
        yield 7
        journal.append("close")

    layer = Layer.scoped(One, slow_the_first_time)

    async def wait_for_it() -> None:
        async with ManagedRuntime(layer, memo) as runtime:
            assert await runtime.service(One) == 7

    async with anyio.create_task_group() as tasks:
        first = anyio.CancelScope()

        async def interrupted() -> None:
            with first:
                async with ManagedRuntime(layer, memo):
                    pass

        tasks.start_soon(interrupted)
        await started.wait()
        tasks.start_soon(wait_for_it)
        await anyio.wait_all_tasks_blocked()
        first.cancel()
    assert journal == ["open", "interrupted", "open", "close"]


async def test_a_shield_around_the_opening_holds_off_an_interruption() -> None:
    journal, is_shielded = list[str](), anyio.Event()

    @asynccontextmanager
    async def migrates_first() -> AsyncGenerator[int]:
        with anyio.CancelScope(shield=True):
            is_shielded.set()
            await anyio.wait_all_tasks_blocked()
            journal.append("migrated")
        await anyio.lowlevel.checkpoint()
        journal.append("entered")
        yield 0

    await build_and_interrupt(Layer.scoped(One, migrates_first), is_shielded)
    assert journal == ["migrated"]


async def test_an_interruption_begins_no_further_resource_and_leaves_none_open() -> None:
    journal: list[str] = []
    builder = anyio.CancelScope()

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
    opened = [entry.removeprefix("open ") for entry in journal if entry.startswith("open")]
    closed = [entry.removeprefix("close ") for entry in journal if entry.startswith("close")]
    assert sorted(opened) == sorted(closed)
    assert len(opened) < 5


async def test_an_opening_function_that_fails_is_the_failure_of_the_layer() -> None:
    def fails() -> AbstractAsyncContextManager[int]:
        raise ZeroDivisionError

    journal: list[str] = []
    with pytest.raises(ZeroDivisionError):
        async with ManagedRuntime(Layer.scoped(Two, opening(journal, "2")) | Layer.scoped(One, fails)):
            pass
    assert journal == ["open 2", "close 2"]


async def test_a_service_that_is_missing_in_an_opening_function_is_named_with_its_layer() -> None:
    def asks() -> AbstractAsyncContextManager[int]:
        raise MissingServiceError(Two.key)

    with pytest.raises(MissingServiceError, match="Two, needed by layer One"):
        async with ManagedRuntime(Layer.scoped(One, asks)):
            pass
