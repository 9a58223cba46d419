"""The embedder that runs a model of sentence-transformers in this process.

Importing the library takes seconds, so the library and the model are loaded at the first text.  The extra
``chatmemory-effect[local]`` installs it.
"""

import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from importlib import import_module
from importlib.util import find_spec
from threading import Lock
from typing import Any, Final

from chatmemory.effect import EffectFailed, Layer
from chatmemory.effect.lazy import np
from chatmemory.embedding.embedder import Embedder, EmbedderTag, Matrix
from chatmemory.embedding.unit_vectors import unit_rows
from chatmemory.errors import ConfigError, EmbeddingError, InvalidValue
from chatmemory.extra import needed
from chatmemory.settings.embedding_settings import EmbeddingSettings, EmbeddingSettingsTag
from chatmemory_layers.embedding.local import LocalEmbedder, Vectors
from chatmemory_layers.embedding.none import NoEmbedder

log = logging.getLogger(__name__)


@asynccontextmanager
async def open_embedder(settings: EmbeddingSettings) -> AsyncGenerator[Embedder]:
    """Yield the embedder of ``settings.model``; the model itself is loaded at the first text.

    Raises:
        EffectFailed: the library is not installed; holds a ``ConfigError``.
    """
    if find_spec("sentence_transformers") is None:
        reason = needed("sentence-transformers", extra="local")
        raise EffectFailed(ConfigError((InvalidValue("memory.embedding.provider", reason),)))
    if settings.model:
        yield LocalEmbedder(settings.model, lambda: _load(settings), is_quick=False)
    else:
        error = EmbeddingError(settings.provider, "not_configured", "memory.embedding.model is empty")
        log.warning("memories get no vectors: %s", error, extra={"problem": error.problem})
        yield NoEmbedder(error)


sentence_transformers: Final = Layer.scoped(EmbedderTag, open_embedder, EmbeddingSettingsTag).failing_with(
    ConfigError
)


def _load(settings: EmbeddingSettings) -> Vectors:
    library: Any = import_module("sentence_transformers")
    model = library.SentenceTransformer(settings.model)
    one_at_a_time = Lock()  # its tokenizer raises "Already borrowed" when two threads use it

    def vectors(texts: Sequence[str]) -> Matrix:
        if not texts:
            return np.zeros((0, 0), dtype=np.float32)
        with one_at_a_time:
            return unit_rows(
                model.encode(list(texts), batch_size=settings.batch_size, show_progress_bar=False)
            )

    return vectors
