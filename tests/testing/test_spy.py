"""A spy does what the real part does, records it, and goes wrong when it is told to."""

from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from chatmemory import EmbedderTag, TokenCounterTag
from chatmemory.conversation.chat_memory_live import chat_memory
from chatmemory.conversation.contract import ChatMemory, ChatMemoryService
from chatmemory.conversation.message_repository import (
    MessageRepository,
    MessageRepositoryTag,
    PageQuery,
)
from chatmemory.conversation.messages import AddReport
from chatmemory.conversation.new_message import NewMessage
from chatmemory.conversation.skill_runner import SkillRequest, SkillRunner, SkillRunnerTag
from chatmemory.conversation.strategies.history_strategy import history_strategy
from chatmemory.conversation.strategies.history_work import POLL_SECONDS
from chatmemory.conversation.token_counter import token_counter
from chatmemory.effect import ClockTag, Context, Effect, Failure, Layer, ManagedRuntime, Schedule, Success
from chatmemory.effect.layers.layer import UnimplementedError
from chatmemory.effect.outcome import Die, EffectFailed, Interrupt
from chatmemory.effect.suspended import SuspendedError
from chatmemory.errors import GenericMemoryError, RepositoryError, SkillExecutionError
from chatmemory.laws.kit.samples import batch, said
from chatmemory.pastchats.prompt_repository import PromptRepositoryTag
from chatmemory.settings.memory_settings import Settings, StrategySettings
from chatmemory.testing import (
    Call,
    Calls,
    ScriptUsedUpError,
    Spy,
    Step,
    Stub,
    TestClock,
    after,
    forever,
    hangs,
    loses_answer,
    passes,
    raises,
)
from chatmemory_layers import stacks
from chatmemory_layers.configuration import settings_given
from chatmemory_layers.in_memory.message_repository import message_repository
from tests.for_each import for_each

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
    skills = Stub(SkillRunnerTag)
    parts = settings_given(Settings()) | (message_repository >> spy.layer) | token_counter | skills.layer
    async with ManagedRuntime(parts.feed_keep(history_strategy) >> chat_memory) as runtime:
        yield await runtime.service(ChatMemoryService)


async def size(repository: MessageRepository) -> int:
    page = (await repository.page(PageQuery("c", "model"))).unwrap()
    return 0 if page is None else len(page.messages)


async def test_every_call_is_kept_and_several_parts_record_in_one_list() -> None:
    spy = Spy(MessageRepositoryTag)
    async with watched(spy) as repository:
        stored = await repository.append(batch("c", said("m")))
        page = await repository.page(PageQuery("c", "model"))
    assert stored.unwrap().stored == ("m",)
    append, read = spy.calls
    assert append.arguments["batch"].conversation_id == "c"
    assert append.outcome == stored
    assert read == Call("MessageRepository", "page", {"query": PageQuery("c", "model")}, page)
    calls = Calls()
    store, service = Spy(MessageRepositoryTag, calls), Spy(ChatMemoryService, calls)
    async with conversations(store) as memory:
        await service.around(memory).count("c").or_raise()
    assert [(call.service, call.method) for call in calls] == [
        ("ChatMemory", "count"),
        ("MessageRepository", "conversation"),
    ]
    assert [call.arguments for call in calls.of("count")] == [{"conversation_id": "c"}]


async def test_the_second_call_fails_without_doing_its_work_and_the_others_pass() -> None:
    async with watched(Spy(MessageRepositoryTag, append=[passes, Failure(BUSY)])) as repository:
        outcomes = [await repository.append(batch("c", said(f"m{n}"))) for n in range(4)]
        assert [isinstance(outcome, Success) for outcome in outcomes] == [True, False, True, True]
        assert await size(repository) == 3


async def test_a_lost_answer_has_done_its_work_in_a_part_or_deep_in_a_ready_made_stack() -> None:
    spy = Spy(MessageRepositoryTag, append=[loses_answer()])
    async with conversations(spy) as memory:
        first = await memory.add_messages("c", [HELLO])
        assert isinstance(first, Failure)
        assert isinstance(first.failure(), GenericMemoryError)
        assert first.failure().retry_is_safe
        again = await memory.add_messages("c", [HELLO]).or_raise()
        assert (again.stored, again.duplicates) == ((), ("m1",))
    spy = Spy(MessageRepositoryTag, append=[loses_answer()])
    async with ManagedRuntime(stacks.testing().replace(spy.layer)) as runtime:
        memory = await runtime.service(ChatMemoryService)
        assert (await memory.add_messages("c", [HELLO])).failure().tag == "GenericMemoryError"
        assert (await memory.add_messages("c", [HELLO]).or_raise()).duplicates == ("m1",)
    assert spy.calls.methods[:2] == ["append", "append"]


async def test_a_call_that_hangs_has_done_nothing_and_a_slow_one_passes_when_the_clock_has_moved() -> None:
    async with watched(Spy(MessageRepositoryTag, append=[hangs])) as repository:
        with anyio.move_on_after(0) as scope:
            await repository.append(batch("c", said("m")))
        assert scope.cancelled_caught
        assert await size(repository) == 0
    clock = TestClock()
    spy = Spy(MessageRepositoryTag, append=[after(5)])
    async with watched(spy, clock) as repository, anyio.create_task_group() as tasks:
        tasks.start_soon(repository.append(batch("c", said("m"))).run_in, Context.empty())
        await clock.advance(4.9)
        assert await size(repository) == 0
        await clock.advance(0.1)
        assert await size(repository) == 1


async def test_a_step_of_ones_own_does_what_it_likes_and_a_defect_of_the_part_passes_through() -> None:
    twice = Step(lambda work: work().bind(lambda _: work()))
    async with watched(Spy(MessageRepositoryTag, append=[twice])) as repository:
        outcome = await repository.append(batch("c", said("m")))
        assert outcome.unwrap().duplicates == ("m",)
    broken = ValueError("坏了")
    spy = Spy(MessageRepositoryTag, append=[raises(broken)])
    async with watched(spy) as repository:
        with pytest.raises(ValueError, match="坏了"):
            await repository.append(batch("c", said("m")))
    assert spy.calls[0].outcome == Die(broken)


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


async def test_a_stream_ends_with_the_failure_of_its_call_and_is_closed_when_it_is_left_early() -> None:
    spy = Spy(ChatMemoryService, pages=[passes, Failure(GenericMemoryError(BUSY))])
    async with conversations(Spy(MessageRepositoryTag)) as real:
        memory = spy.around(real)
        await memory.add_messages("c", [HELLO]).or_raise()
        (page,) = [page async for page in memory.pages("c")]
        assert [message.content for message in page.unwrap().messages] == ["你好"]
        assert [page async for page in memory.pages("c")] == [Failure(GenericMemoryError(BUSY))]
    assert spy.calls.methods == ["add_messages", "pages", "pages"]
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


async def test_what_the_contract_does_not_name_is_still_there() -> None:
    class Named:
        nickname = "茶"

        def run(self, skill_id: str, request: object) -> Effect[str]:
            return Effect.succeed(skill_id)

    skills = Spy(SkillRunnerTag).around(Named())
    assert getattr(skills, "nickname") == "茶"  # noqa: B009  a checker sees the contract alone
    with pytest.raises(AttributeError):
        getattr(skills, "age")  # noqa: B009  likewise


TOO_SLOW = SkillExecutionError("summary", "timeout")
REQUEST = SkillRequest((), 100)


def stub(*steps: object) -> Stub[SkillRunnerTag, SkillRunner]:
    return Stub(SkillRunnerTag, run=list(steps))


def asked(skills: Stub[SkillRunnerTag, SkillRunner]) -> Effect[str, Any]:
    return skills.service.run("summary", REQUEST)


async def run(skills: Stub[SkillRunnerTag, SkillRunner]) -> Any:
    return await asked(skills)


async def test_a_script_holds_values_outcomes_effects_and_steps_and_says_when_it_is_used_up() -> None:
    shout = Step(lambda _: Effect.succeed("!"))
    skills = stub("总结", Success("two"), Failure(TOO_SLOW), Effect.succeed("four"), shout)
    assert [await run(skills) for _ in range(5)] == [
        Success("总结"),
        Success("two"),
        Failure(TOO_SLOW),
        Success("four"),
        Success("!"),
    ]
    skills = stub("one", "two")
    assert [await run(skills) for _ in range(2)] == [Success("one"), Success("two")]
    told = r"SkillRunner\.run is used up: it has 2 steps, and this is call 3"
    with pytest.raises(ScriptUsedUpError, match=told):
        await run(skills)
    assert isinstance(skills.calls[-1].outcome, Die)
    skills = stub("first", forever(Failure(TOO_SLOW)))
    outcomes = [await run(skills) for _ in range(4)]
    assert outcomes == [Success("first"), *[Failure(TOO_SLOW)] * 3]


async def test_every_call_is_kept_and_an_effect_takes_a_step_each_time_that_it_runs() -> None:
    skills = stub("a summary", Failure(TOO_SLOW))
    assert await run(skills) == Success("a summary")
    assert await skills.service.run("other", request=REQUEST) == Failure(TOO_SLOW)
    given = {"skill_id": "summary", "request": REQUEST}
    assert skills.calls == [
        Call("SkillRunner", "run", given, Success("a summary")),
        Call("SkillRunner", "run", given | {"skill_id": "other"}, Failure(TOO_SLOW)),
    ]
    skills = stub(Failure(TOO_SLOW), Failure(TOO_SLOW), "at last")
    effect = skills.service.run("summary", REQUEST)
    assert skills.calls == []
    assert await effect.retry(Schedule.recurs(5)) == Success("at last")
    assert len(skills.calls) == 3


async def test_a_function_decides_by_the_arguments_and_late_answers_wait_on_the_clock_of_the_caller() -> None:
    def by_name(skill_id: str, request: SkillRequest) -> object:
        return Failure(TOO_SLOW) if skill_id == "slow" else f"{skill_id}: {request.max_characters}"

    service = Stub(SkillRunnerTag, run=by_name).service
    assert await service.run("summary", REQUEST) == Success("summary: 100")
    assert await service.run("slow", REQUEST) == Failure(TOO_SLOW)
    clock = TestClock()
    skills = stub(after(3600, after(3600, Failure(TOO_SLOW))))
    answers: list[object] = []

    async def ask() -> None:
        answers.append(await asked(skills).provide(Context.of(ClockTag, clock)))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask)
        await clock.advance(7199)
        assert answers == []
        await clock.advance(1)
    assert answers == [Failure(TOO_SLOW)]


async def test_what_hangs_ends_when_it_is_cancelled_and_a_defect_is_raised_and_recorded() -> None:
    skills = stub(hangs)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run, skills)
        await anyio.wait_all_tasks_blocked()
        assert skills.calls[0].outcome is None
        tasks.cancel_scope.cancel()
    assert skills.calls[0].outcome == Interrupt()
    broken = ValueError("坏了")
    skills = stub(raises(broken))
    with pytest.raises(ValueError, match="坏了"):
        await run(skills)
    assert skills.calls[0].outcome == Die(broken)


async def test_a_plain_method_returns_or_raises_and_an_attribute_is_given_as_it_is() -> None:
    counts = Stub(TokenCounterTag, count=[7, Failure(TOO_SLOW), hangs]).service
    message = NewMessage("user", "你好")
    assert counts.count(message) == 7
    with pytest.raises(EffectFailed, match="timeout"):
        counts.count(message)
    with pytest.raises(SuspendedError, match="waits for something"):
        counts.count(message)
    embedder = Stub(EmbedderTag, model="m", similarity_threshold=0.5, unavailability=[forever(None)]).service
    assert (embedder.model, embedder.similarity_threshold, embedder.unavailability()) == ("m", 0.5, None)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_skill_that_hangs_ends_on_the_clock_of_the_test_on_sqlite_too(tmp_path: Path) -> None:
    clock, skills = TestClock(), Stub(SkillRunnerTag, run=[hangs, hangs])
    soon = StrategySettings(type="summarize", summarize_every_n=2, keep_last=0)
    stack = stacks.embedded(tmp_path / "a.db", clock=clock, strategy=soon, skills=skills.layer)
    reports: list[AddReport] = []
    async with ManagedRuntime(stack) as runtime:
        memory = await runtime.service(ChatMemoryService)

        async def add() -> None:
            said = [NewMessage("user", word) for word in "ab"]
            reports.append(await memory.add_messages("c", said).or_raise())

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(add)
            await clock.advance(soon.timeout_seconds)
        await clock.advance(soon.retry_seconds + POLL_SECONDS)
        await skills.called(2)  # a worker tries again, and hangs while the stack closes
    failure = reports[0].history.failure
    assert isinstance(failure and failure.reason, SkillExecutionError)
    with pytest.raises(TimeoutError, match="2 calls have begun instead of 3: run, run"):
        await skills.calls.called(3, seconds=0)


WRONG = [
    (lambda: Stub(SkillRunnerTag, run="a"), TypeError, r"a list, one step for each call.*run=\['a'\]"),
    (lambda: Stub(SkillRunnerTag, run=[TOO_SLOW]), TypeError, r"is an error: Failure\(.*\) fails with it"),
    (lambda: Stub(SkillRunnerTag, run=[OSError()]), TypeError, r"raises\(OSError\(\)\) raises it"),
    (lambda: Stub(SkillRunnerTag, run=[forever("a"), "b"]), TypeError, r"goes on after forever"),
    (lambda: stub("a").service.run("summary"), TypeError, r"missing a required argument: 'request'"),
    (lambda: asked(Stub(SkillRunnerTag)), UnimplementedError, r"give the stub a script, run=\[...\]"),
    (lambda: asked(stub(passes)).run_sync(), UnimplementedError, r"nothing real behind it"),
    (lambda: Stub(EmbedderTag).service.model, UnimplementedError, r"Embedder\.model"),
]


@for_each(("wrong", "kind", "message"), WRONG)
def test_a_wrong_stub_says_what_to_write(wrong: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        wrong()


def test_an_error_can_be_a_value_when_the_script_says_so() -> None:
    repository = Stub(PromptRepositoryTag, sources=[Success(RepositoryError("read", "busy"))]).service
    assert repository.sources().run_sync() == Success(RepositoryError("read", "busy"))
