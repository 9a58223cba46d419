"""The law kit on the long-term memory that ships with chatmemory, over each of its repositories."""

from pathlib import Path

import pytest

from chatmemory.effect import Layer
from chatmemory.embedding.embedding_guard import guarded
from chatmemory.laws import LongTermMemoryLaws
from chatmemory.longterm.extraction.extractors import rule_extractor
from chatmemory.longterm.long_term_memory_live import long_term_memory
from chatmemory.longterm.recall.recall_ranking import recall_ranker
from chatmemory.settings.embedding_settings import EmbeddingSettings, EmbeddingSettingsTag
from chatmemory.settings.memory_settings import (
    ExpirySettings,
    ExpirySettingsTag,
    ExtractionSettings,
    ExtractionSettingsTag,
    PromotionSettings,
    PromotionSettingsTag,
)
from tests.laws.stores import in_memory, in_postgres, in_sqlite

_OTHER_SETTINGS = (
    Layer.succeed(EmbeddingSettingsTag, EmbeddingSettings())
    | Layer.succeed(ExtractionSettingsTag, ExtractionSettings())
    | Layer.succeed(ExpirySettingsTag, ExpirySettings())
)
SETTINGS = _OTHER_SETTINGS | Layer.succeed(PromotionSettingsTag, PromotionSettings())
PROMOTING = _OTHER_SETTINGS | Layer.succeed(PromotionSettingsTag, PromotionSettings(after_sessions=2))
_MORE = guarded | rule_extractor | recall_ranker
PARTS = PROMOTING.feed_keep(_MORE)


class TestInMemory(LongTermMemoryLaws):
    memory = (PARTS | in_memory) >> long_term_memory
    is_durable = False


class TestInMemoryWithoutPromotion(TestInMemory):
    memory = (SETTINGS.feed_keep(_MORE) | in_memory) >> long_term_memory


class TestInMemoryOnTrio(TestInMemory):
    event_loop = "trio"


class TestSqlite(LongTermMemoryLaws):
    @pytest.fixture(autouse=True)
    def in_a_file(self, tmp_path: Path) -> None:
        self.memory = (PARTS | in_sqlite(tmp_path / "laws.db")) >> long_term_memory


class TestPostgres(LongTermMemoryLaws):
    @pytest.fixture(autouse=True)
    def in_a_database(self, dsn: str) -> None:
        self.memory = (PARTS | in_postgres(dsn)) >> long_term_memory
