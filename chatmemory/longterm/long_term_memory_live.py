"""``LongTermMemoryService``: the service that agents call, over any repository, embedder, extractor and ranker.

Its operations stand in ``saving.py``, ``recall/recalling.py``, ``keyed_values.py``, ``maintenance.py`` and ``removing.py``.  They
check what comes in, have it drafted, and lift errors; transactions are the repository's, the order of what is recalled
is the ranker's.
"""

from typing import Never, TypeAlias, final

from attrs import frozen

from chatmemory.effect import Do, Effect, Layer
from chatmemory.effect.services.clock import ClockTag
from chatmemory.effect.services.ids import IdsTag
from chatmemory.embedding.embedder import EmbedderTag
from chatmemory.longterm.contract import LongTermMemory, LongTermMemoryService
from chatmemory.longterm.extraction.memory_extractor import MemoryExtractorTag
from chatmemory.longterm.keyed_values import KeyedValues
from chatmemory.longterm.memory_drafts import MemoryDrafts
from chatmemory.longterm.memory_repository import MemoryRepositoryTag
from chatmemory.longterm.recall.recall_ranker import RecallRankerTag
from chatmemory.longterm.removing import Removing
from chatmemory.longterm.saving import Saving
from chatmemory.longterm.undoing import Undoing
from chatmemory.settings.memory_settings import (
    ExpirySettingsTag,
    ExtractionSettingsTag,
    PromotionSettingsTag,
    RetrievalSettingsTag,
)

Requirements: TypeAlias = (
    MemoryRepositoryTag
    | EmbedderTag
    | MemoryExtractorTag
    | RecallRankerTag
    | RetrievalSettingsTag
    | ExtractionSettingsTag
    | PromotionSettingsTag
    | ExpirySettingsTag
)


@final
@frozen
class LongTermMemoryLive(Saving, KeyedValues, Undoing, Removing):
    """The service; its promises stand in ``LongTermMemory``."""


@Effect.gen
async def _assemble(do: Do[Never, Requirements]) -> LongTermMemory:
    clock, ids = do.service(ClockTag), do.service(IdsTag)
    return LongTermMemoryLive(
        repository=do.service(MemoryRepositoryTag),
        drafts=MemoryDrafts(do.service(EmbedderTag), clock, ids),
        extractor=do.service(MemoryExtractorTag),
        ranker=do.service(RecallRankerTag),
        retrieval=do.service(RetrievalSettingsTag),
        extraction=do.service(ExtractionSettingsTag),
        promotion=do.service(PromotionSettingsTag),
        expiry=do.service(ExpirySettingsTag),
        clock=clock,
        ids=ids,
    )


long_term_memory = Layer.effect(
    LongTermMemoryService,
    _assemble(),
    needs=[
        MemoryRepositoryTag,
        EmbedderTag,
        MemoryExtractorTag,
        RecallRankerTag,
        RetrievalSettingsTag,
        ExtractionSettingsTag,
        PromotionSettingsTag,
        ExpirySettingsTag,
    ],
)
"""The service over what is at hand; the embedder is a guarded one."""
