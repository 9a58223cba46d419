"""Request-scoped services: a child runtime per request, built on those of the application."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Never

import anyio
import httpx
import pytest
from left_running import nothing_left_running
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

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

    async def serve(runtime: ManagedRuntime[Store]) -> None:
        async with runtime.child(request) as child:
            forever = Effect.never().ensuring(Effect.sync(lambda: journal.append("interrupted")))
            with pytest.raises(EffectInterrupted):
                await child.run(forever)
            with pytest.raises(EffectInterrupted):
                await child.run(Store.get())

    async with nothing_left_running(), anyio.create_task_group() as serving:
        async with ManagedRuntime(journal.store) as runtime:
            serving.start_soon(serve, runtime)
            await anyio.wait_all_tasks_blocked()
        assert journal == ["store opened", "Bo comes", "interrupted", "Bo goes", "store closed"]


async def test_a_request_whose_layer_fails_leaves_nothing_with_the_parent() -> None:
    journal = Journal()
    async with ManagedRuntime(journal.store) as runtime:
        for _ in range(3):
            with pytest.raises(EffectFailed, match="nobody"):
                async with runtime.child(Layer.fail(Visitor, "nobody")):
                    raise AssertionError
        async with runtime.child(Layer.succeed(Visitor, "Bo")):
            pass
        assert len(runtime._scope._finalizers) == 2  # the services, and the effects
    with pytest.raises(EffectInterrupted):
        runtime.child(Layer.succeed(Visitor, "Bo"))


def test_without_an_event_loop_a_child_works_with_a_plain_with() -> None:
    with ManagedRuntime(Layer.succeed(Store, [])) as runtime:
        with runtime.child(Layer.succeed(Visitor, "Bo")) as child:
            assert child.run_sync(Visitor.get()) == Success("Bo")
            assert child.run_sync(Store.get()) == Success([])
        with pytest.raises(EffectInterrupted):
            child.run_sync(Visitor.get())


def application(runtime: ManagedRuntime[Store], session: Layer[Session, Never, Store | Visitor]) -> Starlette:
    """A web application whose endpoints see the services of their request."""

    def visited(request: Request) -> Layer[Visitor]:
        return Layer.succeed(Visitor, request.headers["x-visitor"])

    async def welcome(request: Request) -> Response:
        async with runtime.child(visited(request).feed_keep(session)) as services:
            return JSONResponse((await services.run(greet())).unwrap())

    async def torn(request: Request) -> Response:
        async with runtime.child(visited(request).feed_keep(session)) as services:
            await services.run(Effect.sync(lambda: 1 / 0))
        raise AssertionError

    return Starlette(routes=[Route("/", welcome), Route("/torn", torn)])


async def test_a_web_framework_opens_a_child_for_each_request() -> None:
    journal = Journal()
    async with ManagedRuntime(journal.store) as runtime:
        app = application(runtime, journal.session)
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            answers: dict[str, Any] = {}

            async def visit(visitor: str) -> None:
                response = await client.get("/", headers={"x-visitor": visitor})
                answers[visitor] = response.json()["session"]

            await _at_once([partial(visit, name) for name in ("anna", "bo", "cai")])
            assert answers == {name: f"session of {name}" for name in ("anna", "bo", "cai")}
            response = await client.get("/torn", headers={"x-visitor": "dov"})
            assert response.status_code == 500
        for visitor in ("anna", "bo", "cai", "dov"):
            assert journal.index(f"{visitor} comes") < journal.index(f"{visitor} goes")
    assert journal[-1] == "store closed"


async def _at_once(calls: list[Callable[[], Awaitable[None]]]) -> None:
    await Effect.all([Effect.promise(call) for call in calls], concurrency=None).or_raise()
