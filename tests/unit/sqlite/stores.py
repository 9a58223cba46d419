"""What the tests of the SQLite engine share: open repositories, the text of a schema."""

import sqlite3
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import pytest

from chatmemory import EffectFailed, Matrix, Namespace, RepositoryError
from chatmemory.embedding.space import EmbeddingSpace
from chatmemory.laws.memories.memory_witness import remembered
from chatmemory.settings.memory_settings import SqliteSettings
from chatmemory_layers.sqlite.engine.database import open_database
from chatmemory_layers.sqlite.memories.memory_repository import SqliteMemoryRepository
from chatmemory_layers.sqlite.messages.message_repository import SqliteMessageRepository
from tests.patience import PATIENCE_SECONDS
from tests.unit.said import batch

MING: Final = Namespace("小明")
# Without what SQLite makes by itself: its sequences, and the tables behind a virtual one.
SELECT_SCHEMA = """
SELECT sql FROM sqlite_schema
WHERE sql IS NOT NULL AND name NOT GLOB 'sqlite_*' AND NOT (type = 'table' AND name GLOB '*_fts_*')
ORDER BY tbl_name, type <> 'table', type DESC, name
"""


def schema_text(connection: sqlite3.Connection) -> str:
    """Return the statements that make the tables of a file."""
    statements = [sql for (sql,) in connection.execute(SELECT_SCHEMA).fetchall()]
    return "".join(f"{statement};\n\n" for statement in statements).rstrip() + "\n"


def file_settings(path: Path, *, busy_timeout_seconds: float = PATIENCE_SECONDS) -> SqliteSettings:
    return SqliteSettings(path=str(path), busy_timeout_seconds=busy_timeout_seconds)


@asynccontextmanager
async def open_repository(path: Path, **settings: float) -> AsyncGenerator[SqliteMessageRepository]:
    async with open_database(file_settings(path, **settings)) as database:
        yield SqliteMessageRepository(database)


@asynccontextmanager
async def open_memories(path: Path, **settings: float) -> AsyncGenerator[SqliteMemoryRepository]:
    async with open_database(file_settings(path, **settings)) as database:
        yield SqliteMemoryRepository(database)


async def fill(
    memories: SqliteMemoryRepository, rows: Matrix, *, prefix: str = "", model: str = "模型"
) -> None:
    """Remember one memory for each row, which is its vector; its tag is its number modulo 100."""
    space = EmbeddingSpace(model, rows.shape[1])
    drafts = [
        remembered(f"{prefix}{number}", namespace=MING, space=space, vector=row, tags=(f"{number % 100}",))
        for number, row in enumerate(rows)
    ]
    await memories.store(tuple(drafts)).or_raise()


async def create_store(path: Path, *ids: str) -> None:
    """Leave a closed store behind that holds these messages."""
    async with open_repository(path) as repository:
        await repository.append(batch("c", *ids or ("m1",))).or_raise()


async def refusal(path: Path) -> RepositoryError:
    """Return why the file cannot be opened."""
    with pytest.raises(EffectFailed) as failed:
        async with open_database(file_settings(path, busy_timeout_seconds=0.05)):
            pass
    assert isinstance(failed.value.error, RepositoryError)
    return failed.value.error
