"""Layers that write down when they are acquired (``a1``) and released (``r1``), after those of Effect's own tests."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio

from chatmemory.effect import Effect, Layer, ManagedRuntime, Reference, Tag


class One(Tag[int]): ...


class Two(Tag[int]): ...


class Three(Tag[int]): ...


class Pace(Reference[int]):
    @classmethod
    def default(cls) -> int:
        return 50


TAGS: dict[int, Any] = {1: One, 2: Two, 3: Three}
waiting = Effect.promise(anyio.wait_all_tasks_blocked)


class Journal(list[Any]):
    def write(self, entry: object) -> Effect[None]:
        return Effect.sync(lambda: self.append(entry))

    def write_slowly(self, entry: object) -> Effect[None]:
        return waiting.bind(lambda _: self.write(entry))

    def layer(self, number: int, *needs: Any) -> Layer[Any]:
        @asynccontextmanager
        async def open_(*_: object) -> AsyncGenerator[int]:
            self.append(f"a{number}")
            try:
                yield number
            finally:
                self.append(f"r{number}")

        return Layer.scoped(TAGS[number], open_, *needs)


async def services(layer: Layer[Any, Any], *tags: Any) -> list[Any]:
    async with ManagedRuntime(layer) as runtime:
        return [await runtime.service(tag) for tag in tags]


async def build_and_release(layer: Layer[Any, Any]) -> None:
    async with ManagedRuntime(layer):
        pass
