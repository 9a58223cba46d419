"""``SkillExtractor``: asks a skill, checks the answer, asks once more with the problems, and then uses the rules instead.

The skill runner has the prompt for the model.  A valid answer:

    {"memories": [{"key": "编程语言偏好", "value": "Python", "category": "preference", "confidence": 0.9,
                   "content": "我喜欢用 Python 写代码", "evidence": "我喜欢用 Python"}]}

A model has written the answer, possibly instructed by the text that it read.  So its shape is checked, all lengths are
limited, and evidence counts only when the text contains it.
"""

import json
import logging
import re
from functools import partial
from typing import Final, final

from attrs import evolve, frozen

from chatmemory.conversation.messages import ChatMessage
from chatmemory.conversation.skill_runner import SkillRequest, SkillRunner
from chatmemory.effect import Die, Do, Effect, EffectInterrupted, Exit, Fail, Failure, Outcome, Success
from chatmemory.effect.services.clock import Clock
from chatmemory.errors import DataValidationError, SkillExecutionError, SkillProblem
from chatmemory.input.choices import Role
from chatmemory.input.json_value import Json
from chatmemory.input.rules import clean_text
from chatmemory.input.structure import read_json
from chatmemory.longterm.extraction.memory_extractor import (
    Evidence,
    Extraction,
    MemoryExtractor,
    ProposedMemory,
    Speaker,
)
from chatmemory.longterm.extraction.rules import MAX_PROPOSALS
from chatmemory.longterm.extraction.statements import language_of
from chatmemory.longterm.memories import Category
from chatmemory.longterm.memory_rules import value_problems
from chatmemory.settings.memory_settings import ExtractionSettings
from chatmemory.text.fence import without_recalled_blocks

MAX_KEY_CHARACTERS: Final = 64
MAX_VALUE_CHARACTERS: Final = 1_000  # as JSON; a longer value is dropped, not cut
MAX_CONTENT_CHARACTERS: Final = 1_000
MAX_ANSWER_CHARACTERS: Final = 16_000  # enough for more than 16 memories
# In characters: a list of a hundred problems does not help a model more than the first ones.
LONGEST_COMPLAINT: Final = 1_000
LIKELY: Final = 0.8  # the confidence of a memory for which the skill gives none

_IN_A_FENCE: Final = re.compile(r"\A\s*```\w*\s*(.*?)\s*(?:```)?\s*\Z", re.DOTALL)
_SPACE: Final = re.compile(r"\s+")
log = logging.getLogger(__name__)


@final
@frozen
class SkillExtractor(MemoryExtractor):
    """Asks the skill ``memory.extraction.skillId``; *rules* are used when its answer is invalid or too late.

    The skill receives one message, the text, with the role of its speaker, and answers with the JSON of ``FoundMemories``.
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


@final
@frozen
class FoundMemory:
    """One memory in the answer of a skill; *content* and *evidence* may be missing."""

    key: str
    value: Json
    category: Category
    confidence: float = LIKELY
    content: str = ""
    evidence: str = ""


@final
@frozen
class FoundMemories:
    """The complete answer of a skill; without memories when the text contains nothing worth remembering."""

    memories: tuple[FoundMemory, ...]


def read_answer(answer: str) -> Outcome[FoundMemories, DataValidationError]:
    """Read the JSON of an answer, which models often wrap in a code fence.

    Fails with:
        DataValidationError: the answer is not JSON of this shape.
    """
    fenced = _IN_A_FENCE.match(answer)
    return read_json(fenced[1] if fenced else answer, FoundMemories)


def proposals_of(found: FoundMemories, text: str) -> tuple[ProposedMemory, ...]:
    """Return the memories of an answer as proposals, the one with the highest confidence first.

    There are at most ``MAX_PROPOSALS``, without duplicates; those with an invalid or empty key or value are dropped.
    The evidence is searched in *text*, which the skill read.
    """
    proposals: dict[tuple[str, str], ProposedMemory] = {}
    for one in found.memories:
        proposal = _proposal(one, text)
        if proposal is not None:
            proposals.setdefault((proposal.key, json.dumps(proposal.value, sort_keys=True)), proposal)
    return tuple(sorted(proposals.values(), key=lambda one: -one.confidence)[:MAX_PROPOSALS])


def _proposal(found: FoundMemory, text: str) -> ProposedMemory | None:
    key = _line(found.key)[:MAX_KEY_CHARACTERS].rstrip()
    value = _line(found.value) if isinstance(found.value, str) else found.value
    if not key or value in ("", None) or value_problems("$.value", value):
        return None
    written = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if len(written) > MAX_VALUE_CHARACTERS:
        return None
    evidence = _evidence(found.evidence, text)
    content = _line(found.content)[:MAX_CONTENT_CHARACTERS].rstrip() or f"{key}: {written}"
    return ProposedMemory(
        key=key,
        value=value,
        content=content,
        category=found.category,
        confidence=min(max(found.confidence, 0.0), 1.0),
        language=language_of(content),
        evidence=evidence,
    )


def _evidence(quoted: str, text: str) -> Evidence:
    """Return the place of the *quoted* words in *text*; the whole text when it does not contain them."""
    start = text.find(quoted.strip()) if quoted.strip() else -1
    return Evidence(0, len(text)) if start < 0 else Evidence(start, start + len(quoted.strip()))


def _line(text: str) -> str:
    """Return *text* on one line, without characters that cannot be stored."""
    return _SPACE.sub(" ", clean_text(text)).strip()
