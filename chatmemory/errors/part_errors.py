"""``RepositoryError``, ``EmbeddingError`` and ``SkillExecutionError``: the errors of the parts below a service."""

from typing import Literal, TypeAlias, final

from attrs import field, frozen

RepositoryProblem: TypeAlias = Literal[
    "missing",
    "unavailable",
    "busy",
    "full",
    "no_memory",
    "read_only",
    "damaged",
    "not_a_store",
    "newer_schema",
    "upgraded",
    "foreign_store",
    "row_security",
    "closed",
    "wrong_loop",
    "forked",
    "key_reused",
    "outcome_unknown",
    "unexpected",
]

_REPOSITORY_ADVICE: dict[RepositoryProblem, str] = {
    "missing": "create it first, then try again",
    "unavailable": "check the path or the address, then try again",
    "busy": "another writer holds the store; try again",
    "full": "free some space on the disk, then try again; what was acknowledged is safe",
    "no_memory": "free some memory, then try again; what was acknowledged is safe",
    "read_only": "let this program write (to the file and its folder, or the database), or open it for reading only",
    "damaged": "restore a backup, or copy what is readable with the sqlite3 shell's .recover",
    "not_a_store": "give the path of a chatmemory store, or of a file that does not exist yet",
    "newer_schema": "update chatmemory: the store was written by a newer version and is left untouched",
    "upgraded": "another program upgraded this store: restart with the version that took this step, or a newer one",
    "foreign_store": "it belongs to another application and is left untouched: give the path of another file",
    "row_security": "the setting memory.store.postgres.rowSecurity, the role and the tables have to agree",
    "closed": "open the store again: its runtime was closed",
    "wrong_loop": "a store belongs to the event loop that opened it: open one in each loop, or use one "
    "ThreadRuntime(layer), whose `await runtime.run(effect)` works in every loop and thread",
    "forked": "the locks and the connections of the parent process are not valid in a child process that was forked",
    "key_reused": "the key belongs to another request: repeat that request, or use a new key",
    "outcome_unknown": "the write may or may not have happened; repeating it with the same ids is safe",
    "unexpected": "see the cause",
}
_REPOSITORY_WORTH_RETRYING: frozenset[RepositoryProblem] = frozenset(
    {"missing", "unavailable", "busy", "full", "no_memory", "outcome_unknown"}
)

EmbeddingProblem: TypeAlias = Literal[
    "not_configured",
    "unauthorized",
    "not_found",
    "rate_limited",
    "unavailable",
    "timeout",
    "refused",
    "malformed",
    "wrong_count",
    "wrong_dimension",
    "not_finite",
    "oversized",
    "raised",
]

_EMBEDDING_ADVICE: dict[EmbeddingProblem, str] = {
    "not_configured": "choose one with memory.embedding.provider; until then memories are found by their words",
    "unauthorized": "check memory.embedding.apiKey",
    "not_found": "check memory.embedding.baseUrl and memory.embedding.model: not every provider of chat models embeds",
    "rate_limited": "it will be tried again later",
    "unavailable": "it will be tried again later",
    "timeout": "raise memory.embedding.timeoutSeconds, or lower memory.embedding.batchSize; it will be tried again later",
    "refused": "the endpoint rejected the request; see the detail",
    "malformed": "the answer contains no embeddings; check memory.embedding.baseUrl, or the embedder",
    "wrong_count": "the answer has too few or too many vectors; no vector was used",
    "wrong_dimension": "all vectors of a model must have the same length, and a store has a largest length; give another model another name, then re-embed",
    "not_finite": "vectors in the answer contain infinite or undefined numbers; no vector was used",
    "oversized": "the answer is larger than any vectors; check memory.embedding.baseUrl",
    "raised": "the embedder raised an exception; see the cause",
}
_EMBEDDING_WORTH_RETRYING: frozenset[EmbeddingProblem] = frozenset(
    {"rate_limited", "unavailable", "timeout", "malformed", "wrong_count", "not_finite"}
)

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

_SKILL_ADVICE: dict[SkillProblem, str] = {
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
_SKILL_WORTH_RETRYING: frozenset[SkillProblem] = frozenset(
    {"rate_limited", "unavailable", "timeout", "malformed", "empty"}
)


@final
@frozen
class RepositoryError:
    """The store did not complete *operation*."""

    operation: str
    problem: RepositoryProblem
    detail: str = ""
    cause: BaseException | None = field(default=None, eq=False, repr=False)
    tag: Literal["RepositoryError"] = "RepositoryError"

    @property
    def retry_is_safe(self) -> bool:
        """True when waiting or a repair helps; a message or a memory with an id is never stored twice."""
        return self.problem in _REPOSITORY_WORTH_RETRYING

    def __str__(self) -> str:
        return _text(self.operation, self.problem, self.detail, _REPOSITORY_ADVICE.get(self.problem))


@final
@frozen
class EmbeddingError:
    """The embedder *model* returned no usable vectors; *retry_after_seconds* is the pause that it asked for, if any."""

    model: str
    problem: EmbeddingProblem
    detail: str = ""
    retry_after_seconds: float | None = None
    cause: BaseException | None = field(default=None, eq=False, repr=False)
    tag: Literal["EmbeddingError"] = "EmbeddingError"

    @property
    def retry_is_safe(self) -> bool:
        """True when embedding the same texts may succeed later."""
        return self.problem in _EMBEDDING_WORTH_RETRYING

    def __str__(self) -> str:
        return _text(
            f"embedder {self.model!r}", self.problem, self.detail, _EMBEDDING_ADVICE.get(self.problem)
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
        return self.problem in _SKILL_WORTH_RETRYING

    def __str__(self) -> str:
        return _text(f"skill {self.skill_id!r}", self.problem, self.detail, _SKILL_ADVICE.get(self.problem))


def _text(what: str, problem: str, detail: str, advice: str | None) -> str:
    """Return what failed, why, and what to do; a problem that another package made up has no advice."""
    return (
        f"{what}: {problem.replace('_', ' ')}{f' ({detail})' if detail else ''}: {advice or 'see the cause'}"
    )
