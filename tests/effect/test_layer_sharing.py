"""A layer met twice is built once: Effect's cases on sharing, freshness and memo maps."""

from __future__ import annotations

import anyio
import pytest
from numbered_layers import Journal, One, Three, Two, build_and_interrupt, build_and_release

from chatmemory.effect import Effect, Layer, ManagedRuntime, MemoMap, Success, Tag

pytestmark = pytest.mark.anyio


async def test_sharing_with_merge() -> None:
    journal = Journal()
    layer = journal.layer(1)
    await build_and_release((layer >> journal.layer(2)) | (layer >> journal.layer(3)))
    assert journal == ["a1", "a2", "a3", "r3", "r2", "r1"]


async def test_sharing_itself_with_merge() -> None:
    journal = Journal()
    layer = journal.layer(1)
    await build_and_release(layer | layer)
    assert journal == ["a1", "r1"]


async def test_sharing_with_provide() -> None:
    journal = Journal()
    layer = journal.layer(1)
    await build_and_release(layer >> (layer | journal.layer(2)))
    assert journal == ["a1", "a2", "r2", "r1"]


async def test_sharing_with_multiple_layers_with_provide() -> None:
    journal = Journal()
    one, two, three = (journal.layer(number) for number in (1, 2, 3))
    await build_and_release((one >> two) | (one >> three))
    assert journal == ["a1", "a2", "a3", "r3", "r2", "r1"]


async def test_memoizes_acquisition_of_resources() -> None:
    journal = Journal()
    layer = journal.layer(1)
    async with ManagedRuntime(layer | layer.feed_keep(layer)) as runtime:
        assert await runtime.run(One.get()) == Success(1)
        assert await runtime.run(One.get()) == Success(1)
    assert journal == ["a1", "r1"]


async def test_suspend_is_lazy() -> None:
    journal = Journal()

    def make() -> Layer[One]:
        journal.append("made")
        return journal.layer(1)

    layer = Layer.suspend(make)
    assert journal == []
    await build_and_release(layer)
    assert journal == ["made", "a1", "r1"]


async def test_suspend_preserves_sharing() -> None:
    journal = Journal()
    layer = journal.layer(1)
    await build_and_release(Layer.suspend(lambda: layer) | Layer.suspend(lambda: layer))
    assert journal == ["a1", "r1"]


async def test_fresh_with_merge() -> None:
    journal = Journal()
    layer = journal.layer(1)
    await build_and_release(layer | layer.fresh())
    assert journal == ["a1", "a1", "r1", "r1"]


async def test_fresh_with_provide() -> None:
    journal = Journal()
    layer = journal.layer(1)
    await build_and_release(layer >> layer.fresh())
    assert journal == ["a1", "a1", "r1", "r1"]


async def test_fresh_with_multiple_layers_shares_within() -> None:
    journal = Journal()
    layer = journal.layer(1)
    await build_and_release(layer | layer | (layer | layer).fresh())
    assert journal == ["a1", "a1", "r1", "r1"]


async def test_fresh_with_identical_fresh_layers() -> None:
    journal = Journal()
    fresh = journal.layer(1).fresh()
    await build_and_release((fresh >> journal.layer(2)) | (fresh >> journal.layer(3)))
    assert journal == ["a1", "a2", "a1", "a3", "r3", "r1", "r2", "r1"]


async def test_a_graph_around_a_fresh_layer_is_not_shared_either() -> None:
    journal = Journal()
    graph = journal.layer(1).fresh() >> journal.layer(2)
    await build_and_release(graph | graph)
    assert journal == ["a1", "a2", "a1", "r1", "r2", "r1"]


async def test_interruption_with_merge() -> None:
    journal, acquired = Journal(), anyio.Event()
    await build_and_interrupt(journal.layer(1) | journal.slow_layer(2, acquired), acquired)
    assert journal == ["a1", "a2", "r2", "r1"]


async def test_interruption_with_provide() -> None:
    journal, acquired = Journal(), anyio.Event()
    await build_and_interrupt(journal.layer(1) >> journal.slow_layer(2, acquired), acquired)
    assert journal == ["a1", "a2", "r2", "r1"]


async def test_interruption_with_multiple_layers() -> None:
    journal, acquired = Journal(), anyio.Event()
    one = journal.layer(1)
    await build_and_interrupt(one >> ((one >> journal.layer(3)) | journal.slow_layer(2, acquired)), acquired)
    assert journal == ["a1", "a3", "a2", "r2", "r3", "r1"]


async def test_finalizers() -> None:
    journal = Journal()
    await build_and_release(journal.layer(1) | journal.layer(2))
    assert journal == ["a1", "a2", "r2", "r1"]


async def test_finalizers_with_provide() -> None:
    journal = Journal()
    await build_and_release(journal.layer(1) >> journal.layer(2))
    assert journal == ["a1", "a2", "r2", "r1"]


async def test_finalizers_with_multiple_layers_with_provide() -> None:
    journal = Journal()
    await build_and_release(journal.layer(1) >> journal.layer(2) >> journal.layer(3))
    assert journal == ["a1", "a2", "a3", "r3", "r2", "r1"]


async def test_map_does_not_interfere_with_sharing() -> None:
    journal = Journal()
    layer = journal.layer(1)
    await build_and_release(layer.project(One, Two, str) | layer)
    assert journal == ["a1", "r1"]


async def test_map_error_does_not_interfere_with_sharing() -> None:
    journal = Journal()
    layer = journal.layer(1)
    await build_and_release(layer.map_error(str) | layer)
    assert journal == ["a1", "r1"]


async def test_or_die_does_not_interfere_with_sharing() -> None:
    journal = Journal()
    layer = journal.layer(1)
    await build_and_release(layer.or_die() | layer)
    assert journal == ["a1", "r1"]


async def test_caching_values_in_dependencies() -> None:
    class Config(Tag[int]): ...

    class A(Tag[int]): ...

    class B(Tag[int]): ...

    a = Layer.effect(A, Config.get())
    b_of_1 = Layer.succeed(Config, 1) >> a.project(A, B, int)
    a_of_2 = Layer.succeed(Config, 2) >> a
    async with ManagedRuntime(b_of_1 | a_of_2) as runtime:
        assert await runtime.run(B.get()) == Success(1)
        assert await runtime.run(A.get()) == Success(1)


async def test_preserves_identity_of_acquired_resources() -> None:
    class Thing(Tag[object]): ...

    layer = Layer.sync(Thing, object)
    async with ManagedRuntime(layer | (layer >> Layer.effect(One, Thing.get().map(id)))) as runtime:
        thing = await runtime.service(Thing)
        assert await runtime.service(One) == id(thing)


async def test_a_memo_map_does_not_memoize_a_build_before_it_runs() -> None:
    journal = Journal()
    layer = journal.layer(1)
    memo = MemoMap()
    ManagedRuntime(layer, memo)
    assert journal == []
    async with ManagedRuntime(layer, memo):
        assert journal == ["a1"]


async def test_a_memo_map_memoizes_suspend_across_builds() -> None:
    journal = Journal()

    def make() -> Layer[One]:
        journal.append("made")
        return journal.layer(1)

    layer = Layer.suspend(make)
    memo = MemoMap()
    async with ManagedRuntime(layer, memo), ManagedRuntime(layer, memo):
        assert journal == ["made", "a1"]
    assert journal == ["made", "a1", "r1"]


async def test_a_memo_map_memoizes_layer_across_builds() -> None:
    journal = Journal()
    one = journal.layer(1)
    both = one >> journal.layer(2)
    memo = MemoMap()
    async with ManagedRuntime(one, memo):
        async with ManagedRuntime(both, memo):
            pass
        async with ManagedRuntime(both, memo):
            pass
    assert journal == ["a1", "a2", "r2", "a2", "r2", "r1"]


async def test_layers_are_not_released_early() -> None:
    journal = Journal()
    one = journal.layer(1)
    memo = MemoMap()
    first, second = ManagedRuntime(one, memo), ManagedRuntime(one >> journal.layer(2), memo)
    await first.__aenter__()
    await second.__aenter__()
    await first.__aexit__(None, None, None)
    assert journal == ["a1", "a2"]
    await second.__aexit__(None, None, None)
    assert journal == ["a1", "a2", "r2", "r1"]


async def test_forked_memo_maps_reuse_parent_layers_but_isolate_child_layers() -> None:
    journal = Journal()
    one, two = journal.layer(1), journal.layer(2)
    memo = MemoMap()
    async with ManagedRuntime(one, memo):
        left, right = memo.fork(), memo.fork()
        async with ManagedRuntime(one | two, left), ManagedRuntime(one | two, right):
            assert journal == ["a1", "a2", "a2"]
    assert journal == ["a1", "a2", "a2", "r2", "r2", "r1"]


async def test_a_waiter_rebuilds_after_the_first_builder_is_cancelled() -> None:
    journal, started = Journal(), anyio.Event()
    go_on = anyio.Event()

    async def wait() -> Success[int]:
        journal.append("try")
        started.set()
        await go_on.wait()
        return Success(3)

    layer = journal.layer(1) >> Layer.effect(Three, Effect.from_outcome(wait))
    memo = MemoMap()
    async with anyio.create_task_group() as tasks:

        async def first() -> None:
            with anyio.CancelScope() as cancel_scope:
                tasks.start_soon(second, cancel_scope)
                async with ManagedRuntime(layer, memo):
                    raise AssertionError("it was to be cancelled")

        async def second(first_scope: anyio.CancelScope) -> None:
            await started.wait()
            tasks.start_soon(cancel, first_scope)
            async with ManagedRuntime(layer, memo) as runtime:
                assert await runtime.service(Three) == 3

        async def cancel(cancel_scope: anyio.CancelScope) -> None:
            await anyio.wait_all_tasks_blocked()
            cancel_scope.cancel()
            await anyio.wait_all_tasks_blocked()
            go_on.set()

        tasks.start_soon(first)
    assert journal.count("try") == 2
    assert journal.count("a1") == journal.count("r1") == 1
