"""The settings of ``memory.embedding``."""

from typing import Literal, final

from attrs import field, frozen, validators

from chatmemory.effect import Tag
from chatmemory.settings.setting_rules import NOT_NEGATIVE, POSITIVE, SOME_TIME, literals_checked


@final
@frozen(kw_only=True, field_transformer=literals_checked)
class EmbeddingSettings:
    """``memory.embedding``: how vectors of texts are made.

    Attributes:
        provider: ``static`` ships with the package and works offline; ``openai_compatible`` calls an endpoint over
            HTTP; ``sentence_transformers`` runs a model on this machine; ``hashed`` needs no file; ``none``: no vectors.
        base_url: the address of the endpoint, without ``/embeddings`` at its end.
        api_key: sent as a bearer token; empty: none is sent.
        model: the name of the model, for the endpoint or for sentence-transformers.
        batch_size: texts in one request.
        timeout_seconds: the time limit of one request; for an embedder of your own, of *batch_size* texts.
        max_retries: how often a request is repeated after a temporary failure.
        pause_after_failure_seconds: how long the embedder is not called after a failure (spec 001, R5).
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
    """The tag under which layers provide ``EmbeddingSettings``."""
