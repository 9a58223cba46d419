"""A stub answers by its script, in virtual time, and says what is wrong with the script or with the test."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from chatmemory import (
    ChatMemoryService,
    EmbedderTag,
    ManagedRuntime,
    NewMessage,
    SkillRunnerTag,
    TokenCounterTag,
)
from chatmemory.conversation.chat_memory_live import chat_memory
from chatmemory.conversation.message_repository import WorkThreshold
from chatmemory.conversation.messages import HistoryReport
from chatmemory.conversation.skill_runner import SkillRequest, SkillRunner
from chatmemory.conversation.strategies.contract import HistoryStrategyTag
from chatmemory.conversation.token_counter import token_counter
from chatmemory.effect import ClockTag, Context, Effect, Failure, Schedule, Success
from chatmemory.effect.effect_failed import EffectFailed
from chatmemory.effect.layer import UnimplementedError
from chatmemory.effect.outcome import Die, Interrupt
from chatmemory.effect.suspended import SuspendedError
from chatmemory.errors import RepositoryError, SkillExecutionError
from chatmemory.pastchats.prompt_repository import PromptRepositoryTag
from chatmemory.settings.memory_settings import StrategySettings
from chatmemory.testing import (
    Call,
    ScriptUsedUpError,
    Step,
    Stub,
    TestClock,
    after,
    forever,
    hangs,
    passes,
    raises,
)
from chatmemory_layers import stacks
from chatmemory_layers.configuration import settings_layer
from chatmemory_layers.in_memory.message_repository import message_repository
from tests.for_each import for_each

pytestmark = pytest.mark.anyio

TOO_SLOW = SkillExecutionError("summary", "timeout")
REQUEST = SkillRequest((), 100)


def stub(*steps: object) -> Stub[SkillRunnerTag, SkillRunner]:
    return Stub(SkillRunnerTag, run=list(steps))


async def run(skills: Stub[SkillRunnerTag, SkillRunner]) -> Any:
    return await skills.service.run("summary", REQUEST)


async def test_a_script_holds_values_outcomes_effects_and_steps() -> None:
    shout = Step(lambda _: Effect.succeed("!"))
    skills = stub("总结", Success("two"), Failure(TOO_SLOW), Effect.succeed("four"), shout)
    assert [await run(skills) for _ in range(5)] == [
        Success("总结"),
        Success("two"),
        Failure(TOO_SLOW),
        Success("four"),
        Success("!"),
    ]


async def test_every_call_is_kept_with_its_arguments_and_its_outcome() -> None:
    skills = stub("a summary", Failure(TOO_SLOW))
    assert await run(skills) == Success("a summary")
    assert await skills.service.run("other", request=REQUEST) == Failure(TOO_SLOW)
    asked = {"skill_id": "summary", "request": REQUEST}
    assert skills.calls == [
        Call("SkillRunner", "run", asked, Success("a summary")),
        Call("SkillRunner", "run", asked | {"skill_id": "other"}, Failure(TOO_SLOW)),
    ]


async def test_an_effect_takes_a_step_each_time_that_it_runs_and_none_by_being_made() -> None:
    skills = stub(Failure(TOO_SLOW), Failure(TOO_SLOW), "at last")
    effect = skills.service.run("summary", REQUEST)
    assert skills.calls == []
    assert await effect.retry(Schedule.recurs(5)) == Success("at last")
    assert len(skills.calls) == 3


async def test_a_script_that_is_used_up_says_so() -> None:
    skills = stub("one", "two")
    assert [await run(skills) for _ in range(2)] == [Success("one"), Success("two")]
    with pytest.raises(
        ScriptUsedUpError, match=r"SkillRunner\.run is used up: it has 2 steps, and this is call 3"
    ):
        await run(skills)
    assert isinstance(skills.calls[-1].outcome, Die)


async def test_the_last_step_may_be_for_ever() -> None:
    skills = stub("first", forever(Failure(TOO_SLOW)))
    outcomes = [await run(skills) for _ in range(4)]
    assert outcomes == [Success("first"), *[Failure(TOO_SLOW)] * 3]


async def test_a_function_decides_by_the_arguments() -> None:
    def by_name(skill_id: str, request: SkillRequest) -> object:
        return Failure(TOO_SLOW) if skill_id == "slow" else f"{skill_id}: {request.max_characters}"

    service = Stub(SkillRunnerTag, run=by_name).service
    assert await service.run("summary", REQUEST) == Success("summary: 100")
    assert await service.run("slow", REQUEST) == Failure(TOO_SLOW)


async def test_a_late_answer_comes_when_the_test_moves_the_clock() -> None:
    clock = TestClock()
    skills = stub(after(30, "late"))
    strategy = StrategySettings(type="summarize", summarize_every_n=1, keep_last=0, timeout_seconds=60)
    stack = stacks.testing(clock=clock, skills=skills.layer, strategy=strategy)
    async with ManagedRuntime(stack) as runtime, anyio.create_task_group() as tasks:
        memory = await runtime.service(ChatMemoryService)

        async def add() -> None:
            await memory.add_messages("茶", [NewMessage("user", "你好")]).or_raise()

        tasks.start_soon(add)
        await clock.advance(29)
        assert [call.outcome for call in skills.calls] == [None]
        await clock.advance(1)
        assert [call.outcome for call in skills.calls] == [Success("late")]


async def test_without_a_layer_it_waits_on_the_clock_of_whoever_calls() -> None:
    clock = TestClock()
    skills = stub(after(3600, after(3600, Failure(TOO_SLOW))))
    answers: list[object] = []

    async def ask() -> None:
        asked = skills.service.run("summary", REQUEST)
        answers.append(await asked.provide(Context.of(ClockTag, clock)))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask)
        await clock.advance(7199)
        assert answers == []
        await clock.advance(1)
    assert answers == [Failure(TOO_SLOW)]


async def test_what_hangs_ends_when_it_is_cancelled() -> None:
    skills = stub(hangs)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run, skills)
        await anyio.wait_all_tasks_blocked()
        assert skills.calls[0].outcome is None
        tasks.cancel_scope.cancel()
    assert skills.calls[0].outcome == Interrupt()


async def test_a_defect_is_raised_and_recorded() -> None:
    broken = ValueError("坏了")
    skills = stub(raises(broken))
    with pytest.raises(ValueError, match="坏了"):
        await run(skills)
    assert skills.calls[0].outcome == Die(broken)


def test_a_plain_method_returns_its_value_and_raises_its_failure() -> None:
    counts = Stub(TokenCounterTag, count=[7, Failure(TOO_SLOW), hangs]).service
    message = NewMessage("user", "你好")
    assert counts.count(message) == 7
    with pytest.raises(EffectFailed, match="timeout"):
        counts.count(message)
    with pytest.raises(SuspendedError, match="waits for something"):
        counts.count(message)


async def test_an_attribute_is_given_as_it_is() -> None:
    embedder = Stub(EmbedderTag, model="m", similarity_threshold=0.5, unavailability=[forever(None)]).service
    assert (embedder.model, embedder.similarity_threshold, embedder.unavailability()) == ("m", 0.5, None)


async def test_a_stack_runs_on_a_stubbed_strategy() -> None:
    done = [HistoryReport("done", ("s1",)), HistoryReport("idle")]
    strategy = Stub(HistoryStrategyTag, threshold=WorkThreshold(), after_add=[HistoryReport("idle"), *done])
    parts = settings_layer(environment={}) | message_repository | token_counter | strategy.layer
    async with ManagedRuntime(parts >> chat_memory) as runtime:
        memory = await runtime.service(ChatMemoryService)
        reports = [await memory.add_messages("c", [NewMessage("user", "你好")]).or_raise() for _ in range(2)]
    assert [report.history.summary_ids for report in reports] == [(), ("s1",)]
    assert strategy.calls.methods == ["after_add"] * 3


WRONG = [
    (
        lambda: Stub(SkillRunnerTag, rum=["a"]),
        AttributeError,
        r"SkillRunner has no 'rum' \(it has run\)",
    ),
    (lambda: Stub(SkillRunnerTag, run="a"), TypeError, r"a list, one step for each call.*run=\['a'\]"),
    (lambda: Stub(SkillRunnerTag, run=[TOO_SLOW]), TypeError, r"is an error: Failure\(.*\) fails with it"),
    (lambda: Stub(SkillRunnerTag, run=[OSError()]), TypeError, r"raises\(OSError\(\)\) raises it"),
    (lambda: Stub(SkillRunnerTag, run=[forever("a"), "b"]), TypeError, r"goes on after forever"),
    (lambda: Stub(SkillRunner), TypeError, r"SkillRunner.*is not a tag"),
    (lambda: stub("a").service.run("summary"), TypeError, r"missing a required argument: 'request'"),
    (
        lambda: Stub(SkillRunnerTag).service.run("s", REQUEST),
        UnimplementedError,
        r"give the stub a script, run=\[...\]",
    ),
    (
        lambda: stub(passes).service.run("s", REQUEST).run_sync(),
        UnimplementedError,
        r"nothing real behind it",
    ),
    (lambda: Stub(EmbedderTag).service.model, UnimplementedError, r"Embedder\.model"),
]


@for_each(("wrong", "kind", "message"), WRONG)
def test_a_wrong_stub_says_what_to_write(wrong: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        wrong()


def test_an_error_can_be_a_value_when_the_script_says_so() -> None:
    repository = Stub(PromptRepositoryTag, sources=[Success(RepositoryError("read", "busy"))]).service
    assert repository.sources().run_sync() == Success(RepositoryError("read", "busy"))
