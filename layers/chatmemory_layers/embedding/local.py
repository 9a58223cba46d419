"""``LocalEmbedder``: an embedder that is a function of this process, loaded by the first who needs it."""

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Final, TypeAlias, final

from attrs import define, field

from chatmemory.effect import Effect, Outcome, Success
from chatmemory.effect.suspended import has_event_loop
from chatmemory.embedding.embedder import USUAL_THRESHOLD, Matrix
from chatmemory.errors import EmbeddingError

INLINE_CHARACTERS: Final = 1_000  # 0.4 ms in English and 0.8 ms in Chinese; to a thread and back: 0.1 ms
INLINE_TEXTS: Final = 8

Vectors: TypeAlias = Callable[[Sequence[str]], Matrix]
"""Makes a row of length 1, or all zero, of each text; from any thread, from several at once."""


@final
@define(eq=False)
class LocalEmbedder:
    """Runs a function of texts, beside the event loop where that takes longer than going there; without one, at once.

    Attributes:
        load: imports and reads what the function needs, which may take long; called once.
        is_quick: a few short texts are embedded on the event loop, once it is loaded; all others in a worker thread.
    """

    model: Final[str]
    load: Final[Callable[[], Vectors]] = field(repr=False)
    is_quick: Final[bool]
    similarity_threshold: Final[float] = USUAL_THRESHOLD
    _vectors: Vectors | None = field(default=None, init=False, repr=False)
    _loading: Final[Lock] = field(factory=Lock, init=False, repr=False)

    def unavailability(self) -> None:
        """None: it needs nothing but itself."""

    def embed(self, texts: Sequence[str], /) -> Effect[Matrix, EmbeddingError]:
        """See ``Embedder``; it never fails, save by a defect."""

        async def rows() -> Outcome[Matrix, EmbeddingError]:
            vectors = self._vectors
            if vectors is not None and self.is_quick and _is_little(texts):
                return Success(vectors(texts))
            if not has_event_loop():
                return Success(self._embed(texts))
            from anyio import to_thread

            return Success(await to_thread.run_sync(self._embed, texts, abandon_on_cancel=True))

        return Effect.from_outcome(rows)

    def _embed(self, texts: Sequence[str]) -> Matrix:
        with self._loading:
            vectors = self._vectors = self._vectors or self.load()
        return vectors(texts)


def _is_little(texts: Sequence[str]) -> bool:
    return len(texts) <= INLINE_TEXTS and sum(map(len, texts)) <= INLINE_CHARACTERS
