"""``EmbeddingError``: what an embedder can fail with."""

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
    "malformed": "what came back holds no embeddings; check memory.embedding.baseUrl, or the embedder",
    "wrong_count": "too few or too many vectors came back; none was used",
    "wrong_dimension": "vectors of one model have one length, and a store keeps no longer ones; name another model differently, then re-embed",
    "not_finite": "vectors came back with numbers that are none; none was used",
    "oversized": "more came back than any vectors need; check memory.embedding.baseUrl",
    "raised": "the embedder raised an exception; see the cause",
}
_WORTH_RETRYING: frozenset[EmbeddingProblem] = frozenset(
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
        return self.problem in _WORTH_RETRYING

    def __str__(self) -> str:
        detail = f" ({self.detail})" if self.detail else ""
        return f"embedder {self.model!r}: {self.problem.replace('_', ' ')}{detail}: {_ADVICE[self.problem]}"
