"""The embedder that calls a model over HTTP: any endpoint with OpenAI's embeddings protocol.

``chatmemory_layers.endpoint`` sends the request, waits and retries; ``read_embeddings`` reads the vectors in the JSON object of
the answer.
"""

import base64
import binascii
import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Final, cast, final
from urllib.parse import urlsplit

from attrs import frozen

from chatmemory.effect import Do, Effect, Failure, Layer, Outcome
from chatmemory.effect.lazy import np
from chatmemory.embedding.embedder import USUAL_THRESHOLD, Embedder, EmbedderTag, Matrix, Vector
from chatmemory.embedding.unit_vectors import read_rows
from chatmemory.errors import ConfigError, EmbeddingError, EmbeddingProblem
from chatmemory.input.rules import clean_text
from chatmemory.settings.embedding_settings import EmbeddingSettings, EmbeddingSettingsTag
from chatmemory_layers.embedding.none import NoEmbedder
from chatmemory_layers.endpoint import Endpoint, EndpointFailure, JsonMapping, open_endpoint

WITHOUT_EMBEDDINGS: Final = {"deepseek.com": "DeepSeek", "anthropic.com": "Anthropic"}
"""Providers that are known to offer no embeddings, by the domain of their API.  For any other, a request shows it."""

# Characters from the beginning: OpenAI's models take 8,191 tokens, and Chinese has up to 1.3 tokens per character.
LONGEST_TEXT: Final = 6_000
LONGEST_ANSWER_BYTES: Final = 256 * 1024  # per text; 4,096 numbers are 90 kB
NOTHING: Final = "-"  # sent instead of a blank text, for which many endpoints refuse the whole request

log = logging.getLogger(__name__)


@final
@frozen
class EndpointEmbedder:
    """Requests vectors of *model* from *endpoint*, *batch_size* texts at a time."""

    endpoint: Endpoint
    model: str
    batch_size: int
    similarity_threshold: float = USUAL_THRESHOLD  # nothing is known about the model

    def unavailability(self) -> None:
        """Return None: only a request shows whether the endpoint embeds."""

    @Effect.gen
    async def embed(self, do: Do[EmbeddingError], texts: Sequence[str], /) -> Matrix:
        """Return a row per text, batch by batch; the first batch that fails fails the call.  A blank text has a row of zeros."""
        cut = [clean_text(text[:LONGEST_TEXT]) for text in texts]
        parts: list[Matrix] = []
        for start in range(0, len(cut), self.batch_size):
            batch = cut[start : start + self.batch_size]
            rows = await do(self._ask(batch, dim=parts[0].shape[1] if parts else None))
            rows[[not text.strip() for text in batch]] = 0.0
            parts.append(rows)
        return np.vstack(parts) if parts else np.zeros((0, 0), dtype=np.float32)

    def _ask(self, texts: Sequence[str], *, dim: int | None) -> Effect[Matrix, EmbeddingError]:
        sent = [text if text.strip() else NOTHING for text in texts]

        def read(answer: JsonMapping) -> Outcome[Matrix, EmbeddingError]:
            return read_embeddings(self.model, answer, count=len(sent), dim=dim)

        return (
            self.endpoint.ask("embeddings", {"model": self.model, "input": sent, "encoding_format": "float"})
            .alt(self._error)
            .bind(lambda answer: Effect.from_result(read(answer)))
        )

    def _error(self, failure: EndpointFailure) -> EmbeddingError:
        return EmbeddingError(
            self.model, failure.problem, failure.detail, failure.retry_after_seconds, failure.cause
        )


def unusable(settings: EmbeddingSettings) -> EmbeddingError | None:
    """Return why *settings* cannot embed; None: they probably can (spec 001, D1)."""
    if not settings.model:
        return EmbeddingError(settings.provider, "not_configured", "memory.embedding.model is empty")
    host = urlsplit(settings.base_url).hostname or ""
    for domain, provider in WITHOUT_EMBEDDINGS.items():
        if host == domain or host.endswith(f".{domain}"):
            return EmbeddingError(settings.model, "not_configured", f"{provider} offers no embeddings")
    return None


@asynccontextmanager
async def open_embedder(settings: EmbeddingSettings) -> AsyncGenerator[Embedder]:
    """Yield the embedder, with one client that keeps its connections while the layer is open.

    Settings that cannot embed cause a warning in the log; memories are then found by their words.

    Raises:
        EffectFailed: the settings are invalid; holds a ``ConfigError``.
    """
    async with open_endpoint(
        settings,
        section="memory.embedding",
        chosen_by="provider",
        longest_answer=LONGEST_ANSWER_BYTES * settings.batch_size,
    ) as endpoint:
        error = unusable(settings)
        if error is None:
            yield EndpointEmbedder(endpoint, settings.model, settings.batch_size)
        else:
            log.warning("memories get no vectors: %s", error, extra={"problem": error.problem})
            yield NoEmbedder(error)


openai_compatible: Final = Layer.scoped(EmbedderTag, open_embedder, EmbeddingSettingsTag).failing_with(
    ConfigError
)


def read_embeddings(
    model: str, answer: JsonMapping, *, count: int, dim: int | None
) -> Outcome[Matrix, EmbeddingError]:
    """Return the vectors of an answer in the order of the texts, or what is wrong with them.

    Args:
        model: the model, for errors.
        answer: has ``data``, a list of ``{"index": 0, "embedding": [...]}`` in any order.  An embedding is a list of
            numbers, or float32 numbers in base64, which some endpoints always send.
        count: the number of texts that were sent.
        dim: the length that each vector must have; None: the length of the first.
    """

    def failed(problem: EmbeddingProblem, detail: str) -> Failure[EmbeddingError]:
        return Failure(EmbeddingError(model, problem, detail))

    data = answer.get("data")
    if not isinstance(data, list):
        return failed("malformed", "no list of data")
    items = cast("list[object]", data)
    if len(items) != count:
        return failed("wrong_count", f"{len(items)} vectors for {count} texts")
    vectors: dict[object, object] = {}
    for place, item in enumerate(items):
        said = cast("JsonMapping", item) if isinstance(item, dict) else None
        if said is None or "embedding" not in said:
            return failed("malformed", f"data[{place}] has no embedding")
        index = said.get("index", place)
        vectors[index if type(index) is int else None] = _numbers(said["embedding"])
    if vectors.keys() != set(range(count)):
        return failed("malformed", "the indexes of the data are not those of the texts")
    rows = [vectors[place] for place in range(count)]
    lengths = {len(cast("list[object]", row)) for row in rows if isinstance(row, list | np.ndarray)}
    if len(lengths) > 1:
        return failed("wrong_dimension", f"{min(lengths)} to {max(lengths)} numbers in one answer")
    return read_rows(model, rows, count=count, dim=dim)


def _numbers(embedding: object) -> object:
    """Return numbers in base64 as an array, and any other value unchanged."""
    if not isinstance(embedding, str):
        return embedding
    try:
        numbers: Vector = np.frombuffer(base64.b64decode(embedding, validate=True), "<f4")
    except (binascii.Error, ValueError):  # not base64, not ASCII, or not a whole count of numbers
        return None
    return numbers
