"""What every skill runner promises, whatever runs the skill."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import anyio
import pytest

from chatmemory.conversation.messages import ChatMessage
from chatmemory.conversation.skill_runner import SkillRequest, SkillRunner, SkillRunnerTag
from chatmemory.effect import Effect, Failure, Layer, ManagedRuntime, Success
from chatmemory.input.choices import Role
from chatmemory.input.rules import text_problem
from chatmemory.settings.memory_settings import SkillSettings, SkillSettingsTag
from chatmemory_layers.skills.extractive import extractive
from chatmemory_layers.skills.functions import skills
from chatmemory_layers.skills.openai_compatible import openai_compatible
from tests.http_server import Reply, http_server

SUMMARY = "conversation-summary"
START = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)


def conversation(*said: tuple[Role, str]) -> tuple[ChatMessage, ...]:
    return tuple(
        ChatMessage(
            id=f"m{seq}", seq=seq, role=role, content=content, timestamp=START + timedelta(minutes=seq)
        )
        for seq, (role, content) in enumerate(said, start=1)
    )


ENGLISH = conversation(
    ("user", "Hello! My name is Ines and I am planning a trip to Lisbon in June."),
    ("assistant", "How nice! How many days do you have?"),
    ("user", "Six days. I am allergic to peanuts, please keep that in mind."),
)
CHINESE = conversation(
    ("user", "你好，我叫王峰。我打算六月去里斯本旅行，一共六天。"),
    ("assistant", "好的，请问您有什么特别的要求吗？"),
    ("user", "我对花生过敏，请记住。"),
)


@asynccontextmanager
async def opened(layer: Layer[SkillRunnerTag, Any]) -> AsyncGenerator[SkillRunner]:
    async with ManagedRuntime(layer) as runtime:
        yield await runtime.service(SkillRunnerTag)


FUNCTIONS = skills({SUMMARY: lambda request: request.messages[-1].content[: request.max_characters]})


@asynccontextmanager
async def run_openai_compatible() -> AsyncGenerator[SkillRunner]:
    async with http_server(Reply.completion("Ines: Lisbon, June, 6 days; peanut allergy.")) as server:
        settings = Layer.succeed(SkillSettingsTag, SkillSettings(base_url=server.url))
        async with opened(settings >> openai_compatible) as runner:
            yield runner


Runs = Callable[[], AbstractAsyncContextManager[SkillRunner]]


OPENED = {
    "extractive": partial(opened, extractive),
    "functions": partial(opened, FUNCTIONS),
    "openai_compatible": run_openai_compatible,
}


@pytest.fixture(params=OPENED.values(), ids=OPENED)
def runs(request: pytest.FixtureRequest) -> Runs:
    """Opened by each test itself: a runtime is left in the task that entered it, which a fixture cannot promise."""
    opens: Runs = request.param
    return opens


async def test_a_summary_is_text_that_can_be_stored_within_its_bound_each_time_and_for_many_at_once(
    runs: Runs,
) -> None:
    async with runs() as runner:
        for messages in (ENGLISH, CHINESE):
            run = runner.run(SUMMARY, SkillRequest(messages, 200))
            text = await run.or_raise()
            assert text.strip()
            assert len(text) <= 200
            assert text_problem(text) is None
            assert await run == Success(text)
            assert await Effect.all([run] * 8, concurrency=None).or_raise() == [text] * 8


async def test_an_unknown_skill_is_a_typed_failure_that_names_it(runs: Runs) -> None:
    async with runs() as runner:
        for skill_id in ("conversation-summery", "", "对话摘要"):
            outcome = await runner.run(skill_id, SkillRequest(ENGLISH, 200))
            assert isinstance(outcome, Failure)
            error = outcome.failure()
            assert (error.skill_id, error.problem) == (skill_id, "unknown_skill")
            assert (error.retry_is_safe, SUMMARY in error.detail) == (False, True)


async def test_a_cancelled_run_is_cancelled_and_the_next_one_succeeds(runs: Runs) -> None:
    async with runs() as runner:
        run = runner.run(SUMMARY, SkillRequest(ENGLISH, 200))
        with anyio.CancelScope() as scope:
            scope.cancel()
            await run
            pytest.fail("it went on after it was cancelled")
        assert scope.cancelled_caught
        assert isinstance(await run, Success)
