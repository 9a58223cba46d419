"""Every way in which a memory can fail, as values with a literal tag.

    ChatMemoryError (no class: the unions at the end name what each operation can answer)
    ├── DataValidationError         the input breaks a rule; all problems at once, with their paths
    ├── ConversationNotFoundError   nothing is stored under this conversation
    ├── MessageConflictError        a message id is taken by another content
    ├── VersionConflictError        somebody wrote between the caller's read and its write
    ├── MemoryNotFoundError         the namespace sees no memory of this id
    ├── MemoryConflictError         a memory id is taken by another content
    ├── MemoryChangedError          somebody changed the memory between the caller's read and its write
    ├── PromptNotFoundError         nothing is indexed from this source of past chats
    └── GenericMemoryError          what lies beneath the service failed; ``reason`` says how
        ├── RepositoryError         the store: busy, full, damaged, unreachable, outcome unknown ...
        ├── SkillExecutionError     the model: refused, too slow, empty, oversized, malformed ...
        └── EmbeddingError          the embedder: refused, too slow, vectors missing, malformed ...

Errors are compared by value, say in their text what to do next, keep the exception that caused them, and answer
``retry_is_safe``: whether the same call may be made again, unchanged, without harm and with hope.
Configuration has an error of its own, ``chatmemory.effect.config.ConfigError``, because it fails before any memory exists.
"""

# ruff: noqa: PLC0414  what is passed on has a small module of its own, for those who need no more

from typing import Literal, TypeAlias, TypeVar, final

from attrs import field, frozen

from chatmemory.repository_error import (
    RepositoryError as RepositoryError,
    RepositoryProblem as RepositoryProblem,
)

E = TypeVar("E")


@final
@frozen
class Problem:
    """One broken rule: *path* points into the input as ``$.messages[2].content`` does."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.message} @ {self.path}"


@final
@frozen
class DataValidationError:
    """The input breaks rules; nothing was stored."""

    problems: tuple[Problem, ...]
    tag: Literal["DataValidationError"] = "DataValidationError"

    @property
    def retry_is_safe(self) -> bool:
        """False: the same input breaks the same rules."""
        return False

    def __str__(self) -> str:
        return "; ".join(map(str, self.problems))


@final
@frozen
class ConversationNotFoundError:
    """No message is stored under this conversation."""

    conversation_id: str
    tag: Literal["ConversationNotFoundError"] = "ConversationNotFoundError"

    @property
    def retry_is_safe(self) -> bool:
        """False: it stays unknown until somebody adds a message to it."""
        return False

    def __str__(self) -> str:
        return f"no conversation {self.conversation_id!r}: add a message to it first"


@final
@frozen
class MessageConflictError:
    """These ids are stored in this conversation with another role, content or metadata; nothing was stored."""

    conversation_id: str
    message_ids: tuple[str, ...]
    tag: Literal["MessageConflictError"] = "MessageConflictError"

    @property
    def retry_is_safe(self) -> bool:
        """False: the id stays taken."""
        return False

    def __str__(self) -> str:
        taken = ", ".join(map(repr, self.message_ids))
        return f"{taken} already stored in {self.conversation_id!r} with another content: give the new message an id of its own"


@final
@frozen
class VersionConflictError:
    """The conversation is at another version than the writer expected; nothing was stored."""

    conversation_id: str
    expected: int
    actual: int
    tag: Literal["VersionConflictError"] = "VersionConflictError"

    @property
    def retry_is_safe(self) -> bool:
        """False: read the conversation again and decide anew."""
        return False

    def __str__(self) -> str:
        return (
            f"{self.conversation_id!r} is at version {self.actual}, not {self.expected}: "
            f"read it again and add with expected_version={self.actual}"
        )


@final
@frozen
class MemoryNotFoundError:
    """The namespace sees no memory of this id."""

    memory_id: str
    tag: Literal["MemoryNotFoundError"] = "MemoryNotFoundError"

    @property
    def retry_is_safe(self) -> bool:
        """False: it was forgotten, or belongs to another namespace."""
        return False

    def __str__(self) -> str:
        return f"no memory {self.memory_id!r} in this namespace: list() shows those that are there"


@final
@frozen
class MemoryConflictError:
    """These ids are taken by memories that say something else; nothing was stored."""

    memory_ids: tuple[str, ...]
    tag: Literal["MemoryConflictError"] = "MemoryConflictError"

    @property
    def retry_is_safe(self) -> bool:
        """False: the id stays taken."""
        return False

    def __str__(self) -> str:
        taken = ", ".join(map(repr, self.memory_ids))
        return f"{taken} already stored with another content: update() it, or give the new memory an id of its own"


@final
@frozen
class MemoryChangedError:
    """The memory is at another version than the writer expected; nothing was changed."""

    memory_id: str
    expected: int
    actual: int
    tag: Literal["MemoryChangedError"] = "MemoryChangedError"

    @property
    def retry_is_safe(self) -> bool:
        """False: read the memory again and decide anew."""
        return False

    def __str__(self) -> str:
        return (
            f"memory {self.memory_id!r} is at version {self.actual}, not {self.expected}: "
            f"read it again and change it with expected_version={self.actual}"
        )


@final
@frozen
class PromptNotFoundError:
    """Nothing is indexed from this source."""

    source: str
    tag: Literal["PromptNotFoundError"] = "PromptNotFoundError"

    @property
    def retry_is_safe(self) -> bool:
        """True: it may be indexed meanwhile."""
        return True

    def __str__(self) -> str:
        return f"nothing is indexed from {self.source!r}: name a source as search and recall print it, or index it first"


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
    "malformed": "it answered something else than it was asked for; check memory.skill.baseUrl and the model, or the function",
    "empty": "the skill returned no text; it will be tried again later",
    "oversized": "have it answer more briefly, or raise memory.chat.strategy.maxSummaryCharacters for summaries",
    "raised": "the skill raised an exception; see the cause",
}
_WORTH_RETRYING_SKILL: frozenset[SkillProblem] = frozenset(
    {"rate_limited", "unavailable", "timeout", "malformed", "empty"}
)


@final
@frozen
class SkillExecutionError:
    """The skill *skill_id* gave no usable answer."""

    skill_id: str
    problem: SkillProblem
    detail: str = ""
    retry_after_seconds: float | None = None
    cause: BaseException | None = field(default=None, eq=False, repr=False)
    tag: Literal["SkillExecutionError"] = "SkillExecutionError"

    @property
    def retry_is_safe(self) -> bool:
        """True when the same request may well succeed later."""
        return self.problem in _WORTH_RETRYING_SKILL

    def __str__(self) -> str:
        detail = f" ({self.detail})" if self.detail else ""
        return f"skill {self.skill_id!r}: {self.problem.replace('_', ' ')}{detail}: {_SKILL_ADVICE[self.problem]}"


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
    "malformed": "what came back holds no embeddings; check memory.embedding.baseUrl, or the embedder",
    "wrong_count": "too few or too many vectors came back; none was used",
    "wrong_dimension": "vectors of one model have one length, and a store keeps no longer ones; name another model differently, then re-embed",
    "not_finite": "vectors came back with numbers that are none; none was used",
    "oversized": "more came back than any vectors need; check memory.embedding.baseUrl",
    "raised": "the embedder raised an exception; see the cause",
}
_WORTH_EMBEDDING_AGAIN: frozenset[EmbeddingProblem] = frozenset(
    {"rate_limited", "unavailable", "timeout", "malformed", "wrong_count", "not_finite"}
)


@final
@frozen
class EmbeddingError:
    """The embedder *model* gave no usable vectors."""

    model: str
    problem: EmbeddingProblem
    detail: str = ""
    retry_after_seconds: float | None = None
    cause: BaseException | None = field(default=None, eq=False, repr=False)
    tag: Literal["EmbeddingError"] = "EmbeddingError"

    @property
    def retry_is_safe(self) -> bool:
        """True when the same texts may well be embedded later."""
        return self.problem in _WORTH_EMBEDDING_AGAIN

    def __str__(self) -> str:
        detail = f" ({self.detail})" if self.detail else ""
        return f"embedder {self.model!r}: {self.problem.replace('_', ' ')}{detail}: {_EMBEDDING_ADVICE[self.problem]}"


@final
@frozen
class GenericMemoryError:
    """What lies beneath the service failed."""

    reason: RepositoryError | SkillExecutionError | EmbeddingError
    tag: Literal["GenericMemoryError"] = "GenericMemoryError"

    @property
    def retry_is_safe(self) -> bool:
        """As the reason says."""
        return self.reason.retry_is_safe

    def __str__(self) -> str:
        return str(self.reason)


ReadError: TypeAlias = DataValidationError | ConversationNotFoundError | GenericMemoryError
AddError: TypeAlias = DataValidationError | MessageConflictError | VersionConflictError | GenericMemoryError
AppendError: TypeAlias = MessageConflictError | VersionConflictError | RepositoryError
RecallError: TypeAlias = DataValidationError | GenericMemoryError
RememberError: TypeAlias = DataValidationError | MemoryConflictError | GenericMemoryError
MemoryReadError: TypeAlias = DataValidationError | MemoryNotFoundError | GenericMemoryError
MemoryChangeError: TypeAlias = (
    DataValidationError | MemoryNotFoundError | MemoryConflictError | MemoryChangedError | GenericMemoryError
)
PastChatsError: TypeAlias = DataValidationError | PromptNotFoundError | GenericMemoryError
MemoryStoreError: TypeAlias = MemoryConflictError | MemoryNotFoundError | RepositoryError


def memory_error(error: E | RepositoryError) -> E | GenericMemoryError:
    """Lift an error of a repository to the service: what a caller can act on stays, the rest becomes a reason."""
    return GenericMemoryError(error) if isinstance(error, RepositoryError) else error
