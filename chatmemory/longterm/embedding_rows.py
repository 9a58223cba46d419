"""What an embedder answers, made into rows that can be compared: checked, finite, of length 1.

Only embedders and their guard import this module, so that numpy is loaded by those who embed.
"""

import numpy as np
from numpy.typing import NDArray
from returns.result import Failure, Success

from chatmemory.contracts import Matrix
from chatmemory.effect import Outcome
from chatmemory.errors import EmbeddingError, EmbeddingProblem


def read_rows(
    model: str, answer: object, *, count: int, dim: int | None = None
) -> Outcome[Matrix, EmbeddingError]:
    """Return *answer* as *count* rows of length 1 (a zero row stays one), or what is wrong with it.

    Args:
        model: for the error.
        answer: rows of numbers of any scale: an array, lists, whatever numpy can read.
        count: how many rows are due.
        dim: how long each has to be; None: any length but 0.
    """

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
    if not rows.shape[1] or dim not in {None, rows.shape[1]}:
        return failed("wrong_dimension", f"{rows.shape[1]} numbers instead of {dim or 'some'}")
    if not np.isfinite(rows).all():
        return failed("not_finite", f"in {int((~np.isfinite(rows)).any(axis=1).sum())} of {count} vectors")
    return Success(unit_rows(rows))


def unit_rows(rows: NDArray[np.floating]) -> Matrix:
    """Return finite *rows*, shape ``(count, dim)``, at length 1; a zero row stays one."""
    # Scaled first: the squares of large numbers would overflow, those of small ones vanish.
    scaled = rows / _or_one(np.abs(rows).max(axis=1, keepdims=True, initial=0.0))
    lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
    return np.asarray(scaled / _or_one(lengths), dtype=np.float32)


def _or_one(divisors: NDArray[np.floating]) -> NDArray[np.floating]:
    return np.where(divisors == 0, 1, divisors)
