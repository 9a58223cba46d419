"""A spy does what the real part does, records it, and goes wrong when it is told to."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import anyio
import pytest

from chatmemory.conversation.chat_memory_live import chat_memory
from chatmemory.conversation.contract import ChatMemory, ChatMemoryService
from chatmemory.conversation.message_repository import MessageRepository, MessageRepositoryTag, PageQuery
from chatmemory.conversation.new_message import NewMessage
from chatmemory.conversation.skill_runner import SkillRequest, SkillRunnerTag
from chatmemory.conversation.strategies.history_strategy import history_strategy
from chatmemory.conversation.token_counter import token_counter
from chatmemory.effect import ClockTag, Context, Effect, Failure, Layer, ManagedRuntime, Success
from chatmemory.effect.outcome import Die
from chatmemory.errors import GenericMemoryError, RepositoryError
from chatmemory.laws.kit.samples import batch, said
from chatmemory.testing import (
    Call,
    Calls,
    Spy,
    Step,
    Stub,
    TestClock,
    after,
    hangs,
    loses_answer,
    passes,
    raises,
)
from chatmemory_layers import stacks
from chatmemory_layers.configuration import settings_layer
from chatmemory_layers.in_memory.message_repository import message_repository

pytestmark = pytest.mark.anyio

BUSY = RepositoryError("append messages", "busy")
HELLO = NewMessage("user", "你好", "m1")


@asynccontextmanager
async def watched(
    spy: Spy[MessageRepositoryTag, MessageRepository], clock: TestClock | None = None
) -> AsyncGenerator[MessageRepository]:
    given: Layer[MessageRepositoryTag] = message_repository | Layer.succeed(ClockTag, clock or TestClock())
    async with ManagedRuntime(given >> spy.layer) as runtime:
        yield await runtime.service(MessageRepositoryTag)


@asynccontextmanager
async def conversations(spy: Spy[MessageRepositoryTag, MessageRepository]) -> AsyncGenerator[ChatMemory]:
    """A chat memory that keeps its messages in what *spy* watches."""
    skills = Stub(SkillRunnerTag)
    parts = settings_layer(environment={}) | (message_repository >> spy.layer) | token_counter | skills.layer
    async with ManagedRuntime(parts.feed_keep(history_strategy) >> chat_memory) as runtime:
        yield await runtime.service(ChatMemoryService)


async def size(repository: MessageRepository) -> int:
    page = (await repository.page(PageQuery("c", "model"))).unwrap()
    return 0 if page is None else len(page.messages)


async def test_the_real_part_does_its_work_and_every_call_is_kept() -> None:
    spy = Spy(MessageRepositoryTag)
    async with watched(spy) as repository:
        stored = await repository.append(batch("c", said("m")))
        page = await repository.page(PageQuery("c", "model"))
    assert stored.unwrap().stored == ("m",)
    append, read = spy.calls
    assert append.arguments["batch"].conversation_id == "c"
    assert append.outcome == stored
    assert read == Call("MessageRepository", "page", {"query": PageQuery("c", "model")}, page)


async def test_the_second_call_fails_without_doing_its_work_and_the_others_pass() -> None:
    async with watched(Spy(MessageRepositoryTag, append=[passes, Failure(BUSY)])) as repository:
        outcomes = [await repository.append(batch("c", said(f"m{n}"))) for n in range(4)]
        assert [isinstance(outcome, Success) for outcome in outcomes] == [True, False, True, True]
        assert await size(repository) == 3


async def test_a_lost_answer_has_done_its_work_and_a_retry_finds_it_done() -> None:
    spy = Spy(MessageRepositoryTag, append=[loses_answer()])
    async with conversations(spy) as memory:
        first = await memory.add_messages("c", [HELLO])
        assert isinstance(first, Failure)
        assert isinstance(first.failure(), GenericMemoryError)
        assert first.failure().retry_is_safe
        again = await memory.add_messages("c", [HELLO]).or_raise()
        assert (again.stored, again.duplicates) == ((), ("m1",))


async def test_a_call_that_hangs_is_cancelled_and_has_done_nothing() -> None:
    async with watched(Spy(MessageRepositoryTag, append=[hangs])) as repository:
        with anyio.move_on_after(0) as scope:
            await repository.append(batch("c", said("m")))
        assert scope.cancelled_caught
        assert await size(repository) == 0


async def test_a_slow_call_passes_when_the_clock_has_moved() -> None:
    clock = TestClock()
    spy = Spy(MessageRepositoryTag, append=[after(5)])
    async with watched(spy, clock) as repository, anyio.create_task_group() as tasks:
        tasks.start_soon(repository.append(batch("c", said("m"))).run_in, Context.empty())
        await clock.advance(4.9)
        assert await size(repository) == 0
        await clock.advance(0.1)
        assert await size(repository) == 1


async def test_a_step_of_ones_own_does_with_the_work_what_it_likes() -> None:
    twice = Step(lambda work: work().bind(lambda _: work()))
    async with watched(Spy(MessageRepositoryTag, append=[twice])) as repository:
        outcome = await repository.append(batch("c", said("m")))
        assert outcome.unwrap().duplicates == ("m",)


class TellsItsClock:
    """A skill whose answer is the clock that it runs on."""

    def run(self, skill_id: str, request: object) -> Effect[Any]:
        return Effect.service(ClockTag)


async def test_only_the_steps_wait_on_the_clock_of_the_layer_and_the_work_runs_as_its_caller_says() -> None:
    given = Layer.succeed(ClockTag, TestClock()) | Layer.succeed(SkillRunnerTag, TellsItsClock())
    async with ManagedRuntime(given >> Spy(SkillRunnerTag).layer) as runtime:
        asked = (await runtime.service(SkillRunnerTag)).run("s", SkillRequest((), 1))
        mine = TestClock()
        assert await asked.provide(Context.of(ClockTag, mine)) == Success(mine)
        assert await asked == await Effect.service(ClockTag)  # the system's: nobody has said anything


async def test_a_defect_of_the_part_passes_through() -> None:
    broken = ValueError("坏了")
    spy = Spy(MessageRepositoryTag, append=[raises(broken)])
    async with watched(spy) as repository:
        with pytest.raises(ValueError, match="坏了"):
            await repository.append(batch("c", said("m")))
    assert spy.calls[0].outcome == Die(broken)


async def test_a_stream_passes_and_ends_with_the_failure_of_its_call() -> None:
    spy = Spy(ChatMemoryService, pages=[passes, Failure(GenericMemoryError(BUSY))])
    async with conversations(Spy(MessageRepositoryTag)) as real:
        memory = spy.around(real)
        await memory.add_messages("c", [HELLO]).or_raise()
        (page,) = [page async for page in memory.pages("c")]
        assert [message.content for message in page.unwrap().messages] == ["你好"]
        assert [page async for page in memory.pages("c")] == [Failure(GenericMemoryError(BUSY))]
    assert spy.calls.methods == ["add_messages", "pages", "pages"]


async def test_a_stream_that_is_left_early_is_closed_in_the_part() -> None:
    closed: list[str] = []

    async def pages(conversation_id: str) -> AsyncGenerator[str]:
        try:
            yield "first"
            yield "second"
        finally:
            closed.append(conversation_id)

    stub = Stub(ChatMemoryService, pages=pages)
    stream: Any = Spy(ChatMemoryService).around(stub.service).pages("c")
    async with aclosing(stream):
        assert await anext(stream) == "first"
        assert closed == []
    assert closed == ["c"]


async def test_it_goes_around_the_store_deep_in_a_ready_made_stack() -> None:
    spy = Spy(MessageRepositoryTag, append=[loses_answer()])
    async with ManagedRuntime(stacks.testing().replace(spy.layer)) as runtime:
        memory = await runtime.service(ChatMemoryService)
        assert (await memory.add_messages("c", [HELLO])).failure().tag == "GenericMemoryError"
        assert (await memory.add_messages("c", [HELLO]).or_raise()).duplicates == ("m1",)
    assert spy.calls.methods[:2] == ["append", "append"]


async def test_several_parts_record_in_one_list() -> None:
    calls = Calls()
    store, service = Spy(MessageRepositoryTag, calls), Spy(ChatMemoryService, calls)
    async with conversations(store) as memory:
        await service.around(memory).count("c").or_raise()
    assert [(call.service, call.method) for call in calls] == [
        ("ChatMemory", "count"),
        ("MessageRepository", "conversation"),
    ]
    assert [call.arguments for call in calls.of("count")] == [{"conversation_id": "c"}]


async def test_what_the_contract_does_not_name_is_still_there() -> None:
    class Named:
        nickname = "茶"

        def run(self, skill_id: str, request: object) -> Effect[str]:
            return Effect.succeed(skill_id)

    skills = Spy(SkillRunnerTag).around(Named())
    assert getattr(skills, "nickname") == "茶"  # noqa: B009  a checker sees the contract alone
    with pytest.raises(AttributeError):
        getattr(skills, "age")  # noqa: B009  likewise
