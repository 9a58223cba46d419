"""``LongTermMemoryService``: the service that agents call, over any repository, embedder, extractor and ranker.

Its operations are in ``saving/saving.py``, ``recall/recalling.py``, ``keyed_values.py``, ``maintenance.py``, ``undoing.py``
and ``removing.py``.  They check the input, make drafts, and turn errors of the repository into errors of the service.
Transactions belong to the repository, the order of hits to the ranker.
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
from chatmemory.longterm.memory_repository import MemoryRepositoryTag
from chatmemory.longterm.recall.recall_ranker import RecallRankerTag
from chatmemory.longterm.removing import Removing
from chatmemory.longterm.saving.memory_drafts import MemoryDrafts
from chatmemory.longterm.saving.saving import Saving
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
    """Implements ``LongTermMemory``, which describes its methods."""


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
"""The service over the parts that are provided; the embedder must have its guard."""
