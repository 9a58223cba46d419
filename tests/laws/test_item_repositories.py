"""The law kit on the item repositories that ship with chatmemory."""

from pathlib import Path
from typing import Any

import pytest

from chatmemory.effect import Layer
from chatmemory.laws import ItemRepositoryLaws
from chatmemory.settings.memory_settings import (
    PostgresSettings,
    PostgresSettingsTag,
    SqliteSettings,
    SqliteSettingsTag,
)
from chatmemory_layers.in_memory import item_repository as in_memory
from chatmemory_layers.postgres.engine import database as postgres_database
from chatmemory_layers.postgres.items import item_repository as postgres
from chatmemory_layers.sqlite.engine import database as sqlite_database
from chatmemory_layers.sqlite.items import item_repository as sqlite
from tests.thorough import IS_THOROUGH, rounds, thorough


class Laws(ItemRepositoryLaws):
    examples = rounds(6, thorough=100)
    rounds = 100 if IS_THOROUGH else 40


class TestInMemory(Laws):
    repository = in_memory.item_repository
    is_durable = False


class TestInMemoryOnTrio(TestInMemory):
    event_loop = "trio"


class TestSqlite(Laws):
    @pytest.fixture(autouse=True)
    def in_a_file(self, tmp_path: Path) -> None:
        settings = Layer.succeed(SqliteSettingsTag, SqliteSettings(path=str(tmp_path / "laws.db")))
        self.repository = settings >> sqlite_database.database >> sqlite.item_repository


class TestPostgres(Laws):
    examples = rounds(3, thorough=40)  # the same decisions as above, and round trips

    @pytest.fixture(autouse=True)
    def in_a_database(self, dsn: str) -> None:
        settings = Layer.succeed(PostgresSettingsTag, PostgresSettings(dsn=dsn))
        self.repository = settings >> postgres_database.database >> postgres.item_repository


def guarded(dsn: str) -> Layer[Any, Any]:
    """Return the repository over a database with row-level security."""
    settings = Layer.succeed(PostgresSettingsTag, PostgresSettings(dsn=dsn, row_security=True))
    return settings >> postgres_database.database >> postgres.item_repository


@thorough
class TestPostgresWithRowSecurity(Laws):
    examples = 10

    @pytest.fixture(autouse=True)
    def in_a_guarded_database(self, serving: str) -> None:
        self.repository = guarded(serving)


def test_a_program_of_everything_has_the_same_results_with_row_security(serving: str) -> None:
    laws = Laws()
    laws.examples = 3
    laws.repository = guarded(serving)
    laws.test_l21_equivalence()
