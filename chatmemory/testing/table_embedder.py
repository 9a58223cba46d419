"""``TableEmbedder``: an embedder with vectors that a test chooses, for ``EmbedderTag`` and ``QueryEmbedderTag``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import hypot
from random import Random
from typing import TYPE_CHECKING, Final, Literal, final

from attrs import define, field

from chatmemory.effect.effect import Effect
from chatmemory.effect.lazy import np
from chatmemory.effect.outcome import Failure, Outcome, Success
from chatmemory.embedding.embedder import USUAL_THRESHOLD
from chatmemory.errors import EmbeddingError

if TYPE_CHECKING:
    from chatmemory.embedding.embedder import Matrix

USUAL_DIM: Final = 8
"""The dimension of an embedder whose table is empty."""


@final
@define(eq=False, kw_only=True)
class TableEmbedder:
    """An embedder that looks up the vectors of texts in *table*.

    >>> tea = TableEmbedder(table={"我喜欢喝茶": (1, 0), "什么饮料?": (3, 4)})
    >>> tea.embed(["什么饮料?"]).run_sync().unwrap().tolist()
    [[0.6000000238418579, 0.800000011920929]]

    Attributes:
        table: a vector for each text.  All have one dimension and any scale: each is scaled to length 1, except a zero
            vector, which stays zero.
        unknown: what happens for another text.  ``fails``: the call fails and names the text.  ``hashed``: its vector is
            random, and the same in every run.
        asked: the texts of each call so far.
    """

    table: Mapping[str, Sequence[float]] = field(factory=dict[str, Sequence[float]])
    unknown: Literal["fails", "hashed"] = "fails"
    model: str = "table"
    similarity_threshold: float = USUAL_THRESHOLD
    asked: list[tuple[str, ...]] = field(factory=list[tuple[str, ...]], init=False)

    def __attrs_post_init__(self) -> None:
        """Check that all vectors have the same dimension.

        Raises:
            ValueError: their dimensions differ.
        """
        dims = sorted({len(vector) for vector in self.table.values()})
        if len(dims) > 1:
            raise ValueError(f"the vectors of a table have one dimension, not {dims}")

    def unavailability(self) -> EmbeddingError | None:
        """Return None: it is always available."""
        return None

    def embed(self, texts: Sequence[str], /) -> Effect[Matrix, EmbeddingError]:
        """Return one row for each text, shape ``(count, dim)``.

        Fails with:
            EmbeddingError: a text is not in the table, and *unknown* is ``fails``.
        """

        async def embed() -> Outcome[Matrix, EmbeddingError]:
            match self._rows(texts):
                case Success(rows):
                    return Success(np.array(rows, dtype=np.float32).reshape(len(texts), self._dim()))
                case failure:
                    return failure

        return Effect.from_outcome(embed)

    def embed_query(self, text: str, /) -> Effect[Sequence[float] | None, EmbeddingError]:
        """Return the vector of *text*, ``dim`` numbers; None for a zero vector.

        Fails with:
            EmbeddingError: the text is not in the table, and *unknown* is ``fails``.
        """

        async def embed() -> Outcome[Sequence[float] | None, EmbeddingError]:
            match self._rows([text]):
                case Success([row]) if any(row):
                    return Success(row)
                case Success():
                    return Success(None)
                case failure:
                    return failure

        return Effect.from_outcome(embed)

    def _rows(self, texts: Sequence[str]) -> Outcome[list[Sequence[float]], EmbeddingError]:
        self.asked.append(tuple(texts))
        unknown = [text for text in texts if text not in self.table]
        if unknown and self.unknown == "fails":
            detail = f"no vector of {unknown[0]!r} in the table; add one, or say unknown='hashed'"
            return Failure(EmbeddingError(self.model, "refused", detail))
        return Success([_unit(self.table.get(text) or self._drawn(text)) for text in texts])

    def _drawn(self, text: str) -> Sequence[float]:
        random = Random(text)  # noqa: S311  no secret: the same numbers for the same text
        return [random.gauss(0, 1) for _ in range(self._dim())]

    def _dim(self) -> int:
        return next((len(vector) for vector in self.table.values()), USUAL_DIM)


def _unit(vector: Sequence[float]) -> Sequence[float]:
    length = hypot(*vector) or 1.0
    return [number / length for number in vector]
