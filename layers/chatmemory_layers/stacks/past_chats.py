"""Ready-made stacks of past chats: ``finding`` loads as little as possible, ``indexing`` writes the index, ``testing`` does both.

All run in the calling thread, and without an event loop unless an embedder over HTTP is set.  Programs with an event loop
use ``server/served_past_chats.py``.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final, TypeAlias, TypedDict

from attrs import evolve

from chatmemory.conversation.token_counter import token_counter
from chatmemory.effect import Layer
from chatmemory.effect.lazy import LazyModule
from chatmemory.effect.services.clock import Clock, ClockTag
from chatmemory.embedding.embedder import Embedder, EmbedderTag
from chatmemory.pastchats.contract import PastChatsIndexService, PastChatsService
from chatmemory.pastchats.finding.hybrid_rank import prompt_ranker
from chatmemory.pastchats.finding.past_chats_live import past_chats
from chatmemory.pastchats.finding.prompt_hits import PromptRanker, PromptRankerTag
from chatmemory.pastchats.prompt_repository import PromptRepository, PromptRepositoryTag
from chatmemory.settings.embedding_settings import EmbeddingSettings, EmbeddingSettingsTag
from chatmemory.settings.past_chats_settings import PastChatsSettings, PastChatsSettingsTag
from chatmemory_layers.sqlite.prompts.prompt_repository import prompt_reader, prompt_repository
from chatmemory_layers.sqlite.prompts.prompt_store import store_path
from chatmemory_layers.stacks.part_layer import check_names, chosen, layer_of

if TYPE_CHECKING:
    from typing import Never

    from typing_extensions import Unpack

    from chatmemory.embedding.query_embedder import QueryEmbedderTag
    from chatmemory.errors import ConfigError, RepositoryError
    from chatmemory.observe import past_chats as observe
    from chatmemory.pastchats.indexing import history_files, past_chats_index_live
    from chatmemory.pastchats.indexing.history_files import HistoryFiles, HistoryFilesTag
    from chatmemory_layers.embedding import from_settings, plain_rows, query_embedder
    from chatmemory_layers.files import local_files
else:  # what a recall does not need
    observe = LazyModule("chatmemory.observe.past_chats")
    history_files = LazyModule("chatmemory.pastchats.indexing.history_files")
    past_chats_index_live = LazyModule("chatmemory.pastchats.indexing.past_chats_index_live")
    from_settings = LazyModule("chatmemory_layers.embedding.from_settings")
    plain_rows = LazyModule("chatmemory_layers.embedding.plain_rows")
    query_embedder = LazyModule("chatmemory_layers.embedding.query_embedder")
    local_files = LazyModule("chatmemory_layers.files.local_files")

StackError: TypeAlias = "RepositoryError | ConfigError"
Given: TypeAlias = "PastChatsSettingsTag | EmbeddingSettingsTag"
Kept: TypeAlias = "Layer[Given | PromptRepositoryTag, StackError]"
Files: TypeAlias = "Layer[HistoryFilesTag, Never, PastChatsSettingsTag]"
Repositories: TypeAlias = "Layer[PromptRepositoryTag, StackError, Given]"
Embedders: TypeAlias = "Layer[EmbedderTag, StackError, Given]"
Rankers: TypeAlias = "Layer[PromptRankerTag, StackError, Given]"

OFFLINE: Final = EmbeddingSettings()
"""The embedder that ships with the package."""


class Parts(TypedDict, total=False):
    """The parts to replace.  None, or leaving a part out, keeps the part of the stack.

    Attributes:
        repositories: the index; then no file is opened.
        files: the files from which histories are read.
        embedder: makes vectors of turns and of queries.
        ranker: orders the turns of a search.
        clock: gives the present time.
    """

    repositories: PromptRepository | Repositories | None
    files: HistoryFiles | Files | None
    embedder: Embedder | Embedders | None
    ranker: PromptRanker | Rankers | None
    clock: Clock | Layer[Never] | None


def finding(
    settings: PastChatsSettings, embedding: EmbeddingSettings = OFFLINE, **parts: Unpack[Parts]
) -> Layer[PastChatsService, StackError]:
    """Return a stack that searches an existing index and writes nothing.

    Args:
        settings: where the index is, and how large a recall may be.
        embedding: the embedder with which the vectors were made.
        parts: the parts to replace, each by a layer or a plain object (see ``Parts``).
    """
    return _finding(_kept(prompt_reader, settings, embedding, parts), embedding, parts)


def indexing(
    settings: PastChatsSettings, embedding: EmbeddingSettings = OFFLINE, **parts: Unpack[Parts]
) -> Layer[PastChatsIndexService, StackError]:
    """Return a stack that writes an index, which is created if it does not exist.

    Args:
        settings: where the index is, and which histories are read.
        embedding: the embedder that makes vectors.
        parts: as for ``finding``; ``files`` defaults to the files of this machine.
    """
    return _indexing(_kept(prompt_repository, settings, embedding, parts), embedding, parts)


def dry_run(
    settings: PastChatsSettings, embedding: EmbeddingSettings = OFFLINE, **parts: Unpack[Parts]
) -> Layer[PastChatsIndexService, StackError]:
    """Return a stack for a dry run: it only reads the index, and uses an empty one if it does not exist.

    Args:
        settings: as for ``indexing``.
        embedding: as for ``indexing``.
        parts: as for ``indexing``.
    """
    if store_path(settings).exists():
        return _indexing(_kept(prompt_reader, settings, embedding, parts), embedding, parts)
    return indexing(evolve(settings, path=":memory:"), embedding, **parts)


def testing(
    embedding: EmbeddingSettings = OFFLINE, **parts: Unpack[Parts]
) -> Layer[PastChatsIndexService | PastChatsService, StackError]:
    """Return a stack that writes an index in memory and searches it, until the runtime is closed.

    Write ``past_chats_stacks.testing()``: pytest takes an imported function whose name begins with "test" for a test.

    Args:
        embedding: the embedder that makes vectors.
        parts: as for ``indexing``.
    """
    kept = _kept(prompt_repository, PastChatsSettings(path=":memory:"), embedding, parts)
    return _finding(kept, embedding, parts) | _indexing(kept, embedding, parts)


def waits(embedding: EmbeddingSettings) -> bool:
    """Return whether a stack needs an event loop, because it gets its vectors from an endpoint over HTTP."""
    return embedding.provider == "openai_compatible"


def _kept(
    stored: Repositories, settings: PastChatsSettings, embedding: EmbeddingSettings, parts: Parts
) -> Kept:
    check_names(parts, Parts)
    ground = Layer.succeed(PastChatsSettingsTag, settings) | Layer.succeed(EmbeddingSettingsTag, embedding)
    if (clock := parts.get("clock")) is not None:
        ground |= layer_of(ClockTag, clock)
    return ground.feed_keep(chosen(PromptRepositoryTag, parts.get("repositories"), stored))


def _finding(kept: Kept, embedding: EmbeddingSettings, parts: Parts) -> Layer[PastChatsService, StackError]:
    ranker: Rankers = chosen(PromptRankerTag, parts.get("ranker"), prompt_ranker)
    found = (kept | token_counter).feed_keep(ranker | _query_embedder(embedding, parts)) >> past_chats
    if "logging" not in sys.modules:  # then the log is not read, and a recall need not import logging
        return found
    return found >> observe.observed_past_chats


def _indexing(
    kept: Kept, embedding: EmbeddingSettings, parts: Parts
) -> Layer[PastChatsIndexService, StackError]:
    files: Files = chosen(history_files.HistoryFilesTag, parts.get("files"), local_files.local_files)
    made = kept.feed_keep(_embedder(embedding, parts) | files)
    return made >> past_chats_index_live.past_chats_index >> observe.observed_past_chats_index


def _embedder(settings: EmbeddingSettings, parts: Parts) -> Embedders:
    if (own := parts.get("embedder")) is None:
        return from_settings.embedder_from_settings(settings)
    return layer_of(EmbedderTag, own)


def _query_embedder(settings: EmbeddingSettings, parts: Parts) -> Layer[QueryEmbedderTag, StackError, Given]:
    if settings.provider == "static" and parts.get("embedder") is None:
        return plain_rows.plain_static
    return _embedder(settings, parts) >> query_embedder.query_embedder_of
