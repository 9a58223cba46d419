"""``SkillExecutionError``: the error of a skill."""

from typing import Literal, TypeAlias, final

from attrs import field, frozen

SkillProblem: TypeAlias = Literal[
    "unknown_skill",
    "unauthorized",
    "not_found",
    "rate_limited",
    "unavailable",
    "timeout",
    "refused",
    "malformed",
    "empty",
    "oversized",
    "raised",
    "strategy_failed",
]

_ADVICE: dict[SkillProblem, str] = {
    "unknown_skill": "register the skill, or correct the skillId of memory.chat.strategy or memory.extraction",
    "unauthorized": "check memory.skill.apiKey",
    "not_found": "check memory.skill.baseUrl and memory.skill.model",
    "rate_limited": "it will be tried again later",
    "unavailable": "it will be tried again later",
    "timeout": "use a faster model, or raise timeoutSeconds: of memory.skill for one request, of memory.chat.strategy or "
    "memory.extraction for the whole; it will be tried again later",
    "refused": "the endpoint rejected the request; see the detail",
    "malformed": "the answer is not what was asked for; check memory.skill.baseUrl and the model, or the function",
    "empty": "the skill returned no text; it will be tried again later",
    "oversized": "ask the skill for a shorter answer, or raise memory.chat.strategy.maxSummaryCharacters for summaries",
    "raised": "the skill raised an exception; see the cause",
    "strategy_failed": "the history strategy that runs the skill ended with an exception; see the cause",
}
_WORTH_RETRYING: frozenset[SkillProblem] = frozenset(
    {"rate_limited", "unavailable", "timeout", "malformed", "empty"}
)


@final
@frozen
class SkillExecutionError:
    """The skill *skill_id* returned no usable text; *retry_after_seconds* is the pause that the endpoint asked for."""

    skill_id: str
    problem: SkillProblem
    detail: str = ""
    retry_after_seconds: float | None = None
    cause: BaseException | None = field(default=None, eq=False, repr=False)
    tag: Literal["SkillExecutionError"] = "SkillExecutionError"

    @property
    def retry_is_safe(self) -> bool:
        """True when the same request may succeed later."""
        return self.problem in _WORTH_RETRYING

    def __str__(self) -> str:
        detail = f" ({self.detail})" if self.detail else ""
        return f"skill {self.skill_id!r}: {self.problem.replace('_', ' ')}{detail}: {_ADVICE.get(self.problem, 'see the cause')}"
