"""Request-scoped services: a child runtime per request, built on those of the application."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Never

import anyio
import pytest

from chatmemory.effect import (
    Do,
    Effect,
    EffectFailed,
    EffectInterrupted,
    Layer,
    ManagedRuntime,
    Success,
    Tag,
)
from tests.effect.concurrency.left_running import nothing_left_running

pytestmark = pytest.mark.anyio


class Store(Tag[list[str]]): ...


class Visitor(Tag[str]): ...


class Session(Tag[str]): ...


class Journal(list[str]):
    @property
    def store(self) -> Layer[Store]:
        @asynccontextmanager
        async def open_store() -> AsyncGenerator[list[str]]:
            self.append("store opened")
            yield []
            self.append("store closed")

        return Layer.scoped(Store, open_store)

    @property
    def session(self) -> Layer[Session, Never, Store | Visitor]:
        @asynccontextmanager
        async def open_session(store: list[str], visitor: str) -> AsyncGenerator[str]:
            self.append(f"{visitor} comes")
            store.append(visitor)
            try:
                yield f"session of {visitor}"
            finally:
                self.append(f"{visitor} goes")

        return Layer.scoped(Session, open_session, Store, Visitor)


@Effect.gen
async def greet(do: Do[Never, Store | Visitor | Session]) -> dict[str, Any]:
    return {"session": do.service(Session), "seen": len(do.service(Store))}


async def test_a_child_sees_the_services_of_both_and_releases_its_own() -> None:
    journal = Journal()
    session = journal.session
    async with ManagedRuntime(journal.store) as runtime:
        for visitor in ("安娜", "Bo"):
            request = Layer.succeed(Visitor, visitor)
            async with runtime.child(request) as outer, outer.child(session) as child:
                answer = (await child.run(greet())).unwrap()
                assert answer["session"] == f"session of {visitor}"
        assert journal == ["store opened", "安娜 comes", "安娜 goes", "Bo comes", "Bo goes"]
        assert await runtime.run(Store.get()) == Success(["安娜", "Bo"])
    assert journal[-1] == "store closed"


async def test_layers_of_the_parent_are_shared_and_those_of_requests_are_not() -> None:
    journal = Journal()
    store, session = journal.store, journal.session
    stack = (store | Layer.succeed(Visitor, "Bo")) >> session
    async with ManagedRuntime(store) as runtime:
        async with runtime.child(stack) as first, runtime.child(stack) as second:
            assert await first.run(Session.get()) == await second.run(Session.get())
        assert journal == ["store opened", "Bo comes", "Bo comes", "Bo goes", "Bo goes"]


async def test_a_parent_that_is_closed_first_ends_the_effects_and_services_of_its_child() -> None:
    journal = Journal()
    request = Layer.succeed(Visitor, "Bo") >> journal.session

    async def note() -> None:
        await anyio.lowlevel.checkpoint()
        journal.append("interrupted")

    async def serve(runtime: ManagedRuntime[Store]) -> None:
        async with runtime.child(request) as child:
            forever = Effect.never().on_exit(lambda _: Effect.promise(note))
            with pytest.raises(EffectInterrupted):
                await child.run(forever)
            with pytest.raises(EffectInterrupted):
                await child.run(Store.get())

    async with nothing_left_running(), anyio.create_task_group() as serving:
        async with ManagedRuntime(journal.store) as runtime:
            serving.start_soon(serve, runtime)
            await anyio.wait_all_tasks_blocked()
        assert journal == ["store opened", "Bo comes", "interrupted", "Bo goes", "store closed"]


async def test_a_parent_that_is_closed_while_its_child_opens_ends_the_child_first() -> None:
    journal = Journal()

    @asynccontextmanager
    async def open_for_ever(session: str) -> AsyncGenerator[str]:
        journal.append(f"waits with {session}")
        await anyio.sleep_forever()
        yield session

    class Slow(Tag[str]): ...

    async def serve(runtime: ManagedRuntime[Store]) -> None:
        request = (
            Layer.succeed(Visitor, "Bo") >> journal.session >> Layer.scoped(Slow, open_for_ever, Session)
        )
        with pytest.raises(EffectInterrupted):
            await runtime.child(request).__aenter__()
        journal.append("told")

    async with (
        nothing_left_running(),
        anyio.create_task_group() as serving,
        ManagedRuntime(journal.store) as runtime,
    ):
        serving.start_soon(serve, runtime)
        await anyio.wait_all_tasks_blocked()
    assert [*journal[:4], *sorted(journal[4:])] == [
        "store opened",
        "Bo comes",
        "waits with session of Bo",
        "Bo goes",
        "store closed",
        "told",
    ]


async def test_a_request_whose_layer_fails_leaves_nothing_with_the_parent() -> None:
    journal = Journal()
    async with ManagedRuntime(journal.store) as runtime:
        for _ in range(3):
            with pytest.raises(EffectFailed, match="nobody"):
                async with runtime.child(Layer.effect(Visitor, Effect.fail("nobody"))):
                    raise AssertionError
        async with runtime.child(Layer.succeed(Visitor, "Bo")):
            pass
        assert runtime._children == {}
    with pytest.raises(EffectInterrupted):
        runtime.child(Layer.succeed(Visitor, "Bo"))


def test_without_an_event_loop_a_child_works_with_a_plain_with() -> None:
    with ManagedRuntime(Layer.succeed(Store, [])) as runtime:
        with runtime.child(Layer.succeed(Visitor, "Bo")) as child:
            assert child.run_sync(Visitor.get()) == Success("Bo")
            assert child.run_sync(Store.get()) == Success([])
        with pytest.raises(EffectInterrupted):
            child.run_sync(Visitor.get())


async def test_requests_at_once_have_services_of_their_own_and_release_them_also_when_one_is_torn() -> None:
    journal = Journal()
    async with ManagedRuntime(journal.store) as runtime:

        async def visit(visitor: str) -> str:
            async with runtime.child(Layer.succeed(Visitor, visitor).feed_keep(session)) as services:
                await anyio.wait_all_tasks_blocked()
                answer = (await services.run(greet())).unwrap()
                if visitor == "dov":
                    await services.run(Effect.sync(lambda: 1 / 0))
                return str(answer["session"])

        session = journal.session
        names = ("anna", "bo", "cai")
        visits = [Effect.promise(partial(visit, name)) for name in names]
        answers = await Effect.all(visits, concurrency=None).or_raise()
        assert answers == [f"session of {name}" for name in names]
        with pytest.raises(ZeroDivisionError):
            await visit("dov")
        for visitor in (*names, "dov"):
            assert journal.index(f"{visitor} comes") < journal.index(f"{visitor} goes")
    assert journal[-1] == "store closed"
