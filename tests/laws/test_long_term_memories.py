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
    PostgresSettings,
    PostgresSettingsTag,
    PromotionSettings,
    PromotionSettingsTag,
    SqliteSettings,
    SqliteSettingsTag,
)
from chatmemory_layers.in_memory import memory_repository as in_memory
from chatmemory_layers.postgres.engine import database as postgres_database
from chatmemory_layers.postgres.memories import memory_repository as postgres
from chatmemory_layers.sqlite.engine import database as sqlite_database
from chatmemory_layers.sqlite.memories import memory_repository as sqlite

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
    memory = (PARTS | in_memory.memory_repository) >> long_term_memory
    is_durable = False


class TestInMemoryWithoutPromotion(TestInMemory):
    memory = (SETTINGS.feed_keep(_MORE) | in_memory.memory_repository) >> long_term_memory


class TestInMemoryOnTrio(TestInMemory):
    event_loop = "trio"


class TestSqlite(LongTermMemoryLaws):
    @pytest.fixture(autouse=True)
    def in_a_file(self, tmp_path: Path) -> None:
        settings = Layer.succeed(SqliteSettingsTag, SqliteSettings(path=str(tmp_path / "laws.db")))
        repository = settings >> sqlite_database.database >> sqlite.memory_repository
        self.memory = (PARTS | repository) >> long_term_memory


class TestPostgres(LongTermMemoryLaws):
    @pytest.fixture(autouse=True)
    def in_a_database(self, dsn: str) -> None:
        settings = Layer.succeed(PostgresSettingsTag, PostgresSettings(dsn=dsn))
        repository = settings >> postgres_database.database >> postgres.memory_repository
        self.memory = (PARTS | repository) >> long_term_memory
