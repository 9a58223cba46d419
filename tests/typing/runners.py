"""An adapter asks for a ``Runner``: both runtimes are one, of the services that they have."""

from __future__ import annotations

from typing import assert_type

from chatmemory.effect import ManagedRuntime, Outcome, Runner, ThreadRuntime
from tests.typing.do_notation import count
from tests.typing.world import ChatTag, ReadError, StoreTag, app_layer, chat_layer

ROWS = StoreTag.use(lambda store: store.rows("c1"))


async def adapt(runner: Runner[ChatTag]) -> None:
    assert_type(await runner.run(count("c1")), Outcome[int, ReadError])
    await runner.run(ROWS)  # type: ignore[arg-type]  # StoreTag is not given


async def use() -> None:
    with ThreadRuntime(app_layer) as threaded:
        assert_type(threaded, ThreadRuntime[ChatTag])
        assert_type(threaded.run_blocking(count("c1")), Outcome[int, ReadError])
        threaded.run_blocking(ROWS)  # type: ignore[arg-type]  # StoreTag is not given
        await adapt(threaded)
    async with ManagedRuntime(app_layer) as managed:
        await adapt(managed)


async def a_richer_one_serves_too(rich: ThreadRuntime[ChatTag | StoreTag]) -> None:
    await adapt(rich)


async def a_poorer_one_does_not(poor: ThreadRuntime[StoreTag]) -> None:
    await adapt(poor)  # type: ignore[arg-type]  # ChatTag is not given


ThreadRuntime(chat_layer)  # type: ignore[arg-type]  # StoreTag and PrefixTag are required
