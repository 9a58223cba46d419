"""``embedder_from_settings``: chooses the embedder that the settings name."""

from typing import assert_never

from chatmemory.effect import Layer
from chatmemory.embedding.embedder import EmbedderTag
from chatmemory.errors import ConfigError
from chatmemory.settings.embedding_settings import EmbeddingSettings, EmbeddingSettingsTag
from chatmemory_layers.embedding.local import hashed, static
from chatmemory_layers.embedding.none import none
from chatmemory_layers.embedding.openai_compatible import openai_compatible
from chatmemory_layers.embedding.sentence_transformers import sentence_transformers


def embedder_from_settings(
    settings: EmbeddingSettings,
) -> Layer[EmbedderTag, ConfigError, EmbeddingSettingsTag]:
    """Return the layer that ``memory.embedding.provider`` names, without a guard."""
    match settings.provider:
        case "static":
            return static
        case "openai_compatible":
            return openai_compatible
        case "sentence_transformers":
            return sentence_transformers
        case "hashed":
            return hashed
        case "none":
            return none
        case _:
            assert_never(settings.provider)
