"""Codes in the file are those of the vectors that are there: all that were stored, and none that is gone."""

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from chatmemory import Attachment, Forgetting, Matrix, MemorySearch
from chatmemory.embedding.space import EmbeddingSpace
from chatmemory.longterm.repository_values import Mark
from chatmemory_layers.embedding.code_index import VectorCodes, rows_of
from chatmemory_layers.sqlite.memories import code_blocks
from chatmemory_layers.sqlite.memories.code_blocks import BLOCK, stored_codes, stored_mean
from tests.unit.sqlite.stores import MING, fill, open_memories

DIM = 8
SPACE = EmbeddingSpace("模型", DIM)
SETTLED = 2 * BLOCK


@pytest.fixture(autouse=True)
def settled_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """So few vectors have a mean that stays: a test need not store thousands."""
    monkeypatch.setattr(code_blocks, "SETTLED_COUNT", SETTLED)


def vectors(count: int, *, seed: int = 1) -> Matrix:
    rows = np.random.default_rng(seed).standard_normal((count, DIM)) + 1
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def check(path: Path) -> int:
    """Compare the codes of the file with the vectors before the first number without code; return how many there are."""
    count = 0
    with closing(sqlite3.connect(path)) as connection:
        for (space_key,) in connection.execute("SELECT space_key FROM memory_space").fetchall():
            mean, coded_seq = stored_mean(connection, space_key)
            rows = connection.execute(
                "SELECT memory_key, vector FROM memory_embedding WHERE space_key = ? AND seq < ? ORDER BY seq",
                (space_key, coded_seq),
            ).fetchall()
            stored = {
                key: code
                for keys, codes in stored_codes(connection, space_key)
                for key, code in zip(keys.tolist(), codes.tolist(), strict=True)
            }
            assert [*stored] == [key for key, _ in rows]
            if mean is not None and rows:
                codes = VectorCodes(np.frombuffer(mean, "<f4")).encode(
                    rows_of([blob for _, blob in rows], DIM)
                )
                assert [*stored.values()] == codes.tolist()
            count += len(stored)
    return count


async def test_a_full_block_is_made_by_the_write_that_fills_it(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    async with open_memories(path) as memories:
        await fill(memories, vectors(SETTLED - 2))
        assert check(path) == 0  # no mean yet
        await fill(memories, vectors(3), prefix="新")
        assert check(path) == SETTLED - 1  # numbers begin with 1
        await fill(memories, vectors(20 * BLOCK), prefix="多")
        assert check(path) == SETTLED - 1 + 20 * BLOCK


async def test_what_is_gone_or_changed_leaves_its_place_empty(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    async with open_memories(path) as memories:
        await fill(memories, vectors(SETTLED + 10))
        await memories.forget(Forgetting(MING, memory_id="0")).or_raise()
        await memories.forget(Forgetting(MING, memory_id="254")).or_raise()
        await memories.mark(Mark(MING, "7", memory_type="short_term")).or_raise()
        await memories.attach(MING, SPACE, (Attachment("300", 1, vectors(1, seed=2)[0]),)).or_raise()
        assert check(path) == SETTLED - 1 - 4
        await memories.forget(Forgetting(MING)).or_raise()
        assert check(path) == 0


async def test_two_spaces_of_a_user_have_blocks_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    async with open_memories(path) as memories:
        for turn in range(2 * SETTLED // 100 + 1):
            await fill(memories, vectors(100), prefix=f"{turn} ", model=("模型", "另一个")[turn % 2])
        assert check(path) > SETTLED


async def test_a_store_that_is_opened_finds_the_same_without_encoding_what_stands_in_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, rows = tmp_path / "m.db", vectors(SETTLED + 10)
    encoded: list[int] = []
    encode = VectorCodes.encode
    monkeypatch.setattr(
        VectorCodes, "encode", lambda self, matrix: (encoded.append(len(matrix)), encode(self, matrix))[1]
    )
    async with open_memories(path) as memories:
        await fill(memories, rows)
    encoded.clear()
    async with open_memories(path) as memories:
        search = MemorySearch(MING, "不在", (), SPACE, rows[3], limit=5)
        found = (await memories.search(search).or_raise()).found
        best = sorted(found, key=lambda candidate: -(candidate.similarity or 0))
        nearest = sorted(range(len(rows)), key=lambda number: -float(rows[number] @ rows[3]))
        assert [candidate.memory.id for candidate in best] == [f"{number}" for number in nearest[:5]]
    assert encoded == [11, 1]  # behind the last block, and the query


async def test_codes_of_an_older_program_are_caught_up_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m.db"
    async with open_memories(path) as memories:
        with monkeypatch.context() as older:
            older.setattr(code_blocks, "SETTLED_COUNT", 1 << 60)
            await fill(memories, vectors(20 * BLOCK))
        assert check(path) == 0
        await fill(memories, vectors(BLOCK), prefix="新")
        assert check(path) == 16 * BLOCK - 1
        await fill(memories, vectors(BLOCK), prefix="又")
        assert check(path) == 22 * BLOCK - 1
