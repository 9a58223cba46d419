"""The default embedder: bundled, offline, with numpy alone; ``composite.py`` defines its vectors."""

from typing import Final

from chatmemory.effect import Layer
from chatmemory.embedding.embedder import EmbedderTag
from chatmemory_layers.embedding.bundled import MODEL
from chatmemory_layers.embedding.local import LocalEmbedder, Vectors

THRESHOLD: Final = 0.21
"""Of 28 English questions in other words, 25 find their memory among the first five; with 0.3 it is 22.  Below 0.21, questions
about nothing that is remembered fill more than half of a context."""


def _load() -> Vectors:
    from chatmemory_layers.embedding.composite import bundled_rows, composite_rows

    bundled_rows()
    return composite_rows


static: Final = Layer.succeed(
    EmbedderTag, LocalEmbedder(MODEL, _load, is_quick=True, similarity_threshold=THRESHOLD)
)
