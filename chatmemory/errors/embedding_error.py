"""``EmbeddingError``: the error of an embedder."""

from typing import Literal, TypeAlias, final

from attrs import field, frozen

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

_ADVICE: dict[EmbeddingProblem, str] = {
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
_WORTH_RETRYING: frozenset[EmbeddingProblem] = frozenset(
    {"rate_limited", "unavailable", "timeout", "malformed", "wrong_count", "not_finite"}
)


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
        return self.problem in _WORTH_RETRYING

    def __str__(self) -> str:
        detail = f" ({self.detail})" if self.detail else ""
        return f"embedder {self.model!r}: {self.problem.replace('_', ' ')}{detail}: {_ADVICE.get(self.problem, 'see the cause')}"
