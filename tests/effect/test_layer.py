"""Composing layers and recovering from their failures: Effect's cases, v4 and v3."""

from __future__ import annotations

import anyio
import anyio.lowlevel
import pytest
from numbered_layers import Journal, One, Three, Two, build_and_release

from chatmemory.effect import (
    Cause,
    Context,
    Die,
    Effect,
    EffectFailed,
    Fail,
    Failure,
    Layer,
    ManagedRuntime,
    MissingServiceError,
    Schedule,
    Success,
    Tag,
    catch_layer,
)
from chatmemory.effect.layers.mock import UnimplementedError

pytestmark = pytest.mark.anyio


class BrokenError(Exception):
    pass


class OtherError(Exception):
    pass


def failing_after(journal: Journal) -> Layer[One, str]:
    """Acquire 1, then fail."""
    return journal.layer(1) >> Layer.effect(One, Effect.fail("broken"))


async def test_layers_can_be_acquired_in_parallel() -> None:
    left_started, right_started = anyio.Event(), anyio.Event()

    async def left() -> Success[int]:
        left_started.set()
        await right_started.wait()
        return Success(1)

    async def right() -> Success[int]:
        right_started.set()
        await left_started.wait()
        return Success(2)

    layer = Layer.effect(One, Effect.from_outcome(left)) | Layer.effect(Two, Effect.from_outcome(right))
    with anyio.fail_after(5):
        await build_and_release(layer)


async def test_a_chain_does_not_wait_for_an_independent_slow_layer() -> None:
    chain_is_done = anyio.Event()

    async def slow() -> Success[int]:
        await chain_is_done.wait()
        return Success(3)

    async def quick() -> Success[int]:
        await anyio.lowlevel.checkpoint()
        chain_is_done.set()
        return Success(2)

    chain = Layer.succeed(One, 1) >> Layer.effect(Two, Effect.from_outcome(quick))
    with anyio.fail_after(5):
        await build_and_release(Layer.effect(Three, Effect.from_outcome(slow)) | chain)


async def test_catch_uses_an_alternative_layer() -> None:
    journal = Journal()
    await build_and_release(failing_after(journal).or_else(lambda _: journal.layer(2) >> journal.layer(1)))
    assert journal == ["a1", "r1", "a2", "a1", "r1", "r2"]


async def test_catch_tag_uses_an_alternative_layer_for_its_class_only() -> None:
    journal = Journal()
    layer: Layer[One, BrokenError | OtherError] = Layer.fail(One, BrokenError())
    other: Layer[One, BrokenError | OtherError] = Layer.fail(One, OtherError())
    recover = catch_layer(BrokenError, lambda _: journal.layer(1))
    await build_and_release(recover(layer))
    assert journal == ["a1", "r1"]
    with pytest.raises(OtherError):
        await build_and_release(recover(other))


async def test_catch_cause_recovers_with_a_fallback_layer_and_exposes_the_original_cause() -> None:
    journal, causes = Journal(), list[Cause[str]]()
    defect = RuntimeError("torn")

    def recover(cause: Cause[str]) -> Layer[One]:
        causes.append(cause)
        return journal.layer(1)

    await build_and_release(Layer.fail(One, "broken").catch_cause(recover))
    await build_and_release(Layer.effect(One, Effect.fail_cause(Cause((Die(defect),)))).catch_cause(recover))
    assert causes == [Cause((Fail("broken"),)), Cause((Die(defect),))]
    assert journal == ["a1", "r1", "a1", "r1"]


async def test_tap_executes_effect_with_success_services_and_preserves_output() -> None:
    journal = Journal()
    layer = journal.layer(1).tap(lambda services: journal.write(f"seen {services.get(One)}"))
    async with ManagedRuntime(layer) as runtime:
        assert await runtime.service(One) == 1
    assert journal == ["a1", "seen 1", "r1"]


async def test_a_failing_tap_releases_what_it_looked_at() -> None:
    journal = Journal()
    with pytest.raises(EffectFailed, match="no"):
        await build_and_release(journal.layer(1).tap(lambda _: Effect.fail("no")))
    assert journal == ["a1", "r1"]


async def test_tap_error_executes_effect_with_failure_and_preserves_original_error() -> None:
    journal = Journal()
    layer = Layer.fail(One, "broken").tap_error(lambda error: journal.write(f"seen {error}"))
    with pytest.raises(EffectFailed) as caught:
        await build_and_release(layer)
    assert caught.value.error == "broken"
    assert journal == ["seen broken"]


async def test_tap_cause_executes_effect_with_cause_and_preserves_original_cause() -> None:
    causes: list[Cause[str]] = []
    defect = RuntimeError("torn")
    broken = Layer.effect(One, Effect.fail_cause(Cause((Die(defect),))))
    with pytest.raises(RuntimeError) as caught:
        await build_and_release(broken.tap_cause(lambda cause: Effect.sync(lambda: causes.append(cause))))
    assert caught.value is defect
    assert causes == [Cause((Die(defect),))]


async def test_launch_keeps_the_layer_open_until_interrupted_and_then_finalizes() -> None:
    journal = Journal()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(journal.layer(1).launch().exit().or_raise)
        await anyio.wait_all_tasks_blocked()
        assert journal == ["a1"]
        tasks.cancel_scope.cancel()
    assert journal == ["a1", "r1"]


class Shop:
    def price(self, item: str) -> Effect[int]:
        raise NotImplementedError

    def stock(self, item: str) -> Effect[int]:
        raise NotImplementedError


class ShopTag(Tag[Shop]): ...


async def test_mock_allows_passing_partial_service() -> None:
    async with ManagedRuntime(Layer.mock(ShopTag, price=lambda item: Effect.succeed(len(item)))) as runtime:
        assert await runtime.run(ShopTag.use(lambda shop: shop.price("tea"))) == Success(3)


async def test_missing_mock_members_fail_as_unimplemented() -> None:
    async with ManagedRuntime(Layer.mock(ShopTag)) as runtime:
        with pytest.raises(UnimplementedError, match=r"ShopTag\.stock is not implemented"):
            await runtime.run(ShopTag.use(lambda shop: shop.stock("tea")))


async def test_handles_errors_gracefully() -> None:
    journal = Journal()
    with pytest.raises(EffectFailed):
        await build_and_release(journal.layer(2) | failing_after(journal) | journal.layer(3))
    acquired = [entry[1] for entry in journal if entry[0] == "a"]
    assert [entry[1] for entry in journal if entry[0] == "r"] == acquired[::-1]


async def test_can_map_a_layer_to_an_unrelated_type() -> None:
    class Text(Tag[str]): ...

    async with ManagedRuntime(Layer.succeed(One, 1).project(One, Text, "number {}".format)) as runtime:
        assert await runtime.service(Text) == "number 1"


async def test_provides_a_partial_environment_to_an_effect() -> None:
    sum_ = One.get().bind(lambda one: Two.get().map(lambda two: one + two))
    with_one = Layer.succeed(One, 1).provide_to(sum_)
    assert await with_one.provide(Context.of(Two, 2)) == Success(3)


async def test_provides_a_partial_environment_to_another_layer() -> None:
    sum_ = Layer.effect(Three, One.get().bind(lambda one: Two.get().map(lambda two: one + two)))
    async with ManagedRuntime(Layer.succeed(Two, 2) >> (Layer.succeed(One, 1) >> sum_)) as runtime:
        assert await runtime.service(Three) == 3


async def test_and_to_keeps_the_services_of_both() -> None:
    layer = Layer.succeed(One, 1).feed_keep(Layer.effect(Two, One.get().map(lambda one: one + 1)))
    async with ManagedRuntime(layer) as runtime:
        assert (await runtime.service(One), await runtime.service(Two)) == (1, 2)


async def test_provide_gives_only_the_services_of_the_consumer() -> None:
    async with ManagedRuntime(Layer.succeed(One, 1) >> Layer.succeed(Two, 2)) as runtime:
        with pytest.raises(MissingServiceError, match="Service not found: One"):
            await runtime.service(One)


async def test_merge_is_right_biased() -> None:
    async with ManagedRuntime(Layer.succeed(One, 1) | Layer.succeed(One, 2)) as runtime:
        assert await runtime.service(One) == 2


async def test_passthrough_passes_the_inputs_through_to_the_next_layer() -> None:
    layer = Layer.succeed(One, 1) >> Layer.effect(Two, One.get()).passthrough(One)
    async with ManagedRuntime(layer) as runtime:
        assert (await runtime.service(One), await runtime.service(Two)) == (1, 1)


async def test_project() -> None:
    async with ManagedRuntime(Layer.succeed(One, 1).project(One, Two, lambda one: one + 1)) as runtime:
        assert await runtime.service(Two) == 2


async def test_retry_with_recurs_3_runs_4_times() -> None:
    journal = Journal()
    with pytest.raises(EffectFailed):
        await build_and_release(failing_after(journal).retry(Schedule.recurs(3)))
    assert journal == ["a1", "r1"] * 4


async def test_retry_ends_with_the_first_success() -> None:
    journal = Journal()

    def attempt() -> Effect[int, str]:
        journal.append("try")
        return Effect.succeed(1) if len(journal) > 2 else Effect.fail("not yet")

    layer = Layer.effect(One, Effect.succeed(None).bind(lambda _: attempt())).retry(Schedule.recurs(5))
    await build_and_release(layer)
    assert journal == ["try"] * 3


async def test_map_error_changes_the_error() -> None:
    with pytest.raises(EffectFailed) as caught:
        await build_and_release(Layer.fail(One, "broken").map_error(len))
    assert caught.value.error == 6


async def test_or_die_makes_a_defect_that_or_else_does_not_see() -> None:
    layer = Layer.fail(One, BrokenError()).or_die().or_else(lambda _: Layer.succeed(One, 1))
    with pytest.raises(BrokenError):
        await build_and_release(layer)


async def test_updates_service_via_update_service() -> None:
    class Foo(Tag[str]): ...

    class Bar(Tag[str]): ...

    bar = Layer.effect(Bar, Foo.get().map("bar: {}".format)).update_service(Foo, "patched {}".format)
    async with ManagedRuntime(Layer.succeed(Foo, "foo") >> bar) as runtime:
        assert await runtime.service(Bar) == "bar: patched foo"


async def test_a_typed_failure_of_a_provided_layer_is_the_outcome_of_the_effect() -> None:
    assert await Layer.fail(One, "broken").provide_to(One.get()) == Failure("broken")


async def test_a_provided_layer_is_released_when_the_effect_has_ended() -> None:
    journal = Journal()
    assert await journal.layer(1).provide_to(journal.write("use").bind(lambda _: One.get())) == Success(1)
    assert journal == ["a1", "use", "r1"]
