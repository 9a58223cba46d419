"""The skill runner that asks a model over HTTP: any endpoint that speaks OpenAI's chat completions.

What is asked and what an answer comes to is defined in ``chat_completion.py``.  Here it is sent, waited for and tried
again.  httpx is imported when the layer is built; the extra ``chatmemory-effect[openai]`` brings it.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final, final

from attrs import frozen
from returns.result import Failure

from chatmemory.contracts import SkillRequest, SkillRunner, SkillRunnerTag
from chatmemory.effect import Effect, EffectFailed, Layer, Outcome
from chatmemory.effect.clock import Clock, ClockTag
from chatmemory.effect.config import ConfigError, InvalidValue
from chatmemory.effect.schedule import Moment, Run, Schedule
from chatmemory.errors import SkillExecutionError, SkillProblem
from chatmemory.settings import SkillSettings, SkillSettingsTag
from chatmemory_layers.skills.chat_completion import INSTRUCTIONS, read_answer, request_body

if TYPE_CHECKING:
    import httpx

FIRST_PAUSE_SECONDS: Final = 0.5  # doubles with every retry; who is overloaded asks for more
LONGEST_PAUSE_SECONDS: Final = 30.0  # who is asked to wait longer comes back with the next summary
LONGEST_ANSWER_BYTES: Final = 4 * 1024 * 1024
PASSING: Final[frozenset[SkillProblem]] = frozenset({"rate_limited", "unavailable", "timeout"})

log = logging.getLogger(__name__)


@final
@frozen
class ChatCompletionSkills:
    """Runs the skills that ``INSTRUCTIONS`` describes, each with one completion."""

    client: httpx.AsyncClient
    settings: SkillSettings

    def run(self, skill_id: str, request: SkillRequest) -> Effect[str, SkillExecutionError]:
        """Ask the model; again after a passing failure, up to ``settings.max_retries`` times."""
        if skill_id not in INSTRUCTIONS:
            known = ", ".join(map(repr, INSTRUCTIONS))
            return Effect.fail(
                SkillExecutionError(skill_id, "unknown_skill", f"there is a prompt for {known} only")
            )
        seconds = self.settings.timeout_seconds
        too_late = SkillExecutionError(skill_id, "timeout", f"no answer within {seconds:g} s")
        return (
            ClockTag.use(lambda clock: Effect.from_outcome(lambda: self._ask(skill_id, request, clock)))
            # One limit around it all: httpx's own start anew with every byte that drips in.
            .timeout(seconds, lambda: too_late)
            .tap_error(_note)
            .retry(PAUSES & Schedule.recurs(self.settings.max_retries), while_=_will_pass)
        )

    async def _ask(
        self, skill_id: str, request: SkillRequest, clock: Clock
    ) -> Outcome[str, SkillExecutionError]:
        import httpx  # noqa: PLC0415  see open_skills

        body = request_body(skill_id, self.settings.model, request.messages, request.max_characters)
        try:
            async with self.client.stream("POST", "chat/completions", json=body) as response:
                received = bytearray()
                async for chunk in response.aiter_bytes():
                    received += chunk
                    if len(received) > LONGEST_ANSWER_BYTES:
                        detail = f"the answer is longer than {LONGEST_ANSWER_BYTES} bytes"
                        return Failure(SkillExecutionError(skill_id, "oversized", detail))
        except httpx.HTTPError as exception:
            return Failure(
                SkillExecutionError(
                    skill_id, _problem_of(exception), type(exception).__name__, cause=exception
                )
            )
        return read_answer(
            skill_id,
            response.status_code,
            response.headers,
            bytes(received),
            now=clock.now(),
            secret=self.settings.api_key,
        )


@asynccontextmanager
async def open_skills(settings: SkillSettings) -> AsyncGenerator[SkillRunner]:
    """Hold one client with its connections for as long as the layer lives.

    Raises:
        EffectFailed: the settings cannot be used; holds a ``ConfigError``.
    """
    if problems := _problems_of(settings):
        raise EffectFailed(ConfigError(problems))
    import httpx  # noqa: PLC0415  optional, and half of the import time of the package

    headers = {"authorization": f"Bearer {settings.api_key}"} if settings.api_key else {}
    # Redirects stay where they are: followed, they would carry the conversation to whomever the endpoint names.
    async with httpx.AsyncClient(
        base_url=settings.base_url, headers=headers, timeout=settings.timeout_seconds, follow_redirects=False
    ) as client:
        yield ChatCompletionSkills(client, settings)


openai_compatible: Final = Layer.scoped(SkillRunnerTag, open_skills, SkillSettingsTag).failing_with(
    ConfigError
)


def _problems_of(settings: SkillSettings) -> tuple[InvalidValue, ...]:
    """Return what keeps a client from being made, without quoting the key, as the client's own exceptions would."""
    try:
        import httpx  # noqa: PLC0415  see open_skills
    except ImportError:
        return (InvalidValue("memory.skill.runner", "needs httpx: pip install 'chatmemory-effect[openai]'"),)
    problems: list[InvalidValue] = []
    try:
        url = httpx.URL(settings.base_url)
        is_address = url.scheme in {"http", "https"} and bool(url.host)
    except httpx.InvalidURL:
        is_address = False
    if not is_address:
        problems.append(
            InvalidValue("memory.skill.baseUrl", "expected an address like http://localhost:11434/v1")
        )
    if not all("!" <= character <= "~" for character in settings.api_key):
        problems.append(InvalidValue("memory.skill.apiKey", "expected printable ASCII without spaces"))
    return tuple(problems)


def _as_asked(moment: Moment[SkillExecutionError]) -> Run[None, SkillExecutionError]:
    """Wait as long as the endpoint asks for, which may be not at all."""
    while True:
        moment = yield None, moment.input.retry_after_seconds or 0.0


PAUSES: Final = Schedule(_as_asked) & Schedule.exponential(FIRST_PAUSE_SECONDS).jittered()
"""The longer one of what the endpoint asks for and a growing pause."""


def _will_pass(error: SkillExecutionError) -> bool:
    return error.problem in PASSING and (error.retry_after_seconds or 0.0) <= LONGEST_PAUSE_SECONDS


def _note(error: SkillExecutionError) -> Effect[None]:
    facts = {
        "skill_id": error.skill_id,
        "problem": error.problem,
        "retry_after_seconds": error.retry_after_seconds,
    }
    return Effect.sync(lambda: log.warning("a request to the model failed: %s", error, extra=facts))


def _problem_of(exception: httpx.HTTPError) -> SkillProblem:
    """Say what an exception of the client means; its text is left out, as it may quote addresses."""
    import httpx  # noqa: PLC0415  see open_skills

    match exception:
        case httpx.TimeoutException():
            return "timeout"
        case httpx.DecodingError():
            return "malformed"
        case _:
            return "unavailable"
