"""Layers that write down when they are acquired (``a1``) and released (``r1``), after those of Effect's own tests."""

from __future__ import annotations

from typing import Any

import anyio

from chatmemory.effect import Effect, Layer, ManagedRuntime, Success, Tag


class One(Tag[int]): ...


class Two(Tag[int]): ...


class Three(Tag[int]): ...


TAGS: dict[int, Any] = {1: One, 2: Two, 3: Three}


class Journal(list[str]):
    def write(self, entry: str) -> Effect[None]:
        return Effect.sync(lambda: self.append(entry))

    def layer(self, number: int, *needs: Any) -> Layer[Any]:
        return Layer.acquire_release(
            TAGS[number],
            self.write(f"a{number}").map(lambda _: number),
            lambda _, __: self.write(f"r{number}"),
            needs=needs,
        )

    def slow_layer(self, number: int, acquired: anyio.Event) -> Layer[Any]:
        """A layer that is acquired and then never done."""

        async def never() -> Success[int]:
            acquired.set()
            await anyio.sleep_forever()
            raise AssertionError

        tag = TAGS[number]
        return self.layer(number) >> Layer.effect(tag, Effect.from_outcome(never), needs=[tag])


async def services(layer: Layer[Any, Any], *tags: Any) -> list[Any]:
    async with ManagedRuntime(layer) as runtime:
        return [await runtime.service(tag) for tag in tags]


async def build_and_release(layer: Layer[Any, Any]) -> None:
    async with ManagedRuntime(layer):
        pass


async def build_and_interrupt(layer: Layer[Any, Any], when: anyio.Event) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(build_and_release, layer)
        await when.wait()
        tasks.cancel_scope.cancel()
