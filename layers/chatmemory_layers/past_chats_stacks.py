"""Ready-made stacks of past chats: ``finding`` loads as little as it can, ``indexing`` keeps the index, ``testing`` is both.

All run in the calling thread, and without an event loop unless an embedder over HTTP is set; for programs that have one
there is ``server/served_past_chats.py``.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final, TypeAlias

from chatmemory.contracts.past_chats import PastChatsIndexService, PastChatsService
from chatmemory.conversation.token_count import token_counter
from chatmemory.effect import Layer
from chatmemory.embedding_settings import EmbeddingSettings, EmbeddingSettingsTag
from chatmemory.past_chats_settings import PastChatsSettings, PastChatsSettingsTag
from chatmemory.pastchats.finding import past_chats
from chatmemory.pastchats.hybrid_rank import prompt_ranker
from chatmemory_layers.sqlite.prompt_repository import prompt_reader, prompt_repository

if TYPE_CHECKING:
    from typing import Never

    from chatmemory.contracts.history_files import HistoryFilesTag
    from chatmemory.contracts.prompt_repository import PromptRepositoryTag
    from chatmemory.contracts.query_embedder import QueryEmbedderTag
    from chatmemory.effect.config.config_error import ConfigError
    from chatmemory.errors import RepositoryError

StackError: TypeAlias = "RepositoryError | ConfigError"
Given: TypeAlias = "PastChatsSettingsTag | EmbeddingSettingsTag"
Kept: TypeAlias = "Layer[Given | PromptRepositoryTag, RepositoryError]"
Files: TypeAlias = "Layer[HistoryFilesTag, Never, PastChatsSettingsTag]"

OFFLINE: Final = EmbeddingSettings()
"""The embedder that ships with the package."""


def finding(
    settings: PastChatsSettings, embedding: EmbeddingSettings = OFFLINE
) -> Layer[PastChatsService, StackError]:
    """Find in an index that exists, and write nothing."""
    return _finding(_given(settings, embedding).feed_keep(prompt_reader), embedding)


def indexing(
    settings: PastChatsSettings, embedding: EmbeddingSettings = OFFLINE, *, files: Files | None = None
) -> Layer[PastChatsIndexService, StackError]:
    """Keep an index, which is made when it is not there; read out of *files*, by default those of this machine."""
    return _indexing(_given(settings, embedding).feed_keep(prompt_repository), embedding, files)


def rehearsing(
    settings: PastChatsSettings, embedding: EmbeddingSettings = OFFLINE, *, files: Files | None = None
) -> Layer[PastChatsIndexService, StackError]:
    """Say what indexing would do, by an index that is only read; by an empty one when there is none."""
    from chatmemory_layers.sqlite.prompt_store import store_path  # noqa: PLC0415  others rehearse nothing

    if store_path(settings).exists():
        return _indexing(_given(settings, embedding).feed_keep(prompt_reader), embedding, files)
    from attrs import evolve  # noqa: PLC0415  likewise

    return indexing(evolve(settings, path=":memory:"), embedding, files=files)


def testing(
    embedding: EmbeddingSettings = OFFLINE,
) -> Layer[PastChatsIndexService | PastChatsService, StackError]:
    """Keep an index in memory until the runtime ends, and find in it.

    Write ``past_chats_stacks.testing()``: pytest takes an imported function whose name begins with "test" for a test.
    """
    settings = PastChatsSettings(path=":memory:")
    kept = _given(settings, embedding).feed_keep(prompt_repository)
    return _finding(kept, embedding) | _indexing(kept, embedding)


def waits(embedding: EmbeddingSettings) -> bool:
    """Tell whether a stack needs an event loop: whether it asks an endpoint for vectors."""
    return embedding.provider == "openai_compatible"


def _given(settings: PastChatsSettings, embedding: EmbeddingSettings) -> Layer[Given]:
    return Layer.succeed(PastChatsSettingsTag, settings) | Layer.succeed(EmbeddingSettingsTag, embedding)


def _finding(kept: Kept, embedding: EmbeddingSettings) -> Layer[PastChatsService, StackError]:
    found = (kept | token_counter | prompt_ranker).feed_keep(_query_embedder(embedding)) >> past_chats
    if "logging" not in sys.modules:  # then nobody looks, and a recall need not wait for it
        return found
    from chatmemory.observe_past_chats import observed_past_chats  # noqa: PLC0415  see above

    return found >> observed_past_chats


def _indexing(
    kept: Kept, embedding: EmbeddingSettings, files: Files | None = None
) -> Layer[PastChatsIndexService, StackError]:
    from chatmemory.observe_past_chats import observed_past_chats_index  # noqa: PLC0415  likewise
    from chatmemory.pastchats.indexing import past_chats_index  # noqa: PLC0415  a recall needs none of this
    from chatmemory_layers.embedding.chosen import chosen_embedder  # noqa: PLC0415  likewise
    from chatmemory_layers.files.local_files import local_files  # noqa: PLC0415  likewise

    indexed = kept.feed_keep(chosen_embedder(embedding) | (files or local_files)) >> past_chats_index
    return indexed >> observed_past_chats_index


def _query_embedder(
    settings: EmbeddingSettings,
) -> Layer[QueryEmbedderTag, ConfigError, EmbeddingSettingsTag]:
    if settings.provider == "static":
        from chatmemory_layers.embedding.plain_static import plain_static  # noqa: PLC0415  others need no rows

        return plain_static
    from chatmemory_layers.embedding.chosen import chosen_embedder  # noqa: PLC0415  numpy takes long to import
    from chatmemory_layers.embedding.query_embedder import query_embedder_of  # noqa: PLC0415  likewise

    return chosen_embedder(settings) >> query_embedder_of
