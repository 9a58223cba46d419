"""Rows that the desktop application has written become memories, whatever stands in them."""

import logging
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pytest

from chatmemory import Memory, MemoryListing, MemorySearch, Namespace
from chatmemory.settings.memory_settings import SqliteSettings
from chatmemory.text.search_terms import query_terms
from chatmemory_layers.sqlite.engine.database import open_database
from chatmemory_layers.sqlite.engine.migrations import migrate
from chatmemory_layers.sqlite.legacy import legacy_rows
from chatmemory_layers.sqlite.memories.memory_repository import SqliteMemoryRepository
from tests.unit.sqlite.desktop_files import FIRST_SECOND, desktop_file, rows_of

UNADOPTED = "memory_id IS NULL"


async def memories_of(file: Path, user: str = "default") -> list[Memory]:
    async with open_database(SqliteSettings(path=str(file), legacy_user=user)) as database:
        listed = await SqliteMemoryRepository(database).list(MemoryListing(Namespace(user), 1000)).or_raise()
    return sorted(listed, key=lambda memory: int(memory.id.split("-")[1]))


def insert(file: Path, **columns: Any) -> None:
    with closing(sqlite3.connect(file)) as connection:
        row = {"timestamp": FIRST_SECOND, "content": "你好", **columns}
        values = [
            f"CAST(:{name} AS TEXT)" if isinstance(value, bytes) else f":{name}"
            for name, value in row.items()
        ]
        connection.execute(f"INSERT INTO atomic_memory ({', '.join(row)}) VALUES ({', '.join(values)})", row)
        connection.commit()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return desktop_file(tmp_path / "desktop.db", rows=0)


async def test_a_row_becomes_the_memory_that_it_holds(file: Path) -> None:
    insert(file, content="我喜欢茶", tags="饮食, tea", session_id="s1", app_type="Word", embedding="[1, 2]")
    (memory,) = await memories_of(file, "小王")
    assert memory.namespace == Namespace("小王", "Word")
    assert (memory.content, memory.tags, memory.session_id) == ("我喜欢茶", ("饮食", "tea"), "s1")
    assert memory.created_at == datetime.fromtimestamp(FIRST_SECOND, UTC)
    assert (memory.memory_type, memory.role, memory.source) == ("short_term", "user", "inferred")
    assert (memory.embedding, memory.access_count, memory.version) == (None, 0, 1)
    assert rows_of(file, "tags, embedding") == [("饮食, tea", "[1, 2]")]


async def test_no_row_is_missed_between_two_transactions(tmp_path: Path) -> None:
    counts = [1, 199, 200, 201, 450]
    files = [desktop_file(tmp_path / f"{count}.db", rows=count) for count in counts]
    assert [len(await memories_of(file)) for file in files] == counts


async def test_long_term_rows_are_found_by_their_words(tmp_path: Path) -> None:
    file = desktop_file(tmp_path / "desktop.db", version=6, rows=0)
    insert(file, content="用户的咖啡不加糖", memory_type="long_term")
    insert(file, content="咖啡是短期的")
    await memories_of(file)
    async with open_database(SqliteSettings(path=str(file))) as database:
        search = MemorySearch(Namespace("default"), "咖啡", query_terms("咖啡"))
        found = (await SqliteMemoryRepository(database).search(search).or_raise()).found
    assert [candidate.memory.content for candidate in found] == ["用户的咖啡不加糖"]


NOON, BEGINNING = datetime(2025, 3, 14, 12, tzinfo=UTC), datetime(1970, 1, 1, tzinfo=UTC)
TIMES: Final = [
    (0, "2025-03-14T12:00:00+00:00", NOON),
    (-1, "2025-03-14T12:00:00+08:00", NOON - timedelta(hours=8)),
    (1_700_000_000_000, "2025-03-14T12:00:00Z", NOON),
    (2**63 - 1, "yesterday", BEGINNING),
    ("早上", "", BEGINNING),
    (1.5e300, "0001-01-01T00:00:00+14:00", BEGINNING),
    (1_700_000_000.5, "", datetime.fromtimestamp(1_700_000_000.5, UTC)),
    (0, "2025-03-14 12:00:00", datetime(2025, 3, 14, 12).astimezone(UTC)),  # local, where there is no other
]


async def test_an_absurd_time_stops_nothing(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    for timestamp, create_time, _ in TIMES:
        insert(file, timestamp=timestamp, create_time=create_time)
    with caplog.at_level(logging.INFO, legacy_rows.__name__):
        memories = await memories_of(file)
    assert [memory.created_at for memory in memories] == [created_at for *_, created_at in TIMES]
    assert caplog.records[-1].args == (len(TIMES), 3)


TAGS: Final[list[tuple[str | None, tuple[str, ...]]]] = [
    (None, ()),
    ("", ()),
    ("a", ("a",)),
    ("工作, 代码,a", ("工作", "代码", "a")),
    ('["工作", "a"]', ("工作", "a")),
    ("[" * 100_000, ("[" * 100_000,)),
    ('{"a": 1}', ('{"a": 1}',)),
]
EMBEDDINGS: Final = [None, "", "[", "[1, NaN]", "null", "[" * 100_000, "[0, 0]", '["a"]']


async def test_tags_are_read_leniently_no_vector_is_an_error_and_both_are_kept(file: Path) -> None:
    for tags, _ in TAGS:
        insert(file, tags=tags)
    for embedding in EMBEDDINGS:
        insert(file, embedding=embedding)
    memories = await memories_of(file)
    assert [memory.tags for memory in memories[: len(TAGS)]] == [read for _, read in TAGS]
    assert {memory.embedding for memory in memories} == {None}
    assert rows_of(file, "tags")[: len(TAGS)] == [(tags,) for tags, _ in TAGS]
    assert rows_of(file, "embedding")[len(TAGS) :] == [(embedding,) for embedding in EMBEDDINGS]


NO_TEXT: Final[list[dict[str, object]]] = [
    {"content": b"\xff\xfe"},
    {"content": "a\0b"},
    {"content": "   "},
    {"content": memoryview(b"bytes")},
    {"tags": b"\xc3("},
    {"session_id": b"\xff"},
    {"app_type": b"\xff"},
]


async def test_a_row_without_readable_text_stays(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    for columns in NO_TEXT:
        insert(file, **columns)
    insert(file, content="after it")
    with caplog.at_level(logging.INFO, legacy_rows.__name__):
        for _ in range(2):
            assert [memory.content for memory in await memories_of(file)] == ["after it"]
    told = [record.args for record in caplog.records if record.name == legacy_rows.__name__]
    assert told == [(1, 0), (len(NO_TEXT),), (len(NO_TEXT),)]
    assert rows_of(file, UNADOPTED) == [(1,)] * len(NO_TEXT) + [(0,)]


def test_a_text_of_a_broken_row_is_read_as_usual_afterwards(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "chat.db", isolation_level=None)) as connection:
        migrate(connection)
        legacy_rows.adopt_rows(connection, "default")
        assert connection.text_factory is str
