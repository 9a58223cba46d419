"""Vectors of length 1, made from what an embedder returns or a caller gives; no others are stored or compared.

``embed_texts`` asks an embedder, and says why a text has no vector; the rest makes rows of what is given.

The first call imports numpy, so a program that never embeds never loads it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

from attrs import field, frozen

from chatmemory.effect import Effect, Failure, Outcome, Success
from chatmemory.embedding.embedder import Embedder, Matrix, Vector
from chatmemory.embedding.space import MAX_DIMENSIONS, Embedding, EmbeddingSpace
from chatmemory.errors import EmbeddingError, EmbeddingProblem, Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray


NO_FEATURES: Final = "the text has nothing that the embedder knows"


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
        placed: for each text its vector, or None.
        reason: why a text has no vector; None when each has one.
    """

    placed: tuple[Placed | None, ...]
    reason: str | None = None


def embed_texts(embedder: Embedder, texts: Sequence[str]) -> Effect[Embedded]:
    """Embed *texts*; never fail, and say why a text has no vector.

    Args:
        embedder: behind the guard of ``embedding_guard.py``, which does not ask again an embedder that has just failed.
        texts: what to embed; for no texts the embedder is not asked.

    Returns:
        one vector, or None, for each text, in their order.
    """
    if not texts:
        return Effect.succeed(Embedded(()))

    def place(rows: Matrix) -> Embedded:
        space = EmbeddingSpace(embedder.model, rows.shape[1])
        placed = [None if row is None else Placed(space, row) for row in usable_rows(rows)]
        return Embedded(tuple(placed), NO_FEATURES if None in placed else None)

    def do_without(error: EmbeddingError) -> Effect[Embedded]:
        return Effect.succeed(Embedded((None,) * len(texts), str(error)))

    return embedder.embed(texts).map(place).lash(do_without)


def read_rows(
    model: str, answer: object, *, count: int, dim: int | None = None
) -> Outcome[Matrix, EmbeddingError]:
    """Return *answer* as *count* rows of length 1 (a zero row stays zero), or fail with what is wrong with it.

    Args:
        model: the name of the embedder, for the error.
        answer: rows of numbers of any scale: an array, lists, anything that numpy can read.
        count: how many rows are expected.
        dim: how long each row has to be; None: any length from 1 to ``MAX_DIMENSIONS``.
    """
    import numpy as np

    def failed(problem: EmbeddingProblem, detail: str) -> Failure[EmbeddingError]:
        return Failure(EmbeddingError(model, problem, detail))

    try:
        rows = np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):  # what they say may quote the answer
        return failed("malformed", f"no table of numbers: {type(answer).__name__}")
    if not count and not rows.size:
        return Success(np.zeros((0, dim or 0), dtype=np.float32))
    if rows.ndim != 2:  # noqa: PLR2004  rows and columns
        return failed("malformed", f"no table of numbers: shape {rows.shape}")
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
    """Return finite *rows*, shape ``(count, dim)``, at length 1; a zero row stays one."""
    import numpy as np

    # Scaled first: the squares of large numbers would overflow, those of small ones vanish.
    largest = np.abs(rows).max(axis=1, keepdims=True, initial=0.0)
    scaled = rows / np.where(largest == 0, 1, largest)
    lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
    return np.asarray(scaled / np.where(lengths == 0, 1, lengths), dtype=np.float32)


def usable_rows(rows: Matrix) -> Sequence[Vector | None]:
    """Return each of *rows*, shape ``(count, dim)``; None for a text without features."""
    return [row if row.any() else None for row in rows]


def unit_vector(path: str, embedding: Embedding) -> Vector | Problem:
    """Return the vector of *embedding* at length 1, shape ``(dim,)``, or what keeps it from being one.

    ``read_rows`` would say the same of a table of one row, in 14 µs instead of 4.
    """
    import numpy as np

    try:
        with np.errstate(over="ignore"):  # what float32 cannot hold becomes infinite
            row = np.asarray(embedding.vector, dtype=np.float32)
    except (TypeError, ValueError, OverflowError) as error:
        return Problem(path, f"no row of numbers: {error}")
    if row.ndim != 1 or not 1 <= row.size <= MAX_DIMENSIONS:
        return Problem(path, f"shape {row.shape}: one row of 1 to {MAX_DIMENSIONS} numbers is expected")
    exact = row.astype(
        np.float64
    )  # the squares of large float32 numbers would overflow, those of small ones vanish
    length = np.sqrt(exact @ exact)
    if not 0 < length < np.inf:
        return Problem(path, "numbers that are finite, and not all zero, are expected")
    return (exact / length).astype(np.float32)
