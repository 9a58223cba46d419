"""The skill runner that calls a model over HTTP: any endpoint with OpenAI's chat completions protocol.

``chatmemory_layers.endpoint`` sends the request, waits and retries; this module makes it, and reads the text in the JSON
object of the answer.
"""

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Final, TypeAlias, cast, final

from attrs import frozen

from chatmemory.conversation.messages import ChatMessage
from chatmemory.conversation.skill_runner import SkillRequest, SkillRunner, SkillRunnerTag
from chatmemory.effect import Effect, Failure, Layer, Outcome, Success
from chatmemory.errors import ConfigError, SkillExecutionError, SkillProblem
from chatmemory.input.json_value import Json
from chatmemory.input.rules import clean_text
from chatmemory.settings.memory_settings import SkillSettings, SkillSettingsTag
from chatmemory_layers.endpoint import Endpoint, EndpointFailure, JsonMapping, open_endpoint
from chatmemory_layers.skills.instructions import ANSWERED_IN_JSON, INSTRUCTIONS
from chatmemory_layers.skills.transcript import ELLIPSIS, is_cjk

LONGEST_ANSWER_BYTES: Final = 4 * 1024 * 1024
LONGEST_MESSAGE: Final = (
    24_000  # characters sent per message, from both ends; a log need not fill the context of the model
)
SAMPLE: Final = 200  # characters of each message from which its language is detected


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


def request_body(
    skill_id: str, model: str, messages: Sequence[ChatMessage], max_characters: int
) -> dict[str, Json]:
    """Return the body of the request, in the language of most of the conversation.

    *skill_id* is a key of ``INSTRUCTIONS``.
    """
    english, chinese = INSTRUCTIONS[skill_id]
    sample = "".join(message.content[:SAMPLE] for message in messages)
    instruction = chinese if is_cjk(sample) else english
    body: dict[str, Json] = {
        "model": model,
        "messages": [
            {"role": "system", "content": instruction.format(max_characters=max_characters)},
            {"role": "user", "content": fence(messages)},
        ],
        "temperature": 0,
        "stream": False,
    }
    if skill_id in ANSWERED_IN_JSON:
        body["response_format"] = {"type": "json_object"}
    return body


def fence(messages: Sequence[ChatMessage]) -> str:
    """Return *messages* as data: a JSON object per line, without any ``<`` that could close the fence."""
    lines: list[str] = []
    for message in messages:
        content = clean_text(message.content)  # a lone surrogate cannot be encoded
        if len(content) > LONGEST_MESSAGE:
            half = LONGEST_MESSAGE // 2
            content = f"{content[:half]}\n{ELLIPSIS}\n{content[-half:]}"
        lines.append(
            json.dumps({"role": message.role, "content": content}, ensure_ascii=False).replace("<", "\\u003c")
        )
    return "\n".join(["<conversation>", *lines, "</conversation>"])


def read_completion(skill_id: str, answer: JsonMapping) -> Outcome[str, SkillExecutionError]:
    """Return the text of a completion, which may have any shape, or what is wrong with it."""
    found = _text_of(answer)
    return found if isinstance(found, Success) else Failure(SkillExecutionError(skill_id, *found.failure()))


Oddity: TypeAlias = tuple[SkillProblem, str]


def _text_of(answer: JsonMapping) -> Outcome[str, Oddity]:
    choices = answer.get("choices")
    if not isinstance(choices, list):
        return Failure(("malformed", "no list of choices"))
    first = cast("list[object]", choices)[:1]
    if not first:
        return Failure(("empty", "no choices"))
    message = cast("JsonMapping", first[0]).get("message") if isinstance(first[0], dict) else None
    if not isinstance(message, dict):
        return Failure(("malformed", "the first choice has no message"))
    said = cast("JsonMapping", message)
    content = said.get("content")
    finish_reason = cast("JsonMapping", first[0]).get("finish_reason")
    if finish_reason == "length":
        return Failure(("oversized", "the model stopped in the middle, at its own limit"))
    if finish_reason == "content_filter":
        return Failure(("refused", "the endpoint's content filter"))
    if content is None:
        if said.get("tool_calls") or said.get("function_call"):
            return Failure(("malformed", "a tool call instead of text"))
        return Failure(
            ("refused", "the model declined") if said.get("refusal") else ("empty", "null content")
        )
    if not isinstance(content, str):
        return Failure(("malformed", f"content is {type(content).__name__}, not text"))
    text = clean_text(content).strip()
    return Success(text) if text else Failure(("empty", "blank content"))
