"""Vectors of length 1, made from the result of an embedder or the vectors of a caller; only these are stored and compared.

``embed_texts`` calls an embedder and reports why a text lacks a vector, ``each_embedded`` embeds what can be embedded; the
other functions check and scale rows.

The first call imports numpy, so a program that never embeds never loads it.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, final

from attrs import field, frozen

from chatmemory.effect import Effect, Failure, Outcome, Success
from chatmemory.effect.lazy import np
from chatmemory.embedding.embedder import Embedder, Matrix, Vector
from chatmemory.embedding.space import MAX_DIMENSIONS, Embedding, EmbeddingSpace
from chatmemory.errors import EmbeddingError, EmbeddingProblem, Problem
from chatmemory.text.long_work import in_worker_thread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


PLACED_AT_ONCE: Final = 100  # vectors that take 0.3 ms here; more of them are handled in a worker thread

NO_FEATURES: Final = "the embedder knows no word of the text"


@final
@frozen
class Placed:
    """A vector and its space."""

    space: EmbeddingSpace
    vector: Vector = field(eq=False, repr=False)


@final
@frozen
class Embedded:
    """The result of embedding texts.

    Attributes:
        placed: the vector of each text, in order; None for a text without a vector.
        reason: why a text lacks a vector; None when each text has one.
    """

    placed: tuple[Placed | None, ...]
    reason: str | None = None


def embed_texts(embedder: Embedder, texts: Sequence[str]) -> Effect[Embedded]:
    """Embed *texts*; never fail, but report why a text lacks a vector.

    *embedder* has the guard of ``embedding_guard.py``, which does not call an embedder again that has just failed.
    Without texts it is not called.
    """
    if not texts:
        return Effect.succeed(Embedded(()))
    model = embedder.model

    def place(rows: Matrix) -> Embedded:
        space = EmbeddingSpace(model, rows.shape[1])
        usable = usable_rows(rows)
        placed = [None if row is None else Placed(space, row) for row in usable]
        return Embedded(tuple(placed), NO_FEATURES if any(row is None for row in usable) else None)

    def do_without(error: EmbeddingError) -> Effect[Embedded]:
        return Effect.succeed(Embedded((None,) * len(texts), str(error)))

    def place_beside(rows: Matrix) -> Effect[Embedded]:
        return in_worker_thread(partial(place, rows))

    rows = embedder.embed(texts)
    placed = rows.map(place) if len(texts) <= PLACED_AT_ONCE else rows.bind(place_beside)
    return placed.lash(do_without)


def each_embedded(
    embedder: Embedder, texts: Sequence[str]
) -> Effect[Sequence[Vector | None], EmbeddingError]:
    """Embed *texts*; halve a batch that is refused, so that one bad text does not prevent the others.

    Each text gets a vector of length 1, in order, or None if it is refused alone, or has no features.

    Fails with:
        EmbeddingError: a batch failed, and was not refused.
    """

    def halve(error: EmbeddingError) -> Effect[Sequence[Vector | None], EmbeddingError]:
        if error.problem != "refused":
            return Effect.fail(error)
        if len(texts) <= 1:
            return Effect.succeed([None] * len(texts))
        middle = len(texts) // 2
        halves = Effect.all([each_embedded(embedder, part) for part in (texts[:middle], texts[middle:])])
        return halves.map(lambda parts: [vector for part in parts for vector in part])

    return embedder.embed(texts).map(usable_rows).lash(halve)


def read_rows(
    model: str, answer: object, *, count: int, dim: int | None = None
) -> Outcome[Matrix, EmbeddingError]:
    """Return *answer* as rows of length 1; a zero row stays zero.

    Args:
        model: the name of the embedder, for the error.
        answer: rows of numbers of any scale: an array, lists, anything that numpy can read.
        count: how many rows are expected.
        dim: how many numbers each row must have; None: any number from 1 to ``MAX_DIMENSIONS``.

    Returns:
        shape ``(count, dim)``; or the failure with the first problem of *answer*.
    """

    def failed(problem: EmbeddingProblem, detail: str) -> Failure[EmbeddingError]:
        return Failure(EmbeddingError(model, problem, detail))

    try:
        rows = np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):  # their texts may quote the answer
        return failed("malformed", f"not a table of numbers: {type(answer).__name__}")
    if not count and not rows.size:
        return Success(np.zeros((0, dim or 0), dtype=np.float32))
    if rows.ndim != 2:  # noqa: PLR2004  rows and columns
        return failed("malformed", f"not a table of numbers: shape {rows.shape}")
    if len(rows) != count:
        return failed("wrong_count", f"{len(rows)} vectors for {count} texts")
    if not 1 <= rows.shape[1] <= MAX_DIMENSIONS or dim not in {None, rows.shape[1]}:
        return failed(
            "wrong_dimension", f"{rows.shape[1]} numbers instead of {dim or f'1 to {MAX_DIMENSIONS}'}"
        )
    if not np.isfinite(rows).all():
        return failed("not_finite", f"in {int((~np.isfinite(rows)).any(axis=1).sum())} of {count} vectors")
    return Success(unit_rows(rows))


def unit_rows(rows: NDArray[np.floating]) -> Matrix:
    """Return finite *rows*, shape ``(count, dim)``, scaled to length 1; a zero row stays zero."""
    # Scaled first: the squares of large numbers would overflow, and the squares of small numbers would be zero.
    largest = np.abs(rows).max(axis=1, keepdims=True, initial=0.0)
    scaled = rows / np.where(largest == 0, 1, largest)
    lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
    return np.asarray(scaled / np.where(lengths == 0, 1, lengths), dtype=np.float32)


def usable_rows(rows: Matrix) -> Sequence[Vector | None]:
    """Return *rows*, shape ``(count, dim)``, as a sequence of vectors; None for a zero row, of a text without features."""
    return [
        row if has_features else None for row, has_features in zip(rows, np.any(rows, axis=1), strict=True)
    ]


def unit_vector(path: str, embedding: Embedding) -> Vector | Problem:
    """Return the vector of *embedding* scaled to length 1, shape ``(dim,)``; or its problem, at *path*.

    ``read_rows`` would do the same for a table of one row, in 14 µs instead of 4 µs.
    """
    try:
        with np.errstate(over="ignore"):  # a number too large for float32 becomes infinite
            row = np.asarray(embedding.vector, dtype=np.float32)
    except (TypeError, ValueError, OverflowError) as error:
        return Problem(path, f"not a row of numbers: {error}")
    if row.ndim != 1 or not 1 <= row.size <= MAX_DIMENSIONS:
        return Problem(path, f"expected one row of 1 to {MAX_DIMENSIONS} numbers, not shape {row.shape}")
    # The squares of large float32 numbers would overflow, and the squares of small numbers would be zero.
    exact = row.astype(np.float64)
    length = np.sqrt(exact @ exact)
    if not 0 < length < np.inf:
        return Problem(path, "expected finite numbers that are not all zero")
    return (exact / length).astype(np.float32)


def unit_table(embeddings: Sequence[Embedding]) -> Matrix | None:
    """Return the vectors of *embeddings* scaled to length 1, shape ``(count, dim)``, five times as fast as one by one.

    It returns None when their dimensions differ, or when one of them is not a vector; ``unit_vector`` finds the problem.
    """
    try:
        with np.errstate(over="ignore"):
            rows = np.array([embedding.vector for embedding in embeddings], dtype=np.float32)
    except (TypeError, ValueError, OverflowError):
        return None
    if rows.ndim != 2 or not 1 <= rows.shape[1] <= MAX_DIMENSIONS:  # noqa: PLR2004  rows and columns
        return None
    exact = rows.astype(np.float64)
    lengths = np.sqrt(np.einsum("ij,ij->i", exact, exact))
    if not (np.isfinite(lengths) & (lengths > 0)).all():
        return None
    return np.asarray(exact / lengths[:, np.newaxis], dtype=np.float32)
