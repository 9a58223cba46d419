"""Finalizers, interruption, time and concurrency: Effect's cases."""

from collections.abc import Callable
from typing import Any, Never

import anyio
import anyio.lowlevel
import pytest

from chatmemory.effect import (
    ClockTag,
    Context,
    Die,
    Effect,
    Exit,
    Fail,
    Failure,
    Interrupt,
    Outcome,
    Success,
    TestClock,
)
from tests.effect.numbered_layers import Journal, waiting
from tests.for_each import for_each
from tests.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.anyio

INTERRUPTED: Failure[Any] = Failure(Interrupt())


forever: Effect[Any] = Effect.never()


def defect(error: Exception) -> Effect[Any]:
    async def die() -> Outcome[Any, Never]:
        raise error

    return Effect.from_outcome(die)


async def interrupt(effect: Effect[Any, Any]) -> None:
    """Run *effect* until it waits, then cancel it."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(effect.exit().or_raise)
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()


async def test_a_timeout_interrupts_the_effect_and_waits_for_its_finalizers() -> None:
    journal = Journal()
    effect = forever.on_exit(journal.write_slowly)
    assert await effect.timeout(0.01, lambda: "too long") == Failure("too long")
    assert journal == [INTERRUPTED]
    assert await Effect.succeed(1).timeout(60, lambda: "too long") == Success(1)
    with pytest.raises(ZeroDivisionError):
        await Effect.sync(lambda: 1 // 0).timeout(60, lambda: "too long")


async def test_an_interruption_waits_for_the_finalizer() -> None:
    journal = Journal()
    await interrupt(forever.on_exit(journal.write_slowly))
    assert journal == [INTERRUPTED]


async def test_a_finalizer_that_dies_is_what_the_effect_dies_of() -> None:
    release = ValueError("release")
    assert await Effect.succeed(1).on_exit(lambda _: defect(release)).exit() == Success(Failure(Die(release)))
    with pytest.raises(ValueError, match="release") as caught:
        await defect(OSError("use")).on_exit(lambda _: defect(release)).lash(Effect.succeed)
    assert isinstance(caught.value.__context__, OSError)


@for_each(
    ("effect", "exit_"),
    [
        (Effect.succeed(1), Success(1)),
        (Effect.fail("a"), Failure(Fail("a"))),
        (defect(error := ValueError("torn")), Failure(Die(error))),
    ],
)
async def test_on_exit_is_told_how_the_effect_ended_the_inner_one_first(
    effect: Effect[Any, Any], exit_: Exit[Any, Any]
) -> None:
    journal = Journal()
    await effect.on_exit(journal.write).on_exit(lambda _: journal.write("outer")).exit()
    assert journal == [exit_, "outer"]


async def test_all_keeps_the_order_of_the_values_and_can_run_twice() -> None:
    later = anyio.Event()
    first = Effect.promise(later.wait).map(lambda _: 1)
    second = Effect.sync(later.set).map(lambda _: 2)
    assert await Effect.all([first, second], concurrency=None) == Success([1, 2])
    generated = Effect.all(Effect.succeed(number) for number in range(3))
    assert await generated == await generated == Success([0, 1, 2])
    assert await Effect.all([]) == Success([])


@for_each("concurrency", [1, 2, None])
async def test_all_of_a_tuple_gives_a_tuple(concurrency: int | None) -> None:
    pair = Effect.all((Effect.succeed(1), Effect.succeed("two")), concurrency=concurrency)
    assert await pair == await pair == Success((1, "two"))
    nothing: tuple[Effect[int], ...] = ()
    assert await Effect.all(nothing, concurrency=concurrency) == Success(())
    assert await Effect.all((Effect.succeed(1), Effect.fail("no")), concurrency=concurrency) == Failure("no")


@for_each(("concurrency", "most"), [(1, 1), (3, 3), (None, 10)])
async def test_all_runs_at_most_so_many_at_once(concurrency: int | None, most: int) -> None:
    running, peak = 0, 0

    async def step() -> Success[None]:
        nonlocal running, peak
        running += 1
        peak = max(peak, running)
        for _ in range(20):
            await anyio.lowlevel.checkpoint()
        running -= 1
        return Success(None)

    await Effect.all([Effect.from_outcome(step)] * 10, concurrency=concurrency)
    assert peak == most


@for_each("failing", [lambda: Effect.fail("broken"), lambda: defect(ValueError("torn"))])
async def test_concurrency_interrupts_started_siblings_on_failure(
    failing: Callable[[], Effect[Any, str]],
) -> None:
    journal = Journal()
    sibling = forever.on_exit(journal.write_slowly)
    late = waiting.bind(lambda _: failing())
    with anyio.fail_after(PATIENCE_SECONDS):
        exit_ = await Effect.all([sibling, late, journal.write("never")], concurrency=2).exit()
    assert journal == [INTERRUPTED]
    assert exit_ == await failing().exit() or isinstance(exit_.unwrap().failure(), Die)


async def test_a_timeout_goes_by_the_clock_at_hand() -> None:
    clock = TestClock()
    outcomes: list[Outcome[Never, str]] = []

    async def wait() -> None:
        outcomes.append(await forever.timeout(3600, lambda: "too long").provide(Context.of(ClockTag, clock)))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        await clock.advance(3599)
        assert outcomes == []
        await clock.advance(1)
        assert outcomes == [Failure("too long")]
