"""The law kit on the repositories that ship with chatmemory."""

from pathlib import Path

import pytest

from chatmemory.effect import Layer
from chatmemory.laws import MessageRepositoryLaws
from chatmemory.settings import SqliteSettings, SqliteSettingsTag
from chatmemory_layers.in_memory import message_repository as in_memory
from chatmemory_layers.sqlite import database as sqlite_database
from chatmemory_layers.sqlite import message_repository as sqlite


class TestInMemory(MessageRepositoryLaws):
    repository = in_memory.message_repository
    is_durable = False


class TestInMemoryOnTrio(TestInMemory):
    event_loop = "trio"


class TestSqlite(MessageRepositoryLaws):
    @pytest.fixture(autouse=True)
    def in_a_file(self, tmp_path: Path) -> None:
        settings = Layer.succeed(SqliteSettingsTag, SqliteSettings(path=str(tmp_path / "laws.db")))
        self.repository = settings >> sqlite_database.database >> sqlite.message_repository
