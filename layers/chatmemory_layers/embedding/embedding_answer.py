"""The embeddings protocol: reads the vectors in the JSON object of an answer."""

import base64
import binascii
from typing import cast

from chatmemory.effect import Failure, Outcome
from chatmemory.effect.lazy import np
from chatmemory.embedding.embedder import Matrix, Vector
from chatmemory.embedding.unit_vectors import read_rows
from chatmemory.errors import EmbeddingError, EmbeddingProblem
from chatmemory_layers.endpoint import JsonMapping


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
