"""What every skill runner promises, whatever runs the skill."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Any

import anyio
import pytest

from chatmemory.conversation.skill_runner import SkillRequest, SkillRunner, SkillRunnerTag
from chatmemory.effect import Effect, Layer, ManagedRuntime, Success
from chatmemory.input.rules import text_problem
from chatmemory.settings.memory_settings import SkillSettings, SkillSettingsTag
from chatmemory_layers.skills.extractive import extractive
from chatmemory_layers.skills.functions import skills
from chatmemory_layers.skills.openai_compatible import openai_compatible
from tests.http_server import Reply, http_server
from tests.unit.skills.test_extractive import INCIDENT, TRIP_IN_CHINESE

SUMMARY = "conversation-summary"
ENGLISH, CHINESE = tuple(INCIDENT), tuple(TRIP_IN_CHINESE)


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
