"""Finalizers, interruption, time and concurrency: Effect's cases."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Never

import anyio
import anyio.lowlevel
import pytest

from chatmemory.effect import (
    Cause,
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
from tests.for_each import for_each

pytestmark = pytest.mark.anyio


class Journal(list[Any]):
    def write(self, entry: object) -> Effect[None]:
        return Effect.sync(lambda: self.append(entry))

    def write_slowly(self, entry: object) -> Effect[None]:
        return sleeping(0.02).bind(lambda _: self.write(entry))

    def released(self, value: object, exit_: Exit[Any, Any]) -> Effect[None]:
        return self.write((value, exit_))


def sleeping(seconds: float) -> Effect[None]:
    return Effect.attempt(lambda: anyio.sleep(seconds), to=str)


forever = sleeping(60)


def defect(error: Exception) -> Effect[Any]:
    return Effect.fail_cause(Cause((Die(error),)))


async def interrupt(effect: Effect[Any, Any]) -> None:
    """Run *effect* until it waits, then cancel it."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(effect.exit().or_raise)
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()


async def test_timeout_a_long_computation() -> None:
    assert await forever.timeout(0.01, lambda: "too long") == Failure("too long")


async def test_timeout_lets_a_short_computation_end() -> None:
    assert await Effect.succeed(1).timeout(60, lambda: "too long") == Success(1)


async def test_timeout_interrupts_the_effect_and_waits_for_its_finalizers() -> None:
    journal = Journal()
    effect = forever.ensuring(journal.write_slowly("finalized"))
    assert await effect.timeout(0.01, lambda: "too long") == Failure("too long")
    assert journal == ["finalized"]


async def test_timeout_in_uninterruptible_region() -> None:
    with anyio.fail_after(5):
        assert await Effect.succeed(1).timeout(20, lambda: "too long").uninterruptible() == Success(1)


async def test_a_timeout_cannot_interrupt_what_is_uninterruptible() -> None:
    journal = Journal()
    effect = journal.write_slowly("done").uninterruptible()
    await effect.timeout(0.001, lambda: "too long")
    assert journal == ["done"]


async def test_acquire_use_release_happy_path() -> None:
    journal = Journal()
    effect = Effect.acquire_use_release(
        Effect.succeed("r"), lambda r: journal.write(f"use {r}").map(lambda _: 7), journal.released
    )
    assert await effect == Success(7)
    assert journal == ["use r", ("r", Success(7))]


async def test_acquire_use_release_error_handling() -> None:
    journal = Journal()
    effect = Effect.acquire_use_release(Effect.succeed("r"), lambda _: Effect.fail("use"), journal.released)
    assert await effect == Failure("use")
    assert journal == [("r", Failure(Cause((Fail("use"),))))]


async def test_acquire_use_release_releases_after_a_defect() -> None:
    journal, error = Journal(), ValueError("torn")
    effect = Effect.acquire_use_release(Effect.succeed("r"), lambda _: defect(error), journal.released)
    with pytest.raises(ValueError, match="torn"):
        await effect
    assert journal == [("r", Failure(Cause((Die(error),))))]


async def test_what_was_not_acquired_is_not_released() -> None:
    journal = Journal()
    effect = Effect.acquire_use_release(Effect.fail("acquire"), journal.write, journal.released)
    assert await effect == Failure("acquire")
    assert journal == []


async def test_acquire_use_release_interrupt_waits_until_acquired() -> None:
    journal = Journal()
    acquire = journal.write_slowly("acquired")
    await interrupt(
        Effect.acquire_use_release(acquire, lambda _: forever, lambda *_: journal.write("released"))
    )
    assert journal == ["acquired", "released"]


async def test_release_runs_when_use_is_interrupted() -> None:
    journal = Journal()
    await interrupt(Effect.acquire_use_release(Effect.succeed("r"), lambda _: forever, journal.released))
    assert journal == [("r", Failure(Cause((Interrupt(),))))]


async def test_interrupt_waits_for_finalizer() -> None:
    journal = Journal()
    await interrupt(forever.ensuring(journal.write_slowly("finalized")))
    assert journal == ["finalized"]


async def test_finalizer_errors_not_caught() -> None:
    release = ValueError("release")

    def rescue(_: object) -> Effect[Any]:
        raise AssertionError

    with pytest.raises(ValueError, match="release") as caught:
        await defect(OSError("use")).ensuring(defect(release)).lash(rescue)
    assert isinstance(caught.value.__context__, OSError)


async def test_finalizer_errors_reported() -> None:
    release = ValueError("release")
    assert await Effect.succeed(1).ensuring(defect(release)).exit() == Success(
        Failure(Cause((Die(release),)))
    )


@for_each(
    ("effect", "exit_"),
    [
        (Effect.succeed(1), Success(1)),
        (Effect.fail("a"), Failure(Cause((Fail("a"),)))),
        (defect(error := ValueError("torn")), Failure(Cause((Die(error),)))),
    ],
)
async def test_on_exit_is_told_how_the_effect_ended(effect: Effect[Any, Any], exit_: Exit[Any, Any]) -> None:
    journal = Journal()
    await effect.on_exit(journal.write).exit()
    assert journal == [exit_]


async def test_on_exit_observes_interrupt_exit() -> None:
    journal = Journal()
    await interrupt(forever.on_exit(journal.write))
    assert journal == [Failure(Cause((Interrupt(),)))]


async def test_ensuring_order() -> None:
    journal = Journal()
    await journal.write("body").ensuring(journal.write("inner")).ensuring(journal.write("outer"))
    assert journal == ["body", "inner", "outer"]


async def test_all_keeps_the_order_of_the_values() -> None:
    def after(seconds: float) -> Effect[float]:
        return sleeping(seconds).map(lambda _: seconds)

    spans = [0.02, 0.0, 0.01]
    assert await Effect.all(map(after, spans), concurrency=None) == Success(spans)
    assert await Effect.all(map(after, spans)) == Success(spans)
    assert await Effect.all([]) == Success([])


@for_each("concurrency", [1, 2, None])
async def test_all_of_a_tuple_gives_a_tuple(concurrency: int | None) -> None:
    pair = Effect.all((Effect.succeed(1), Effect.succeed("two")), concurrency=concurrency)
    assert await pair == await pair == Success((1, "two"))
    nothing: tuple[Effect[int], ...] = ()
    assert await Effect.all(nothing, concurrency=concurrency) == Success(())
    assert await Effect.all((Effect.succeed(1), Effect.fail("no")), concurrency=concurrency) == Failure("no")


async def test_all_can_run_twice() -> None:
    effect = Effect.all(Effect.succeed(number) for number in range(3))
    assert await effect == await effect == Success([0, 1, 2])


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
    late = sleeping(0.01).bind(lambda _: failing())
    with anyio.fail_after(5):
        exit_ = await Effect.all([sibling, late, journal.write("never")], concurrency=2).exit()
    assert journal == [Failure(Cause((Interrupt(),)))]
    assert exit_ == await failing().exit() or isinstance(exit_.unwrap().failure().reasons[0], Die)


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


async def test_a_defect_comes_through_a_timeout_as_it_is() -> None:
    with pytest.raises(ZeroDivisionError):
        await Effect.sync(lambda: 1 // 0).timeout(60, lambda: "too long")
