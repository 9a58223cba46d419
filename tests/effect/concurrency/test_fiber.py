"""Fibers: Effect's cases of ``fork``, ``join`` and ``interrupt``; none outlives its scope."""

from __future__ import annotations

import asyncio
import logging
from typing import Any, Never

import anyio
import anyio.lowlevel
import pytest

from chatmemory.effect import (
    Cause,
    ClockTag,
    Context,
    Die,
    Do,
    Effect,
    EffectInterrupted,
    Fail,
    Failure,
    Fiber,
    Interrupt,
    Layer,
    ManagedRuntime,
    Scope,
    Success,
    SuspendedError,
    Tag,
    TestClock,
)
from tests.effect.concurrency.left_running import nothing_left_running, tasks
from tests.for_each import for_each

pytestmark = pytest.mark.anyio

INTERRUPTED: Failure[Any] = Failure(Cause((Interrupt(),)))


class Price(Tag[int]): ...


class Journal(list[str]):
    def note(self, line: str) -> Effect[None]:
        return Effect.sync(lambda: self.append(line))


def torn() -> Never:
    raise ValueError("torn")


async def test_join_ends_as_the_fiber_did_and_await_tells_how_that_was() -> None:
    assert await Effect.fail("no").fork().bind(Fiber.join) == Failure("no")
    assert await Effect.fail("no").fork().bind(Fiber.await_) == Success(Failure(Cause((Fail("no"),))))
    with pytest.raises(ValueError, match="torn"):
        await Effect.sync(torn).fork().bind(Fiber.join)
    exit_ = (await Effect.sync(torn).fork().bind(Fiber.await_)).unwrap()
    assert isinstance(exit_.failure().reasons[0], Die)


async def test_join_of_an_interrupted_fiber_is_an_interruption_and_no_failure() -> None:
    @Effect.gen
    async def program(do: Do[Never]) -> None:
        fiber = await do(Effect.never().fork())
        await do(fiber.interrupt())
        await do(fiber.join().lash(Effect.succeed))

    assert await program().exit() == Success(INTERRUPTED)
    with pytest.raises(EffectInterrupted):
        await program()
    journal = Journal()
    assert await journal.note("begun").fork().bind(Fiber.interrupt) == Success(INTERRUPTED)
    assert journal == []  # interrupted before it began


async def test_interrupt_waits_for_finalizers() -> None:
    journal = Journal()
    slow = Effect.promise(anyio.lowlevel.checkpoint).bind(lambda _: journal.note("finalized"))

    @Effect.gen
    async def program(do: Do[Never]) -> None:
        started = anyio.Event()
        fiber = await do(
            Effect.sync(started.set).bind(lambda _: Effect.never()).on_exit(lambda _: slow).fork()
        )
        await started.wait()
        assert fiber.poll() is None
        assert await do(fiber.interrupt()) == INTERRUPTED
        await do(journal.note("interrupted"))
        assert fiber.poll() == await do(fiber.interrupt()) == INTERRUPTED

    await program()
    assert journal == ["finalized", "interrupted"]


@for_each("end", [Effect.fail("no"), Effect.sync(torn), Effect.succeed(1)])
async def test_children_end_however_the_parent_ends(end: Effect[Any, Any]) -> None:
    journal = Journal()
    started = anyio.Event()
    child = Effect.sync(started.set).bind(lambda _: Effect.never()).on_exit(lambda _: journal.note("child"))
    async with nothing_left_running():
        await (
            child.fork()
            .bind(lambda _: Effect.promise(started.wait))
            .tap(lambda _: journal.note("parent"))
            .bind(lambda _: end)
            .fork()
            .bind(Fiber.await_)
        )
    assert journal == ["parent", "child"]


async def test_grandchildren_end_with_their_parent_and_not_later() -> None:
    @Effect.gen
    async def program(do: Do[Never]) -> Any:
        child = await do(Effect.never().fork().fork())  # it forks, and is over
        grandchild = await do(child.join())
        return grandchild.poll()

    assert await program() == Success(INTERRUPTED)


async def test_forks_of_a_branch_of_all_end_with_that_branch() -> None:
    fibers: list[Fiber[Never, Never]] = []

    @Effect.gen
    async def program(do: Do[Never]) -> None:
        forking = Effect.never().fork().map(fibers.append)
        await do(Effect.all([forking, forking], concurrency=2))
        assert [fiber.poll() for fiber in fibers] == [INTERRUPTED, INTERRUPTED]
        await do(Effect.all([forking], concurrency=1))
        assert fibers[2].poll() is None

    await program()


async def test_a_cancelled_parent_takes_its_children_along() -> None:
    journal = Journal()
    child = Effect.never().on_exit(lambda _: journal.note("child"))
    async with nothing_left_running():
        with anyio.CancelScope() as cancel_scope:
            async with anyio.create_task_group() as running:
                running.start_soon(child.fork().bind(lambda _: Effect.never()).or_raise)
                await anyio.wait_all_tasks_blocked()
                cancel_scope.cancel()
    assert journal == ["child"]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_native_cancel_takes_the_children_along_even_when_it_comes_twice() -> None:
    journal = Journal()
    let_go = anyio.Event()
    child = Effect.never().on_exit(
        lambda _: Effect.promise(let_go.wait).bind(lambda _: journal.note("child"))
    )
    async with nothing_left_running():
        parent = asyncio.create_task(child.fork().bind(lambda _: Effect.never()).or_raise())
        for _ in range(3):
            await anyio.wait_all_tasks_blocked()
            parent.cancel()
        assert not parent.done()
        let_go.set()
        with pytest.raises(asyncio.CancelledError):
            await parent
    assert journal == ["child"]


async def test_to_interrupt_who_joins_does_not_interrupt_the_fiber() -> None:
    clock = TestClock()

    @Effect.gen
    async def program(do: Do[Never]) -> int:
        fiber = await do(Effect.sleep(60).map(lambda _: 7).fork())
        joining = await do(fiber.join().fork())
        await anyio.wait_all_tasks_blocked()
        await do(joining.interrupt())
        await clock.advance(60)
        return await do(fiber.join())

    assert await program().provide(Context.of(ClockTag, clock)) == Success(7)


async def test_fork_in_lives_as_long_as_the_scope() -> None:
    journal = Journal()
    async with nothing_left_running():
        async with Scope() as scope:
            fiber = (await Effect.never().on_exit(lambda _: journal.note("fiber")).fork_in(scope)).unwrap()
            await anyio.wait_all_tasks_blocked()
            assert fiber.poll() is None
        assert fiber.poll() == INTERRUPTED
    assert journal == ["fiber"]


async def test_a_scope_interrupts_at_once_what_is_forked_when_it_is_closed_and_forgets_what_has_ended() -> (
    None
):
    journal = Journal()
    async with Scope() as scope:
        for number in range(10):
            await Effect.succeed(number).fork_in(scope).bind(Fiber.join)
        assert scope._finalizers == {}
    fiber = (await journal.note("begun").fork_in(scope)).unwrap()
    assert (fiber.poll(), journal) == (INTERRUPTED, [])


async def test_fork_scoped_ends_with_the_scoped_effect_around_it() -> None:
    journal = Journal()

    @Effect.gen
    async def program(do: Do[Never]) -> None:
        inner = Effect.never().on_exit(lambda _: journal.note("fiber")).fork_scoped()
        await do(inner.tap(lambda _: Effect.promise(anyio.wait_all_tasks_blocked)).scoped())
        await do(journal.note("after"))

    async with nothing_left_running():
        await program()
    assert journal == ["fiber", "after"]


async def test_a_defect_that_nobody_joins_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    @Effect.gen
    async def program(do: Do[Never]) -> None:
        for _ in range(3):
            await do(Effect.sync(torn).fork())
        seen = await do(Effect.sync(torn).fork())
        await do(seen.await_())
        await anyio.wait_all_tasks_blocked()

    with caplog.at_level(logging.ERROR):
        await program()
    assert [record.getMessage() for record in caplog.records] == [
        "a forked effect died and nobody joined it"
    ] * 3


async def test_without_an_event_loop_a_fiber_runs_at_once() -> None:
    assert Effect.succeed(1).fork().bind(Fiber.join).run_sync() == Success(1)
    assert Effect.fail("no").fork().bind(Fiber.interrupt).run_sync() == Success(Failure(Cause((Fail("no"),))))
    with pytest.raises(SuspendedError):
        Effect.never().fork().run_sync()


async def test_10_000_fibers_leave_nothing_behind() -> None:
    @Effect.gen
    async def program(do: Do[Never, Price]) -> int:
        fibers = [await do(Price.get().fork()) for _ in range(10_000)]
        assert tasks() > 10_000
        return sum([await do(fiber.join()) for fiber in fibers])

    async with ManagedRuntime(Layer.succeed(Price, 3)) as runtime, nothing_left_running():
        assert await runtime.run(program()) == Success(30_000)
