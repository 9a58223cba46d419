"""What is forgotten has left the files, the index of words and the vectors, whoever removes it and whoever reads meanwhile."""

import logging
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from chatmemory.access.namespace import Namespace
from chatmemory.embedding.space import EmbeddingSpace
from chatmemory.laws.memories.memory_samples import remembered, unit
from chatmemory.longterm.memories import ForgetReceipt, Provenance
from chatmemory.longterm.repository_values import Forgetting, MemorySearch
from chatmemory_layers.sqlite.memories.memory_repository import SqliteMemoryRepository
from tests.unit.sqlite.stores import open_memories

MING = Namespace("小明")
SPACE = EmbeddingSpace("模型", 3)

SECRET = "我的银行卡密码是四二七九"
WORD = "密码四二七九"  # shares its beginning with no other: the index writes it in full
RARE = unit(0.123, 0.456, 0.789)
TRACES = (SECRET.encode(), WORD.encode(), b"pin-of-the-card", b"diary/2024.md", RARE.tobytes())

CHECK_INDEX = "INSERT INTO memory_fts (memory_fts, rank) VALUES ('integrity-check', 1)"


def traces(folder: Path) -> list[tuple[str, bytes]]:
    """Return which traces of the secret are in which file."""
    return [
        (file.name, trace)
        for file in sorted(folder.iterdir())
        for trace in TRACES
        if trace in file.read_bytes()
    ]


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


async def test_no_byte_of_the_files_shows_what_a_forgotten_memory_said_before(tmp_path: Path) -> None:
    async with open_memories(tmp_path / "m.db") as memories:
        await tell_a_secret(memories)
        corrected = remembered("secret", "绿茶", namespace=MING)
        await memories.rewrite(corrected, expected_version=1).or_raise()
        (earlier,) = (await memories.history(MING, "secret").or_raise()).earlier
        assert earlier.content == SECRET
        await memories.forget(Forgetting(MING, memory_id="secret")).or_raise()
        assert traces(tmp_path) == []
    assert traces(tmp_path) == []


async def test_no_byte_of_the_files_shows_what_was_forgotten(tmp_path: Path) -> None:
    async with open_memories(tmp_path / "m.db") as memories:
        await tell_a_secret(memories)
        assert {trace for _, trace in traces(tmp_path)} == {*TRACES}
        await memories.forget(Forgetting(MING, memory_id="secret")).or_raise()
        assert traces(tmp_path) == []
        left = await memories.search(MemorySearch(MING, SECRET, (WORD, "tea7"))).or_raise()
        assert [candidate.memory.id for candidate in left.found] == ["7"]
    assert traces(tmp_path) == []


async def test_no_byte_shows_what_was_said_before_a_correction_that_was_forgotten(tmp_path: Path) -> None:
    async with open_memories(tmp_path / "m.db") as memories:
        await tell_a_secret(memories)
        await memories.rewrite(remembered("secret", "无", namespace=MING), expected_version=1).or_raise()
        newer = remembered("newer", "无", namespace=MING, replaces="secret")
        await memories.store((newer,)).or_raise()
        receipt = await memories.forget(Forgetting(MING, memory_id="newer")).or_raise()
        assert (receipt.memories, receipt.embeddings) == (2, 0)
        assert traces(tmp_path) == []


async def test_somebody_who_reads_for_long_keeps_the_log_and_forgetting_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_memories(tmp_path / "m.db", busy_timeout_seconds=0.05) as memories:
        await tell_a_secret(memories)
        with closing(sqlite3.connect(tmp_path / "m.db", isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM atomic_memory").fetchone()
            with caplog.at_level(logging.WARNING):
                receipt = await memories.forget(Forgetting(MING, memory_id="secret")).or_raise()
            assert receipt.memories == 1
            assert "could not be emptied" in caplog.text
        await memories.forget(Forgetting(MING, memory_id="1")).or_raise()
        assert traces(tmp_path) == []


async def test_forgetting_nothing_leaves_the_log_alone(tmp_path: Path) -> None:
    async with open_memories(tmp_path / "m.db") as memories:
        await tell_a_secret(memories)
        size = (tmp_path / "m.db-wal").stat().st_size
        assert await memories.forget(Forgetting(MING, path="nowhere")).or_raise() == ForgetReceipt(0, 0)
        assert (tmp_path / "m.db-wal").stat().st_size == size


async def test_the_index_of_words_stays_true_whoever_writes(tmp_path: Path) -> None:
    async with open_memories(tmp_path / "m.db") as memories:
        await tell_a_secret(memories)
        await memories.mark(MING, "1", memory_type="short_term").or_raise()
        await memories.mark(MING, "1", memory_type="long_term").or_raise()
        await memories.mark(MING, "2", memory_type="short_term").or_raise()
        await memories.rewrite(
            remembered("3", "红茶", namespace=MING, terms="红茶"), expected_version=1
        ).or_raise()
        with closing(sqlite3.connect(tmp_path / "m.db", isolation_level=None)) as application:
            application.execute(CHECK_INDEX)
            application.execute("DELETE FROM atomic_memory WHERE memory_id IN ('secret', '4')")
            application.execute(
                "UPDATE atomic_memory SET memory_type = 'short_term' WHERE memory_id IN ('5', '6')"
            )
            application.execute("INSERT INTO atomic_memory (timestamp, content) VALUES (0, '你好')")
            application.execute(CHECK_INDEX)
            assert application.execute("SELECT count(*) FROM memory_embedding").fetchone() == (0,)
            application.execute("DROP TRIGGER memory_fts_delete")
            application.execute("DELETE FROM atomic_memory WHERE memory_id = '8'")
            with pytest.raises(sqlite3.DatabaseError, match="malformed"):  # so the check can fail
                application.execute(CHECK_INDEX)
        gone = await memories.search(MemorySearch(MING, SECRET, (WORD, "tea4", "tea5", "tea9"))).or_raise()
        assert [candidate.memory.id for candidate in gone.found] == ["9"]
