"""``LocalEmbedder``: an embedder that is a function of this process, loaded by the first who needs it."""

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Final, TypeAlias, final

from anyio import to_thread
from attrs import define, field
from returns.result import Success

from chatmemory.contracts import Matrix
from chatmemory.effect import Effect, Outcome
from chatmemory.errors import EmbeddingError

Vectors: TypeAlias = Callable[[Sequence[str]], Matrix]
"""Makes a row of length 1, or all zero, of each text; from any thread, from several at once."""


@final
@define(eq=False)
class LocalEmbedder:
    """Runs a function of texts, beside the event loop where that takes longer than going there.

    Attributes:
        load: imports and reads what the function needs, which may take long; called once.
        inline_characters: so many are embedded on the event loop; more, or the first ones, in a worker thread.
    """

    model: Final[str]
    load: Final[Callable[[], Vectors]] = field(repr=False)
    inline_characters: Final[int]
    _vectors: Vectors | None = field(default=None, init=False, repr=False)
    _loading: Final[Lock] = field(factory=Lock, init=False, repr=False)

    def unavailability(self) -> None:
        """None: it needs nothing but itself."""

    def embed(self, texts: Sequence[str], /) -> Effect[Matrix, EmbeddingError]:
        """See ``contracts.Embedder``; it never fails, save by a defect."""

        async def rows() -> Outcome[Matrix, EmbeddingError]:
            vectors = self._vectors
            if vectors is not None and sum(map(len, texts)) <= self.inline_characters:
                return Success(vectors(texts))
            return Success(await to_thread.run_sync(self._embed, texts, abandon_on_cancel=True))

        return Effect.from_outcome(rows)

    def _embed(self, texts: Sequence[str]) -> Matrix:
        with self._loading:
            vectors = self._vectors = self._vectors or self.load()
        return vectors(texts)
