"""A streamed reply ends as one stored message, also when the client hangs up: nothing twice, nothing lost."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from chatmemory import ChatMemory, ChatMemoryService, ChatMessage, ManagedRuntime, NewMessage, TestClock
from chatmemory.conversation.streamed_reply import streamed_reply
from chatmemory.effect import ClockTag, Context, Effect, Failure, Stream, Success
from chatmemory.errors import DataValidationError, GenericMemoryError, RepositoryError
from chatmemory.testing import Spy, hangs
from chatmemory_layers import stacks

pytestmark = pytest.mark.anyio

PIECES = ["春", "眠", "不觉晓"]


@asynccontextmanager
async def opened() -> AsyncGenerator[ChatMemory]:
    async with ManagedRuntime(stacks.testing()) as runtime:
        memory = await runtime.service(ChatMemoryService)
        await memory.add_messages("诗", [NewMessage("user", "念一首诗")]).or_raise()
        yield memory


async def replies(memory: ChatMemory) -> list[tuple[str, Any]]:
    messages: Sequence[ChatMessage] = await memory.get_messages("诗").or_raise()
    return [(message.content, message.metadata) for message in messages if message.role == "assistant"]


def model(*, then: Effect[Any, str] | None = None) -> Stream[str, str]:
    """Say the poem piece by piece, and do *then* before the end."""
    poem: Stream[str, str] = Stream.from_iterable(iter(PIECES))
    return poem if then is None else poem.on_end(then)


async def test_a_whole_reply_goes_through_and_is_one_message_when_it_has_ended_and_not_before() -> None:
    async with opened() as memory:
        reply = streamed_reply(memory, "诗", model(), metadata={"model": "scripted"})
        async with reply.iterate() as pieces:
            read = []
            async for piece in pieces:
                assert await replies(memory) == []
                read.append(piece)
        assert read == PIECES
        assert await replies(memory) == [("春眠不觉晓", {"model": "scripted"})]


async def test_a_character_that_comes_in_two_halves_is_stored_whole_and_half_of_one_is_refused() -> None:
    async with opened() as memory:
        halves: Stream[str, str] = Stream.from_iterable(["好 \ud83d", "\ude00"])
        assert await streamed_reply(memory, "诗", halves).run_collect() == Success(["好 \ud83d", "\ude00"])
        refused = await streamed_reply(memory, "诗", halves.take(1)).run_collect()
        assert isinstance(refused.failure(), DataValidationError)
        assert await replies(memory) == [("好 😀", None)]


async def test_each_run_is_a_message_of_its_own_unless_it_has_an_id_or_no_text() -> None:
    async with opened() as memory:
        blank: Stream[str, str] = Stream.from_iterable([""])
        assert await streamed_reply(memory, "诗", blank).run_collect() == Success([""])
        failing = streamed_reply(memory, "诗", blank.on_end(Effect.fail("busy")))
        assert await failing.run_collect() == Failure("busy")
        assert await replies(memory) == []
        again = streamed_reply(memory, "诗", Stream.from_iterable(["好"]))
        once = streamed_reply(memory, "诗", Stream.from_iterable(["一次"]), message_id="m7")
        for reply in (again, again, once, once):
            await reply.run_collect().or_raise()
        assert [content for content, _ in await replies(memory)] == ["好", "好", "一次"]


async def test_when_nobody_reads_on_what_was_received_is_stored_with_a_mark() -> None:
    async with opened() as memory:
        async with streamed_reply(memory, "诗", model(), metadata={"n": 1}).iterate() as pieces:
            assert [await anext(pieces), await anext(pieces)] == ["春", "眠"]
        left = ("春眠", {"n": 1, "incomplete": "interrupted"})
        assert await replies(memory) == [left]
        reply = streamed_reply(memory, "诗", model(then=Effect.never()))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(reply.run_collect().run)
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()
        assert await replies(memory) == [left, ("春眠不觉晓", {"incomplete": "interrupted"})]


async def test_a_model_that_breaks_off_leaves_what_was_received_and_its_failure() -> None:
    async with opened() as memory:
        reply = streamed_reply(memory, "诗", model(then=Effect.fail("rate limit")))
        assert await reply.run_collect() == Failure("rate limit")
        assert await replies(memory) == [("春眠不觉晓", {"incomplete": "failed"})]
        with pytest.raises(ZeroDivisionError):
            await streamed_reply(memory, "诗", model(then=Effect.sync(lambda: 1 / 0))).run_collect()
        assert len(await replies(memory)) == 2


async def test_a_reply_is_stored_whole_and_once_or_fails_and_is_not_tried_again() -> None:
    busy = GenericMemoryError(RepositoryError("append", "busy", "locked"))
    async with opened() as memory:
        failing = Spy(ChatMemoryService, add_messages=[Failure(busy)])
        assert await streamed_reply(failing.around(memory), "诗", model()).run_collect() == Failure(busy)
        assert (await replies(memory), len(failing.calls)) == ([], 1)
        cancelled = Spy(ChatMemoryService, add_messages=[hangs]).around(memory)
        reply = streamed_reply(cancelled, "诗", model())
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(reply.run_collect().run)
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()
        assert await replies(memory) == [("春眠不觉晓", None)]


async def test_a_store_that_hangs_holds_up_a_client_that_left_for_ten_seconds_at_most(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = TestClock()
    async with opened() as memory:
        stuck = Spy(ChatMemoryService, add_messages=[hangs]).around(memory)
        left = streamed_reply(stuck, "诗", model()).take(1).run_collect().provide(Context.of(ClockTag, clock))
        with caplog.at_level(logging.ERROR):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(left.or_raise)
                await clock.advance(10)
        assert await replies(memory) == []
    assert [record.getMessage() for record in caplog.records] == [
        "what was received of a reply in 诗 was not stored: RepositoryError"
    ]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_native_cancel_leaves_one_message_in_a_file(tmp_path: Path) -> None:
    async with ManagedRuntime(stacks.embedded(tmp_path / "诗.db")) as runtime:
        memory = await runtime.service(ChatMemoryService)
        reading = asyncio.create_task(
            streamed_reply(memory, "诗", model(then=Effect.never())).run_collect().or_raise()
        )
        await anyio.wait_all_tasks_blocked()
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        assert await replies(memory) == [("春眠不觉晓", {"incomplete": "interrupted"})]
