"""``LocalEmbedder``: an embedder that is a function in this process; ``static``, the default, and ``hashed``, without a model.

Both embedders work offline, with numpy alone; ``composite.py`` defines their vectors.
"""

from collections.abc import Callable, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Final, TypeAlias, final

from attrs import define, field

from chatmemory.effect import Effect, Layer, Outcome, Success
from chatmemory.effect.lazy import LazyModule, anyio
from chatmemory.effect.suspended import has_event_loop
from chatmemory.embedding.embedder import USUAL_THRESHOLD, EmbedderTag, Matrix
from chatmemory.errors import EmbeddingError
from chatmemory_layers.embedding.bundled import MODEL

if TYPE_CHECKING:
    from chatmemory_layers.embedding import composite
else:
    composite = LazyModule("chatmemory_layers.embedding.composite")

INLINE_CHARACTERS: Final = 1_000  # 0.4 ms in English and 0.8 ms in Chinese; a switch of threads: 0.1 ms
INLINE_TEXTS: Final = 8

HASHED_MODEL: Final = "chatmemory-hashed-2"
"""The name of the model; vectors of other features get another version number."""

THRESHOLD: Final = 0.21
"""For ``static``.  Of 28 English questions in other words, 25 find their memory among the first five; with 0.3 it is 22.  Below
0.21, questions about nothing that is remembered fill more than half of a context."""

Vectors: TypeAlias = Callable[[Sequence[str]], Matrix]
"""Returns a row of length 1, or of zeros, for each text; several threads may call it at once."""


@final
@define(eq=False)
class LocalEmbedder:
    """Runs a function of texts: in a worker thread if it takes longer than the switch to one, otherwise at once.

    Attributes:
        load: imports and reads what the function needs, which may take long; called once.
        is_quick: whether a few short texts are embedded on the event loop, once the function is loaded; other texts, and
            all texts if False, are embedded in a worker thread.
    """

    model: Final[str]
    load: Final[Callable[[], Vectors]] = field(repr=False)
    is_quick: Final[bool]
    similarity_threshold: Final[float] = USUAL_THRESHOLD
    _vectors: Vectors | None = field(default=None, init=False, repr=False)
    _loading: Final[Lock] = field(factory=Lock, init=False, repr=False)

    def unavailability(self) -> None:
        """Return None: the embedder is always available."""

    def embed(self, texts: Sequence[str], /) -> Effect[Matrix, EmbeddingError]:
        """Return a matrix with one row for each text, in order; it never fails, except by a defect."""

        async def rows() -> Outcome[Matrix, EmbeddingError]:
            vectors = self._vectors
            if vectors is not None and self.is_quick and _is_little(texts):
                return Success(vectors(texts))
            if not has_event_loop():
                return Success(self._embed(texts))
            return Success(await anyio.to_thread.run_sync(self._embed, texts, abandon_on_cancel=True))

        return Effect.from_outcome(rows)

    def _embed(self, texts: Sequence[str]) -> Matrix:
        with self._loading:
            vectors = self._vectors = self._vectors or self.load()
        return vectors(texts)


def _is_little(texts: Sequence[str]) -> bool:
    return len(texts) <= INLINE_TEXTS and sum(map(len, texts)) <= INLINE_CHARACTERS


hashed: Final = Layer.succeed(
    EmbedderTag, LocalEmbedder(HASHED_MODEL, lambda: composite.hashed_rows, is_quick=True)
)


def _load_static() -> Vectors:
    composite.bundled_rows()
    return composite.composite_rows


static: Final = Layer.succeed(
    EmbedderTag, LocalEmbedder(MODEL, _load_static, is_quick=True, similarity_threshold=THRESHOLD)
)
