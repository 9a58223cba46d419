"""What is forgotten has left the files, the index of words and the vectors, and the index stays one that FTS5 opens."""

import asyncio
import logging
import sqlite3
from collections.abc import Generator
from contextlib import closing
from pathlib import Path
from typing import Final

import anyio
import pytest

from chatmemory import (
    ForgetReceipt,
    Forgetting,
    ManagedRuntime,
    MemorySearch,
    Provenance,
)
from chatmemory.embedding.space import EmbeddingSpace
from chatmemory.items.item_repository import ItemName, ItemPut, ItemRepositoryTag
from chatmemory.laws.kit.samples import START
from chatmemory.laws.memories.memory_witness import remembered, unit
from chatmemory.longterm.repository_values import Mark
from chatmemory_layers import stacks
from chatmemory_layers.sqlite.engine import jobs
from chatmemory_layers.sqlite.memories.memory_repository import SqliteMemoryRepository
from chatmemory_layers.sqlite.memories.merged_words import MOST_LEVELS, levels, mend_words, merge_words
from tests.patience import PATIENCE_SECONDS
from tests.unit.sqlite.stores import MING, open_memories

SPACE = EmbeddingSpace("模型", 3)

SECRET = "我的银行卡密码是四二七九"
WORD = "密码四二七九"  # shares its beginning with no other: the index writes it in full
RARE = unit(0.123, 0.456, 0.789)
TRACES = (SECRET.encode(), WORD.encode(), b"pin-of-the-card", b"diary/2024.md", RARE.tobytes())

CHECK_INDEX = "INSERT INTO memory_fts (memory_fts, rank) VALUES ('integrity-check', 1)"


def traces(folder: Path) -> list[tuple[str, bytes]]:
    """Return which traces of the secret are in which file."""
    files = sorted(folder.iterdir())
    return [(file.name, trace) for file in files for trace in TRACES if trace in file.read_bytes()]


async def tell_a_secret(memories: SqliteMemoryRepository) -> None:
    others = [remembered(f"{k}", "绿茶", namespace=MING, terms=f"绿茶 tea{k}") for k in range(300)]
    secret = remembered(
        "secret",
        SECRET,
        namespace=MING,
        key="pin-of-the-card",
        value={"pin-of-the-card": SECRET},
        tags=(SECRET,),
        terms=f"{WORD} tea7",
        provenance=Provenance(("m1",), path="diary/2024.md"),
        space=SPACE,
        vector=RARE,
    )
    await memories.store((*others[:150], secret, *others[150:])).or_raise()


async def test_no_byte_shows_what_was_forgotten_or_said_before_it_was_corrected(tmp_path: Path) -> None:
    async with open_memories(tmp_path / "m.db") as memories:
        await tell_a_secret(memories)
        assert {trace for _, trace in traces(tmp_path)} == {*TRACES}
        await memories.rewrite(remembered("secret", "无", namespace=MING), expected_version=1).or_raise()
        newer = remembered("newer", "无", namespace=MING, replaces="secret")
        await memories.store((newer,)).or_raise()
        receipt = await memories.forget(Forgetting(MING, memory_id="newer")).or_raise()
        assert (receipt.memories, receipt.embeddings) == (2, 0)
        assert traces(tmp_path) == []
        left = await memories.search(MemorySearch(MING, SECRET, (WORD, "tea7"))).or_raise()
        assert [candidate.memory.id for candidate in left.found] == ["7"]
    assert traces(tmp_path) == []


async def test_no_byte_shows_an_item_that_was_forgotten(tmp_path: Path) -> None:
    async with ManagedRuntime(stacks.embedded(tmp_path / "m.db")) as runtime:
        items = await runtime.service(ItemRepositoryTag)
        put = ItemPut(ItemName(("a",), "k"), f'"{SECRET}"', WORD)
        await items.write((put,), now=START).or_raise()
        await items.forget((put.name,)).or_raise()
        assert traces(tmp_path) == []


async def test_a_caller_that_goes_while_it_forgets_leaves_no_trace(tmp_path: Path) -> None:
    async with open_memories(tmp_path / "m.db") as memories:
        await tell_a_secret(memories)
        forgetting = asyncio.create_task(memories.forget(Forgetting(MING, memory_id="secret")).run())
        await asyncio.sleep(0)
        forgetting.cancel()
        await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()}, return_exceptions=True)
        assert (forgetting.cancelled(), traces(tmp_path)) == (True, [])


async def test_somebody_who_reads_for_long_keeps_the_log_until_he_ends(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "EMPTY_AGAIN_SECONDS", 0.01)
    async with open_memories(tmp_path / "m.db", busy_timeout_seconds=0.05) as memories:
        await tell_a_secret(memories)
        with closing(sqlite3.connect(tmp_path / "m.db", isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM atomic_memory").fetchone()
            with caplog.at_level(logging.WARNING):
                receipt = await memories.forget(Forgetting(MING, memory_id="secret")).or_raise()
            assert receipt.memories == 1
            assert "could not be emptied" in caplog.text
            assert traces(tmp_path) != []
        with anyio.fail_after(PATIENCE_SECONDS):
            while True:
                await asyncio.sleep(0.01)
                if not traces(tmp_path):
                    break


async def test_forgetting_nothing_leaves_the_log_alone(tmp_path: Path) -> None:
    async with open_memories(tmp_path / "m.db") as memories:
        await tell_a_secret(memories)
        size = (tmp_path / "m.db-wal").stat().st_size
        assert await memories.forget(Forgetting(MING, path="nowhere")).or_raise() == ForgetReceipt(0, 0)
        assert (tmp_path / "m.db-wal").stat().st_size == size


async def test_the_index_of_words_stays_true_whoever_writes(tmp_path: Path) -> None:
    async with open_memories(tmp_path / "m.db") as memories:
        await tell_a_secret(memories)
        await memories.mark(Mark(MING, "1", memory_type="short_term")).or_raise()
        await memories.mark(Mark(MING, "1", memory_type="long_term")).or_raise()
        await memories.mark(Mark(MING, "2", memory_type="short_term")).or_raise()
        await memories.rewrite(
            remembered("3", "红茶", namespace=MING, terms="红茶"), expected_version=1
        ).or_raise()
        with closing(sqlite3.connect(tmp_path / "m.db", isolation_level=None)) as application:
            application.execute(CHECK_INDEX)
            application.execute("DELETE FROM atomic_memory WHERE memory_id IN ('secret', '4')")
            demote = "UPDATE atomic_memory SET memory_type = 'short_term' WHERE memory_id IN ('5', '6')"
            application.execute(demote)
            application.execute("INSERT INTO atomic_memory (timestamp, content) VALUES (0, '你好')")
            application.execute(CHECK_INDEX)
            assert application.execute("SELECT count(*) FROM memory_embedding").fetchone() == (0,)
            application.execute("DROP TRIGGER memory_fts_delete")
            application.execute("DELETE FROM atomic_memory WHERE memory_id = '8'")
            with pytest.raises(sqlite3.DatabaseError, match="malformed"):  # so the check can fail
                application.execute(CHECK_INDEX)
        gone = await memories.search(MemorySearch(MING, SECRET, (WORD, "tea4", "tea5", "tea9"))).or_raise()
        assert [candidate.memory.id for candidate in gone.found] == ["9"]


OFTEN: Final = 2 * MOST_LEVELS + 200
"""Deletions that took an index to twice the levels that FTS5 allows, were it only ever optimized."""

INSERT: Final = "INSERT INTO word (rowid, words) VALUES (:row, :words)"
DELETE: Final = "INSERT INTO word (word, rowid, words) VALUES ('delete', :row, :words)"


@pytest.fixture
def index() -> Generator[sqlite3.Connection]:
    """An index whose content is another table's, as those of the store are."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.execute("CREATE TABLE text (id INTEGER PRIMARY KEY, words TEXT)")
        connection.execute(
            "CREATE VIRTUAL TABLE word USING fts5 (words, content=text, content_rowid=id, tokenize=ascii, detail=none)"
        )
        yield connection


def add(index: sqlite3.Connection, row: int, words: str) -> None:
    index.execute("INSERT INTO text VALUES (:row, :words)", {"row": row, "words": words})
    index.execute(INSERT, {"row": row, "words": words})


def remove(index: sqlite3.Connection, row: int, words: str) -> None:
    index.execute(DELETE, {"row": row, "words": words})
    index.execute("DELETE FROM text WHERE id = :row", {"row": row})
    merge_words(index.execute, "word")


def test_an_index_outlives_any_number_of_deletions(index: sqlite3.Connection) -> None:
    add(index, 1, "绿茶 stays")
    for row in range(2, OFTEN):
        add(index, row, f"goes w{row}")
        remove(index, row, f"goes w{row}")
    index.execute("INSERT INTO word (word, rank) VALUES ('integrity-check', 1)")
    assert index.execute("SELECT rowid FROM word WHERE word MATCH '绿茶'").fetchall() == [(1,)]
    assert index.execute("SELECT rowid FROM word WHERE word MATCH 'goes'").fetchall() == []


@pytest.mark.parametrize("before", [0, MOST_LEVELS // 2 + 1])
def test_nothing_of_what_was_deleted_stays(index: sqlite3.Connection, before: int) -> None:
    for row in range(2, before):
        add(index, row, "filler")
        remove(index, row, "filler")
    add(index, 1, "stays")
    add(index, OFTEN, "geheimnis")
    remove(index, OFTEN, "geheimnis")
    left = b"".join(bytes(block) for (block,) in index.execute("SELECT block FROM word_data"))
    assert b"stays" in left
    assert b"geheimnis" not in left


def test_an_index_that_was_merged_too_often_before_is_mended(index: sqlite3.Connection) -> None:
    add(index, 1, "绿茶 stays")
    # 2,002 levels, all empty
    index.execute("UPDATE word_data SET block = x'000000008F52000000' WHERE id = 10")
    assert levels(index.execute, "word") == 2002
    with pytest.raises(sqlite3.DatabaseError, match="malformed"):
        remove(index, 1, "绿茶 stays")
    mend_words(index, "word")
    assert index.execute("SELECT rowid FROM word WHERE word MATCH '绿茶'").fetchall() == [(1,)]
    index.execute("INSERT INTO word (word, rank) VALUES ('integrity-check', 1)")
