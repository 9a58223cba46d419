"""``memory.embedding``; see ``settings.py``."""

from typing import Literal, final

from attrs import field, frozen, validators

from chatmemory.effect import Tag
from chatmemory.settings.setting_rules import NOT_NEGATIVE, POSITIVE, SOME_TIME, literals_checked


@final
@frozen(kw_only=True, field_transformer=literals_checked)
class EmbeddingSettings:
    """``memory.embedding``: what makes vectors of texts.

    Attributes:
        provider: ``static`` ships with the package and works offline; ``openai_compatible`` asks an endpoint over
            HTTP; ``sentence_transformers`` runs a model here; ``hashed`` needs no file; ``none``: no vectors.
        base_url: of the endpoint, up to and without ``/embeddings``.
        api_key: sent as a bearer token; empty: none is sent.
        model: its name, for the endpoint or sentence-transformers.
        batch_size: texts in one request.
        timeout_seconds: for one request; an embedder of your own has as long for as many texts.
        max_retries: further requests after one that failed for a passing reason.
        pause_after_failure_seconds: how long nobody asks again after a failure (spec 001, R5).
    """

    provider: Literal["static", "openai_compatible", "sentence_transformers", "hashed", "none"] = "static"
    base_url: str = "http://localhost:11434/v1"
    api_key: str = field(default="", repr=False)
    model: str = ""
    batch_size: int = field(default=64, validator=POSITIVE)
    timeout_seconds: float = field(default=20.0, validator=SOME_TIME)
    max_retries: int = field(default=2, validator=NOT_NEGATIVE)
    pause_after_failure_seconds: float = field(default=1800.0, validator=validators.ge(0.0))


class EmbeddingSettingsTag(Tag[EmbeddingSettings]):
    """Where layers provide ``EmbeddingSettings``."""
