"""Ready-made stacks of past chats: one that finds, which loads as little as it can, and one that indexes.

Both run in the calling thread, and without an event loop unless an embedder over HTTP is set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from chatmemory.contracts.past_chats import PastChatsIndexService, PastChatsService
from chatmemory.conversation.token_count import token_counter
from chatmemory.effect import Layer
from chatmemory.embedding_settings import EmbeddingSettingsTag
from chatmemory.past_chats_settings import PastChatsSettingsTag
from chatmemory.pastchats.finding import past_chats
from chatmemory.pastchats.hybrid_rank import prompt_ranker
from chatmemory_layers.past_chats_configuration import PastChatsPart
from chatmemory_layers.sqlite.prompt_repository import prompt_reader, prompt_repository

if TYPE_CHECKING:
    from chatmemory.contracts.prompt_repository import PromptRepositoryTag
    from chatmemory.contracts.query_embedder import QueryEmbedderTag
    from chatmemory.effect.config_error import ConfigError
    from chatmemory.embedding_settings import EmbeddingSettings
    from chatmemory.errors import RepositoryError

StackError: TypeAlias = "RepositoryError | ConfigError"


def finding(settings: PastChatsPart) -> Layer[PastChatsService, StackError]:
    """Find in an index that exists, and write nothing."""
    given = _given(settings) | token_counter | prompt_ranker
    return given.feed_keep(prompt_reader | _query_embedder(settings.embedding)) >> past_chats


def indexing(settings: PastChatsPart) -> Layer[PastChatsIndexService, StackError]:
    """Keep an index, which is made when it is not there."""
    return _indexing(settings, prompt_repository)


def rehearsing(settings: PastChatsPart) -> Layer[PastChatsIndexService, StackError]:
    """Say what indexing would do, by an index that is only read; by an empty one when there is none."""
    from chatmemory_layers.sqlite.prompt_store import store_path  # noqa: PLC0415  others rehearse nothing

    if store_path(settings.past_chats).exists():
        return _indexing(settings, prompt_reader)
    from attrs import evolve  # noqa: PLC0415  likewise

    nowhere = PastChatsPart(evolve(settings.past_chats, path=":memory:"), settings.embedding)
    return _indexing(nowhere, prompt_repository)


def _indexing(
    settings: PastChatsPart, repository: Layer[PromptRepositoryTag, RepositoryError, PastChatsSettingsTag]
) -> Layer[PastChatsIndexService, StackError]:
    from chatmemory.pastchats.indexing import past_chats_index  # noqa: PLC0415  a recall needs none of this
    from chatmemory_layers.embedding.chosen import chosen_embedder  # noqa: PLC0415  likewise
    from chatmemory_layers.files.local_files import local_files  # noqa: PLC0415  likewise

    given = _given(settings)
    return given.feed_keep(repository | chosen_embedder(settings.embedding) | local_files) >> past_chats_index


def waits(settings: PastChatsPart) -> bool:
    """Tell whether a stack of *settings* needs an event loop: whether it asks an endpoint for vectors."""
    return settings.embedding.provider == "openai_compatible"


def _given(settings: PastChatsPart) -> Layer[PastChatsSettingsTag | EmbeddingSettingsTag]:
    return Layer.succeed(PastChatsSettingsTag, settings.past_chats) | Layer.succeed(
        EmbeddingSettingsTag, settings.embedding
    )


def _query_embedder(
    settings: EmbeddingSettings,
) -> Layer[QueryEmbedderTag, ConfigError, EmbeddingSettingsTag]:
    if settings.provider == "static":
        from chatmemory_layers.embedding.plain_static import plain_static  # noqa: PLC0415  others need no rows

        return plain_static
    from chatmemory_layers.embedding.chosen import chosen_embedder  # noqa: PLC0415  numpy takes long to import
    from chatmemory_layers.embedding.query_embedder import query_embedder_of  # noqa: PLC0415  likewise

    return chosen_embedder(settings) >> query_embedder_of
