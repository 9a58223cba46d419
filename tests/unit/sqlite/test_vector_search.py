"""Codes in memory answer as the exact comparison does, whoever writes meanwhile, and take no more room than they may."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from chatmemory import Candidates, Forgetting, Matrix, MemorySearch, Vector
from chatmemory.embedding.space import EmbeddingSpace
from chatmemory_layers.sqlite.memories.memory_repository import SqliteMemoryRepository
from chatmemory_layers.sqlite.memories.vector_search import (
    COMPARED,
    SETTLED_COUNT,
    VectorPartition,
    VectorSearch,
)
from tests.unit.sqlite.stores import MING, fill, open_memories

DIM = 96
SPACE = EmbeddingSpace("模型", DIM)


def vectors(count: int, *, seed: int = 1) -> Matrix:
    """Return unit vectors in clusters around a common mean, as those of texts lie."""
    random = np.random.default_rng(seed)
    centres = random.standard_normal((20, DIM), dtype=np.float32)
    rows = 2 + centres[random.integers(0, 20, count)] + 0.5 * random.standard_normal((count, DIM))
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / lengths, np.float32)


async def nearest(
    memories: SqliteMemoryRepository, vector: Vector, *, tags: Sequence[str] = (), limit: int = 10
) -> list[str]:
    search = MemorySearch(MING, "不在", (), SPACE, vector, tags=tuple(tags), limit=limit)
    found: Candidates = await memories.search(search).or_raise()
    best = sorted(found.found, key=lambda candidate: -(candidate.similarity or 0))
    return [candidate.memory.id for candidate in best]


def exactly(rows: Matrix, vector: Vector, numbers: Sequence[int], *, limit: int = 10) -> list[str]:
    nearest_first = sorted(numbers, key=lambda number: -float(rows[number] @ vector))
    return [f"{number}" for number in nearest_first[:limit]]


async def test_the_nearest_of_many_or_of_filtered_ones_are_those_of_an_exact_comparison(
    tmp_path: Path,
) -> None:
    rows = vectors(5 * COMPARED + 20)
    rows, asked = rows[:-20], rows[-20:]
    tagged = range(7, len(rows), 100)
    async with open_memories(tmp_path / "m.db") as memories:
        await fill(memories, rows)
        for vector in asked:
            assert await nearest(memories, vector) == exactly(rows, vector, range(len(rows)))
        for vector in vectors(5, seed=2):
            few = await nearest(memories, vector, tags=["7"], limit=100)
            assert few == exactly(rows, vector, tagged, limit=100)


async def test_what_others_write_is_found_and_what_they_remove_is_not(tmp_path: Path) -> None:
    rows, path = vectors(30), tmp_path / "m.db"
    async with open_memories(path) as here, open_memories(path) as there:
        await fill(there, rows[:10])
        assert await nearest(here, rows[3], limit=1) == ["3"]
        await fill(there, rows[10:], prefix="新")
        assert await nearest(here, rows[20], limit=1) == ["新10"]
        await there.forget(Forgetting(MING, memory_id="新10")).or_raise()
        await there.forget(Forgetting(MING, memory_id="3")).or_raise()
        assert not {"新10", "3"} & {*await nearest(here, rows[20], limit=30)}
        # The last vector is gone: a number that came again would pass unnoticed.
        await there.forget(Forgetting(MING, memory_id="新19")).or_raise()
        await fill(there, rows[29:], prefix="又")
        assert await nearest(here, rows[29], limit=1) == ["又0"]


async def test_those_of_removed_memories_are_let_go(tmp_path: Path) -> None:
    async with open_memories(tmp_path / "m.db") as memories:
        await fill(memories, vectors(50))
        await nearest(memories, vectors(1)[0])
        (partition,) = memories._vectors._partitions.values()
        assert partition.index.count == 50
        for number in range(10):
            await memories.forget(Forgetting(MING, memory_id=f"{number}")).or_raise()
        await nearest(memories, vectors(1)[0])
        assert partition.index.count == 40


def rows_of(matrix: Matrix) -> list[tuple[int, bytes]]:
    return [(number, row.tobytes()) for number, row in enumerate(matrix)]


def portions(partition: VectorPartition, vector: Vector, portion: int) -> list[list[int]]:
    return list(partition.nearest_first(vector, portion=portion))


def test_vectors_of_any_length_have_codes() -> None:
    for dim in (1, 63, 64, 65, 200):
        matrix = np.random.default_rng(1).standard_normal((300, dim)).astype(np.float32)
        partition = VectorPartition(dim)
        assert portions(partition, matrix[0], 5) == []
        for start in range(0, 300, 100):
            partition.add([(key + start, blob) for key, blob in rows_of(matrix[start : start + 100])])
        first, *others = portions(partition, matrix[250], 5)
        assert 250 in first
        assert sorted([*first, *(key for portion in others for key in portion)]) == list(range(300))


def test_a_few_telling_dimensions_among_many_that_say_little_decide() -> None:
    random = np.random.default_rng(1)
    telling = random.standard_normal((20, 64))[random.integers(0, 20, 3000)] + random.standard_normal(
        (3000, 64)
    )
    matrix = np.concatenate([telling, 0.1 * random.standard_normal((3000, 448))], axis=1).astype(np.float32)
    rows, asked = matrix[:-50], matrix[-50:]
    partition = VectorPartition(512)
    partition.add(rows_of(rows))
    found = 0
    for vector in asked:
        first = next(partition.nearest_first(vector, portion=100))
        found += len({*np.argsort(-(rows @ vector))[:10].tolist()} & {*first})
    assert found >= 0.95 * 10 * len(asked)


def test_bits_are_counted_alike_without_numpy_2(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = vectors(500)
    partition = VectorPartition(DIM)
    partition.add(rows_of(matrix))
    with_it = portions(partition, matrix[7], 20)
    monkeypatch.delattr(np, "bitwise_count")
    assert portions(partition, matrix[7], 20) == with_it


def test_a_mean_of_few_vectors_is_made_anew_until_there_are_enough() -> None:
    partition = VectorPartition(DIM)
    partition.add(rows_of(vectors(10)))
    assert not partition.is_outgrown
    partition.add(rows_of(vectors(10)))
    assert partition.is_outgrown
    settled = VectorPartition(DIM)
    settled.add(rows_of(vectors(SETTLED_COUNT)))
    settled.add(rows_of(vectors(3 * SETTLED_COUNT)))
    assert not settled.is_outgrown


@pytest.fixture
def spaces(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """Ten spaces of 20 vectors each."""
    with closing(sqlite3.connect(tmp_path / "vectors.db")) as connection:
        connection.execute("CREATE TABLE memory_embedding (memory_key, space_key, seq, vector)")
        connection.execute("CREATE TABLE memory_space (space_key, mean, coded_seq)")
        connection.executemany(
            "INSERT INTO memory_space VALUES (?, NULL, 0)", [(space,) for space in range(10)]
        )
        for space in range(10):
            blobs = [(key, space, key + 1, blob) for key, blob in rows_of(vectors(20))]
            connection.executemany("INSERT INTO memory_embedding VALUES (?, ?, ?, ?)", blobs)
        yield connection


def test_the_spaces_that_were_used_last_stay_in_memory(spaces: sqlite3.Connection) -> None:
    one = VectorSearch()
    one._refreshed(spaces, 0, 21, DIM)
    size = one._partitions[0].index.size_bytes
    search = VectorSearch(max_bytes=3 * size)
    for space in (0, 1, 2, 0, 3):
        search._refreshed(spaces, space, 21, DIM)
    assert [*search._partitions] == [2, 0, 3]
    assert search._refreshed(spaces, 1, 21, DIM).index.count == 20
