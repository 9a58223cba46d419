"""Vectors become bytes without their zeros, and the view makes the same integers of them as JSON."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from numpy.typing import NDArray

from chatmemory_layers.sqlite.prompts.packed_vectors import (
    PackedVector,
    packed_rows,
    unpacked_rows,
    vector_rows,
)
from chatmemory_layers.sqlite.prompts.prompt_tables import migrate_prompts

ROWS = arrays(np.int8, array_shapes(min_dims=2, max_dims=2, max_side=40), fill=st.just(0))
EVERY_NUMBER = np.arange(-128, 128).astype(np.int8)


@pytest.fixture(scope="module")
def store() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrate_prompts(connection)
        yield connection


def as_json(store: sqlite3.Connection, vector: PackedVector, dim: int) -> list[int]:
    store.execute("INSERT OR IGNORE INTO prompt_models (model, dim) VALUES ('test', ?)", (dim,))
    row = "(SELECT 1, model_key, ?, ?, ?, NULL FROM prompt_models WHERE model = 'test' AND dim = ?)"
    store.execute(f"INSERT OR REPLACE INTO prompt_vectors SELECT * FROM {row}", (*vector, dim))
    (text,) = store.execute("SELECT vector_json FROM prompt_embeddings WHERE dim = ?", (dim,)).fetchone()
    numbers: list[int] = json.loads(text)
    return numbers


@given(ROWS)
def test_packed_rows_are_read_as_they_were_and_are_whole_and_no_longer(rows: NDArray[np.int8]) -> None:
    packed = packed_rows(rows)
    dim = rows.shape[1]
    assert (unpacked_rows(packed, dim) == rows).all()
    assert [one.squares for one in packed] == (rows.astype(int) ** 2).sum(axis=1).tolist()
    for one in packed:
        assert one.is_whole(dim)
        assert len(one.numbers) <= dim
        assert not one._replace(numbers=one.numbers + b"\0").is_whole(dim)


@given(ROWS)
def test_sql_alone_makes_json_of_them(store: sqlite3.Connection, rows: NDArray[np.int8]) -> None:
    assert as_json(store, packed_rows(rows)[0], rows.shape[1]) == rows[0].tolist()


def test_sql_knows_every_number(store: sqlite3.Connection) -> None:
    sparse = np.zeros((2, 512), np.int8)
    sparse[0, ::2] = EVERY_NUMBER
    sparse[1, :256] = EVERY_NUMBER
    for row, packed in zip(sparse, packed_rows(sparse), strict=True):
        assert as_json(store, packed, 512) == row.tolist()


def test_a_vector_keeps_its_direction_and_none_or_one_without_features_has_no_code() -> None:
    (row,) = vector_rows([np.array([0.5, -0.25, 0.0, 0.125], np.float32)])
    assert unpacked_rows([PackedVector(*row[1:4])], 4).tolist() == [[127, -64, 0, 32]]
    assert (row.dim, bool(row.code)) == (4, True)
    (row,) = vector_rows([np.zeros(3, np.float32)])
    assert row == (3, 0, 0, b"\0", b"")
    assert vector_rows([]) == []
    assert packed_rows(np.zeros((2, 0), np.int8)) == [PackedVector(0, 0, b"")] * 2
