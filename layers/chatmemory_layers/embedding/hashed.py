"""The embedder that needs no file and no model; ``composite.py`` defines its vectors."""

from typing import Final

from chatmemory.effect import Layer
from chatmemory.embedding.embedder import EmbedderTag
from chatmemory_layers.embedding.local import LocalEmbedder, Vectors

MODEL: Final = "chatmemory-hashed-2"
"""The name of the model; vectors of other features get another version number."""


def _load() -> Vectors:
    from chatmemory_layers.embedding.composite import hashed_rows

    return hashed_rows


hashed: Final = Layer.succeed(EmbedderTag, LocalEmbedder(MODEL, _load, is_quick=True))
