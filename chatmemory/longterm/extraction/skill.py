"""Extraction by a skill: ask, check the answer, ask once more with what was wrong, and then leave it to the rules.

What an answer may be stands in ``answer.py``; the words in which a model is asked, with the skill runner.
"""

import logging
from typing import Final, final

from attrs import evolve, frozen

from chatmemory.conversation.messages import ChatMessage
from chatmemory.conversation.skill_runner import SkillRequest, SkillRunner
from chatmemory.effect import Cause, Die, Do, Effect, Exit, Failure, Success
from chatmemory.effect.outcome import outcome_from_exit
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

MAX_ANSWER_CHARACTERS: Final = 16_000  # 16 memories, and then some
LONGEST_COMPLAINT: Final = (
    1_000  # characters; a model that got a hundred things wrong is not helped by all of them
)


@final
@frozen
class SkillExtractor:
    """Asks the skill ``memory.extraction.skillId``; *rules* stand in for it when it does not answer well or in time.

    The skill receives one message, the text, under the role of its speaker, and answers with the JSON of
    ``answer.py``.  When that was no such JSON it receives three: the text, its answer, and, under the role
    ``system``, what was wrong with it.
    """

    skills: SkillRunner
    rules: MemoryExtractor
    clock: Clock
    settings: ExtractionSettings

    def extract(self, content: str, *, role: Speaker = "user") -> Effect[Extraction]:
        """Propose what the skill finds, and never fail: ``note`` says why the rules had to do it."""
        # As long as before, so that evidence found here is evidence in the content.
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
            wrong_twice = (
                f"two answers that hold no memories, the second one wrong at {_places(found.failure())}"
            )
            do.fail(self._failed("malformed", wrong_twice))
        return Extraction(proposals_of(found.unwrap(), text), self.settings.skill_id)

    @Effect.gen
    async def _run(self, do: Do[SkillExecutionError], *messages: ChatMessage) -> str:
        answer = await do(
            self.skills.run(self.settings.skill_id, SkillRequest(messages, MAX_ANSWER_CHARACTERS))
            .exit()
            .bind(self._answered)
        )
        if len(answer) > MAX_ANSWER_CHARACTERS:
            do.fail(self._failed("oversized", f"{len(answer)} characters, {MAX_ANSWER_CHARACTERS} allowed"))
        return answer

    def _answered(self, ended: Exit[str, SkillExecutionError]) -> Effect[str, SkillExecutionError]:
        """Return the answer; a defect of a user's runner is a failure here."""
        match ended:
            case Failure(Cause((Die(defect), *_))):
                # Its text may quote what was said: it stays in the cause.
                raised = SkillExecutionError(
                    self.settings.skill_id, "raised", type(defect).__name__, cause=defect
                )
                return Effect.fail(raised)
            case _:
                return Effect.from_result(outcome_from_exit(ended))

    def _failed(self, problem: SkillProblem, detail: str) -> SkillExecutionError:
        """Say why there is no answer; *detail* quotes nothing that anybody said."""
        return SkillExecutionError(self.settings.skill_id, problem, detail)

    def _message(self, number: int, role: Role, content: str) -> ChatMessage:
        return ChatMessage(f"extraction-{number}", number, role, content, self.clock.now())

    def _by_rules(self, content: str, role: Speaker, error: SkillExecutionError) -> Effect[Extraction]:
        note = f"the rules stood in: {error}"
        log.warning("%s", note, extra={"problem": error.problem})
        return self.rules.extract(content, role=role).map(lambda found: evolve(found, note=note))


def _places(error: DataValidationError) -> str:
    return ", ".join(problem.path for problem in error.problems)[:LONGEST_COMPLAINT]
