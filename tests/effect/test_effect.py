"""Effects as values: making, composing, recovering, running."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from returns.future import FutureResult
from returns.pipeline import flow, pipe
from returns.pointfree import alt, bind, lash, map_

from chatmemory.effect import (
    Cause,
    Context,
    Die,
    Do,
    Effect,
    EffectFailed,
    Fail,
    Failure,
    Outcome,
    Success,
    SuspendedError,
    Tag,
    catch,
)

pytestmark = pytest.mark.anyio


class NotFoundError(Exception):
    pass


class RefusedError(Exception):
    pass


class Price(Tag[int]): ...


async def two() -> int:
    await anyio.lowlevel.checkpoint()
    return 2


async def torn() -> int:
    raise ValueError("torn")


def defect() -> Effect[int]:
    return Effect.from_outcome(lambda: _raise(ValueError("torn")))


async def _raise(exception: Exception) -> Outcome[Any, Any]:
    raise exception


async def test_an_effect_runs_when_awaited_and_again_when_awaited_again() -> None:
    runs: list[int] = []
    effect = Effect.sync(lambda: runs.append(1))
    assert runs == []
    await effect
    await effect
    assert runs == [1, 1]


async def test_an_effect_that_is_printed_says_how_it_is_run() -> None:
    effect = Effect.succeed(1).map(str)
    assert repr(effect).endswith(": runs when it is awaited; where a coroutine is wanted, give effect.run()>")
    assert await effect == Success("1")


async def test_an_effect_goes_into_a_task_by_its_run() -> None:
    outcomes: list[object] = []
    effect = Effect.sync(lambda: outcomes.append(1))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(effect.run)
    assert outcomes == [1]
    assert await effect.run() == Success(None)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_task_of_asyncio_takes_the_coroutine_and_names_it_otherwise(anyio_backend: str) -> None:
    assert await asyncio.create_task(Effect.succeed(1).run()) == Success(1)
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(Effect.fail("no").run())
    assert task.result() == Failure("no")
    effect: Any = Effect.succeed(1)
    with pytest.raises(TypeError, match=r"effect\.run\(\)"):
        await asyncio.create_task(effect)


async def test_map_bind_alt_lash() -> None:
    assert await Effect.succeed(1).map(str) == Success("1")
    assert await Effect.succeed(1).bind(lambda one: Effect.fail(one + 1)) == Failure(2)
    assert await Effect.fail("a").alt(str.upper) == Failure("A")
    assert await Effect.fail("a").lash(lambda error: Effect.succeed(error * 2)) == Success("aa")
    assert await Effect.fail("a").map(len).bind(Effect.succeed) == Failure("a")
    assert await Effect.succeed("a").alt(len).lash(Effect.fail) == Success("a")


async def test_tap_and_tap_error_keep_what_they_look_at() -> None:
    seen: list[object] = []

    def look(value: object) -> Effect[None]:
        return Effect.sync(lambda: seen.append(value))

    assert await Effect.succeed(1).tap(look).tap_error(look) == Success(1)
    assert await Effect.fail("a").tap(look).tap_error(look) == Failure("a")
    assert seen == [1, "a"]
    assert await Effect.succeed(1).tap(lambda _: Effect.fail("b")) == Failure("b")


async def test_attempt_names_the_exceptions_that_become_failures() -> None:
    assert await Effect.attempt(two, ValueError, to=str) == Success(2)
    assert await Effect.attempt(torn, ValueError, to=str) == Failure("torn")
    assert Effect.attempt_sync(lambda: int("x"), ValueError, to=type).run_sync() == Failure(ValueError)
    with pytest.raises(ValueError, match="torn"):
        await Effect.attempt(torn, OSError, to=str)


async def test_defects_pass_through_everything_but_exit() -> None:
    def rescue(_: object) -> Effect[int]:
        raise AssertionError

    through: list[Callable[[Effect[int]], Effect[Any, Any]]] = [
        lambda effect: effect.map(str),
        lambda effect: effect.lash(rescue),
        lambda effect: effect.tap_error(rescue),
        lambda effect: effect.pipe(catch(ValueError, rescue)),
        lambda effect: Effect.all([effect, effect], concurrency=2),
    ]
    for way in through:
        with pytest.raises(ValueError, match="torn"):
            await way(defect())
    outcome = await defect().exit()
    assert isinstance(outcome.unwrap().failure().reasons[0], Die)


async def test_exit_tells_success_and_failure() -> None:
    assert await Effect.succeed(1).exit() == Success(Success(1))
    assert await Effect.fail("a").exit() == Success(Failure(Cause((Fail("a"),))))


async def test_cancellation_passes_through_exit() -> None:
    with anyio.move_on_after(0.01) as timer:
        await Effect.attempt(anyio.sleep_forever, to=str).exit()
    assert timer.cancelled_caught


async def test_catch_cause_recovers_from_a_defect() -> None:
    assert await defect().catch_cause(lambda cause: Effect.succeed(len(cause.reasons))) == Success(1)
    assert await Effect.succeed(1).catch_cause(lambda _: Effect.succeed(2)) == Success(1)
    with pytest.raises(ValueError, match="torn"):
        await defect().catch_cause(Effect.fail_cause)


async def test_catch_tag_recovers_from_its_class() -> None:
    effect: Effect[str, NotFoundError | RefusedError] = Effect.fail(NotFoundError())
    assert await catch(NotFoundError, lambda _: Effect.succeed("found"))(effect) == Success("found")


async def test_catch_tag_leaves_other_classes_alone() -> None:
    error = RefusedError()
    effect: Effect[str, NotFoundError | RefusedError] = Effect.fail(error)
    assert await effect.pipe(catch(NotFoundError, lambda _: Effect.succeed("found"))) == Failure(error)


async def test_catch_tags_or_else() -> None:
    def recovered(
        error: NotFoundError | RefusedError | OSError,
    ) -> Effect[str, NotFoundError | RefusedError | OSError]:
        effect: Effect[str, NotFoundError | RefusedError | OSError] = Effect.fail(error)
        return (
            effect.pipe(catch(NotFoundError, lambda _: Effect.succeed("found")))
            .pipe(catch(RefusedError, lambda _: Effect.succeed("allowed")))
            .lash(lambda _: Effect.succeed("or else"))
        )

    assert [await recovered(error) for error in (NotFoundError(), RefusedError(), OSError())] == [
        Success("found"),
        Success("allowed"),
        Success("or else"),
    ]


async def test_turns_a_throwing_catch_mapper_into_a_defect() -> None:
    def throw(_: NotFoundError) -> Effect[str]:
        raise ValueError("torn")

    with pytest.raises(ValueError, match="torn"):
        await catch(NotFoundError, throw)(Effect.fail(NotFoundError()))


async def test_or_raise_gives_the_value_or_raises() -> None:
    assert await Effect.succeed(1).or_raise() == 1
    with pytest.raises(NotFoundError):
        await Effect.fail(NotFoundError()).or_raise()
    with pytest.raises(EffectFailed, match="no such thing") as caught:
        await Effect.fail("no such thing").or_raise()
    assert caught.value.error == "no such thing"


async def test_provide_gives_the_services() -> None:
    assert await Price.get().provide(Context.of(Price, 3)) == Success(3)


async def test_provide_wins_over_the_services_around_it() -> None:
    inner = Price.get().provide(Context.of(Price, 3))
    assert await Price.get().bind(lambda _: inner).provide(Context.of(Price, 4)) == Success(3)


async def test_pointfree_functions_of_returns_run_on_an_effect() -> None:
    program = pipe(
        map_(lambda one: one + 1),
        bind(lambda two: Effect.fail(str(two))),
        alt(lambda error: error * 2),
        lash(lambda error: Effect.succeed(int(error))),
    )
    assert await flow(Effect.succeed(1), program) == Success(22)


# FutureResult.do leaves its generators unfinished, which trio reports.
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_an_effect_is_a_step_of_a_future_result_do(anyio_backend: str) -> None:

    assert await FutureResult.do(a + b async for a in Effect.succeed(1) async for b in Effect.succeed(2)) == (
        await Effect.succeed(3).awaitable()
    )
    assert await FutureResult.do(a async for a in Effect.fail("no")) == await Effect.fail("no").awaitable()


def test_run_sync_needs_no_event_loop() -> None:
    @Effect.gen
    async def program(do: Do[str]) -> int:
        one = await do(Effect.succeed(1))
        return await do(Effect.sync(lambda: one + 1))

    assert program().ensuring(Effect.succeed(None)).run_sync() == Success(2)
    assert Effect.fail("no").run_sync() == Failure("no")


def test_run_sync_of_an_effect_that_waits_says_what_to_do() -> None:
    class Suspending:
        def __await__(self) -> Any:
            yield

    async def wait() -> Success[None]:
        await Suspending()
        return Success(None)

    with pytest.raises(SuspendedError, match="await it, or start one"):
        Effect.from_outcome(wait).run_sync()


DEPTH = 10_000


async def test_stack_safety_of_a_long_chain() -> None:
    effect: Effect[int] = Effect.succeed(0)
    for _ in range(DEPTH):
        effect = effect.bind(lambda value: Effect.succeed(value + 1))
    assert await effect == Success(DEPTH)
    for _ in range(DEPTH):
        effect = effect.map(lambda value: value - 1)
    assert effect.run_sync() == Success(0)


async def test_stack_safety_of_a_deep_recursion() -> None:
    def count(value: int) -> Effect[int]:
        return Effect.succeed(value + 1).bind(
            lambda value: count(value) if value < DEPTH else Effect.succeed(value)
        )

    def climb(error: int) -> Effect[int, int]:
        return Effect.fail(error + 1).lash(
            lambda error: climb(error) if error < DEPTH else Effect.succeed(error)
        )

    assert await count(0) == Success(DEPTH)
    assert await climb(0) == Success(DEPTH)


async def test_from_outcome_is_awaited_as_it_is() -> None:
    async def leaf() -> Outcome[int, str]:
        return Failure("no")

    function: Callable[[], Awaitable[Outcome[int, str]]] = leaf
    assert await Effect.from_outcome(function) == Failure("no")


async def test_a_coroutine_function_of_outcomes_makes_effects_that_run_as_often_as_they_are_awaited() -> None:
    asked: list[int] = []

    class Halves:
        @Effect.coroutine
        async def of(self, number: int, *, least: int = 0) -> Outcome[int, str]:
            asked.append(number)
            return Failure("odd") if number % 2 else Success(max(number // 2, least))

    half = Halves().of(8, least=5)
    assert asked == []
    assert await half == await half == Success(5)
    assert await Halves().of(3).alt(str.upper) == Failure("ODD")
    assert asked == [8, 8, 3]
