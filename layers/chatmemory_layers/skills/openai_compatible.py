"""The skill runner that calls a model over HTTP: any endpoint with OpenAI's chat completions protocol.

``chat_completion.py`` defines the request and reads the answer; ``chatmemory_layers.endpoint`` sends it, waits and
retries.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final, final

from attrs import frozen

from chatmemory.conversation.skill_runner import SkillRequest, SkillRunner, SkillRunnerTag
from chatmemory.effect import Effect, Layer
from chatmemory.errors import ConfigError, SkillExecutionError
from chatmemory.settings.memory_settings import SkillSettings, SkillSettingsTag
from chatmemory_layers.endpoint import Endpoint, open_endpoint
from chatmemory_layers.endpoint_answer import EndpointFailure
from chatmemory_layers.skills.chat_completion import read_completion, request_body
from chatmemory_layers.skills.instructions import INSTRUCTIONS

LONGEST_ANSWER_BYTES: Final = 4 * 1024 * 1024


@final
@frozen
class ChatCompletionSkills:
    """Runs the skills that ``INSTRUCTIONS`` describes, each with one completion."""

    endpoint: Endpoint
    model: str

    def run(self, skill_id: str, request: SkillRequest) -> Effect[str, SkillExecutionError]:
        """Ask the model; retry after a temporary failure, up to ``memory.skill.maxRetries`` times."""
        if skill_id not in INSTRUCTIONS:
            known = ", ".join(map(repr, INSTRUCTIONS))
            return Effect.fail(
                SkillExecutionError(skill_id, "unknown_skill", f"there is a prompt for {known} only")
            )
        body = request_body(skill_id, self.model, request.messages, request.max_characters)
        return (
            self.endpoint.ask("chat/completions", body)
            .alt(lambda failure: _skill_error(skill_id, failure))
            .bind(lambda answer: Effect.from_result(read_completion(skill_id, answer)))
        )


@asynccontextmanager
async def open_skills(settings: SkillSettings) -> AsyncGenerator[SkillRunner]:
    """Yield the skill runner, with one client that keeps its connections while the layer is open.

    Raises:
        EffectFailed: the settings are invalid; holds a ``ConfigError``.
    """
    async with open_endpoint(
        settings, section="memory.skill", chosen_by="runner", longest_answer=LONGEST_ANSWER_BYTES
    ) as endpoint:
        yield ChatCompletionSkills(endpoint, settings.model)


openai_compatible: Final = Layer.scoped(SkillRunnerTag, open_skills, SkillSettingsTag).failing_with(
    ConfigError
)


def _skill_error(skill_id: str, failure: EndpointFailure) -> SkillExecutionError:
    return SkillExecutionError(
        skill_id, failure.problem, failure.detail, failure.retry_after_seconds, failure.cause
    )
