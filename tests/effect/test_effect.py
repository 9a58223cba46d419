"""Effects as values: making, composing, recovering, running."""

from collections.abc import Callable
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from chatmemory.effect import (
    Context,
    Die,
    Effect,
    EffectFailed,
    Fail,
    Failure,
    Outcome,
    Success,
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


async def test_an_effect_runs_each_time_that_it_is_awaited_or_goes_into_a_task_and_says_so() -> None:
    runs: list[int] = []
    effect = Effect.sync(lambda: runs.append(1))
    assert repr(effect).endswith(": runs when it is awaited; where a coroutine is wanted, give effect.run()>")
    assert runs == []
    assert await effect == await effect.run() == Success(None)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(effect.run)
    assert runs == [1, 1, 1]


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
    assert isinstance(outcome.unwrap().failure(), Die)


async def test_exit_tells_how_it_ended() -> None:
    assert await Effect.succeed(1).exit() == Success(Success(1))
    assert await Effect.fail("a").exit() == Success(Failure(Fail("a")))


async def test_catch_recovers_from_its_class_and_leaves_others_alone() -> None:
    torn = OSError("torn")

    def recovered(error: NotFoundError | RefusedError | OSError) -> Effect[str, OSError]:
        effect: Effect[str, NotFoundError | RefusedError | OSError] = Effect.fail(error)
        found = catch(NotFoundError, lambda _: Effect.succeed("found"))(effect)
        return found.pipe(catch(RefusedError, lambda _: Effect.succeed("allowed")))

    assert [await recovered(error) for error in (NotFoundError(), RefusedError(), torn)] == [
        Success("found"),
        Success("allowed"),
        Failure(torn),
    ]
    with pytest.raises(ValueError, match="torn"):
        await catch(NotFoundError, lambda _: defect())(Effect.fail(NotFoundError()))


async def test_or_raise_gives_the_value_or_raises() -> None:
    assert await Effect.succeed(1).or_raise() == 1
    with pytest.raises(NotFoundError):
        await Effect.fail(NotFoundError()).or_raise()
    with pytest.raises(EffectFailed, match="no such thing") as caught:
        await Effect.fail("no such thing").or_raise()
    assert caught.value.error == "no such thing"


async def test_provide_gives_the_services_and_wins_over_those_around_it() -> None:
    inner = Price.get().provide(Context.of(Price, 3))
    assert await inner == Success(3)
    assert await Price.get().bind(lambda _: inner).provide(Context.of(Price, 4)) == Success(3)


DEPTH = 10_000


async def test_a_long_chain_and_a_deep_recursion_use_up_no_stack() -> None:
    effect: Effect[int] = Effect.succeed(0)
    for _ in range(DEPTH):
        effect = effect.bind(lambda value: Effect.succeed(value + 1))
    for _ in range(DEPTH):
        effect = effect.map(lambda value: value - 1)
    assert await effect == effect.run_sync() == Success(0)

    def count(n: int) -> Effect[int]:
        return Effect.succeed(n + 1).bind(lambda n: count(n) if n < DEPTH else Effect.succeed(n))

    def climb(n: int) -> Effect[int, int]:
        return Effect.fail(n + 1).lash(lambda n: climb(n) if n < DEPTH else Effect.succeed(n))

    assert await count(0) == await climb(0) == Success(DEPTH)


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
