"""The laws of contexts on the stacks that ship with chatmemory."""

from pathlib import Path
from typing import Any

import pytest

from chatmemory.effect import Layer
from chatmemory.laws import ChatContextLaws
from chatmemory.settings.memory_settings import (
    ContextSettings,
    MemorySettings,
    PostgresSettings,
    Settings,
    SqliteSettings,
    StoreSettings,
)
from chatmemory_layers import stacks


def stack_over(store: StoreSettings, context: ContextSettings) -> Layer[Any, Any]:
    return stacks.configured(Settings(memory=MemorySettings(context=context, store=store)))


class TestInMemory(ChatContextLaws):
    def stack(self, context: ContextSettings) -> Layer[Any, Any]:
        return stack_over(StoreSettings(backend="in_memory"), context)


class TestSqlite(ChatContextLaws):
    @pytest.fixture(autouse=True)
    def in_a_file(self, tmp_path: Path) -> None:
        self.file = SqliteSettings(path=str(tmp_path / "laws.db"))

    def stack(self, context: ContextSettings) -> Layer[Any, Any]:
        return stack_over(StoreSettings(sqlite=self.file), context)


class TestPostgres(ChatContextLaws):
    @pytest.fixture(autouse=True)
    def in_a_database(self, dsn: str) -> None:
        self.database = PostgresSettings(dsn=dsn)

    def stack(self, context: ContextSettings) -> Layer[Any, Any]:
        return stack_over(StoreSettings(backend="postgres", postgres=self.database), context)
