"""Extraction by a skill: it asks, checks the answer, asks once more with the problems, and then uses the rules instead.

``answer.py`` defines valid answers; the skill runner has the prompt for the model.
"""

import logging
from functools import partial
from typing import Final, final

from attrs import evolve, frozen

from chatmemory.conversation.messages import ChatMessage
from chatmemory.conversation.skill_runner import SkillRequest, SkillRunner
from chatmemory.effect import Die, Do, Effect, EffectInterrupted, Exit, Fail, Failure, Success
from chatmemory.effect.services.clock import Clock
from chatmemory.errors import DataValidationError, SkillExecutionError, SkillProblem
from chatmemory.input.choices import Role
from chatmemory.input.rules import clean_text
from chatmemory.longterm.extraction.answer import proposals_of, read_answer
from chatmemory.longterm.extraction.memory_extractor import MemoryExtractor
from chatmemory.longterm.extraction.proposals import Extraction, Speaker
from chatmemory.settings.memory_settings import ExtractionSettings
from chatmemory.text.fence import without_recalled_blocks

log = logging.getLogger(__name__)

MAX_ANSWER_CHARACTERS: Final = 16_000  # enough for more than 16 memories
LONGEST_COMPLAINT: Final = (
    1_000  # characters; a list of a hundred problems does not help a model more than the first ones
)


@final
@frozen
class SkillExtractor(MemoryExtractor):
    """Asks the skill ``memory.extraction.skillId``; *rules* are used when its answer is invalid or too late.

    The skill receives one message, the text, with the role of its speaker, and answers with the JSON of ``answer.py``.
    After an invalid answer it receives three messages: the text, its answer, and the problems of the answer with the role
    ``system``.
    """

    skills: SkillRunner
    rules: MemoryExtractor
    clock: Clock
    settings: ExtractionSettings

    def extract(self, content: str, *, role: Speaker = "user") -> Effect[Extraction]:
        # The length stays the same, so that a place in this text is the same place in the content.
        text = clean_text(without_recalled_blocks(content))
        if not text.strip():
            return Effect.succeed(Extraction((), self.settings.skill_id))
        seconds = self.settings.timeout_seconds
        return (
            self._ask(text, role)
            .timeout(seconds, lambda: self._failed("timeout", f"no answer within {seconds:g} s"))
            .lash(lambda error: self._by_rules(content, role, error))
        )

    @Effect.gen
    async def _ask(self, do: Do[SkillExecutionError], text: str, role: Speaker) -> Extraction:
        said = self._message(1, role, text)
        answer = await do(self._run(said))
        found = read_answer(answer)
        if not isinstance(found, Success):
            wrong = self._message(3, "system", str(found.failure())[:LONGEST_COMPLAINT])
            found = read_answer(await do(self._run(said, self._message(2, "assistant", answer), wrong)))
        if not isinstance(found, Success):
            wrong_twice = f"two invalid answers, the second one with problems at {_places(found.failure())}"
            do.fail(self._failed("malformed", wrong_twice))
        return Extraction(proposals_of(found.unwrap(), text), self.settings.skill_id)

    @Effect.gen
    async def _run(self, do: Do[SkillExecutionError], *messages: ChatMessage) -> str:
        answer = await do(
            Effect.succeed(SkillRequest(messages, MAX_ANSWER_CHARACTERS))
            .bind(partial(self.skills.run, self.settings.skill_id))
            .exit()
            .bind(self._answered)
        )
        if len(answer) > MAX_ANSWER_CHARACTERS:
            do.fail(self._failed("oversized", f"{len(answer)} characters, {MAX_ANSWER_CHARACTERS} allowed"))
        return answer

    def _answered(self, ended: Exit[str, SkillExecutionError]) -> Effect[str, SkillExecutionError]:
        """Return the answer; a defect of a user's runner becomes a failure."""
        match ended:
            case Success(answer):
                return Effect.succeed(answer)
            case Failure(Fail(error)):
                return Effect.fail(error)
            case Failure(Die(defect)):
                # Its text may quote the message, so it is only in the cause.
                raised = SkillExecutionError(
                    self.settings.skill_id, "raised", type(defect).__name__, cause=defect
                )
                return Effect.fail(raised)
            case _:
                raise EffectInterrupted

    def _failed(self, problem: SkillProblem, detail: str) -> SkillExecutionError:
        """Return the error of a missing answer; *detail* does not quote the message."""
        return SkillExecutionError(self.settings.skill_id, problem, detail)

    def _message(self, number: int, role: Role, content: str) -> ChatMessage:
        return ChatMessage(f"extraction-{number}", number, role, content, self.clock.now())

    def _by_rules(self, content: str, role: Speaker, error: SkillExecutionError) -> Effect[Extraction]:
        note = f"the rules were used instead: {error}"
        log.warning("%s", note, extra={"problem": error.problem})
        return self.rules.extract(content, role=role).map(lambda found: evolve(found, note=note))


def _places(error: DataValidationError) -> str:
    return ", ".join(problem.path for problem in error.problems)[:LONGEST_COMPLAINT]
