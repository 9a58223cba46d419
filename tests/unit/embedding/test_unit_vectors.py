"""Vectors of callers and of embedders come to the same rows, or to the reason why they do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from chatmemory.embedding.space import MAX_DIMENSIONS, Embedding
from chatmemory.embedding.unit_vectors import read_rows, unit_table, unit_vector, usable_rows
from chatmemory.errors import EmbeddingProblem, Problem
from chatmemory.longterm.memories import NewMemory
from chatmemory.longterm.saving.memory_drafts import text_to_embed
from tests.for_each import for_each


@for_each("scale", [1e-40, 1e-20, 1.0, 1e20, 3e37])
def test_a_vector_has_length_one_whatever_its_scale_and_whoever_made_it(scale: float) -> None:
    numbers = [3 * scale, 4 * scale]
    expected = pytest.approx([0.6, 0.8], abs=1e-4)  # the smallest numbers have few digits in float32
    assert unit_vector("$", Embedding("m", numbers)) == expected
    assert read_rows("m", [numbers], count=1).unwrap()[0] == expected


@for_each(
    ("answer", "problem"),
    [
        ([[1.0, 2.0]], "wrong_count"),
        ([], "malformed"),
        ([[], []], "wrong_dimension"),
        ([[1.0, 2.0], [3.0]], "malformed"),
        ([1.0, 2.0], "malformed"),
        (None, "malformed"),
        ({"vectors": 2}, "malformed"),
        ([[1.0, float("nan")], [1.0, 2.0]], "not_finite"),
        ([[float("inf"), 1.0]] * 2, "not_finite"),
        ([["a", "b"]] * 2, "malformed"),
        ([[10**400, 1]] * 2, "malformed"),
        ([[1.0] * (MAX_DIMENSIONS + 1)] * 2, "wrong_dimension"),
    ],
)
def test_what_is_no_table_of_two_vectors_is_refused(answer: object, problem: EmbeddingProblem) -> None:
    assert read_rows("m", answer, count=2).failure().problem == problem


def test_zeros_are_no_vector_of_a_caller_and_a_text_without_features_of_an_embedder() -> None:
    for numbers in ([0.0, 0.0], [10**400, 1]):
        assert isinstance(unit_vector("$", Embedding("m", numbers)), Problem)
    rows = read_rows("m", [[0, 0], [0, 2], [-3e300, 4e300], [3e-300, 4e-300]], count=4).unwrap()
    assert rows.dtype == np.float32
    np.testing.assert_allclose(rows[2:], [[-0.6, 0.8], [0.6, 0.8]], rtol=1e-6)
    first, second, *_ = usable_rows(rows)
    assert first is None
    assert second is not None
    assert second.tolist() == [0, 1]
    no_rows = read_rows("m", [], count=0, dim=3).unwrap()
    assert (no_rows.shape, no_rows.dtype) == ((0, 3), np.float32)


def test_a_key_is_embedded_with_what_it_is_about() -> None:
    assert text_to_embed(NewMemory("喜欢喝茶")) == "喜欢喝茶"
    assert text_to_embed(NewMemory("喜欢喝茶", key="饮品")) == "饮品: 喜欢喝茶"
    assert text_to_embed(NewMemory("我是护士", key="用户职业")) == "职业: 我是护士"


def test_many_vectors_become_what_each_becomes_alone_or_no_table_at_all() -> None:
    given = [Embedding("m", numbers) for numbers in ([3.0, 4.0], np.array([1e30, -1e30]), (1e-30, 0.0))]
    table = unit_table(given)
    assert table is not None
    assert table.dtype == np.float32
    for row, embedding in zip(table, given, strict=True):
        np.testing.assert_allclose(row, unit_vector("$", embedding), rtol=1e-6)
    bad: list[Any] = [[0.0, 0.0], [np.inf, 1.0], [1e300, 1.0], [np.nan, 1.0], [1.0], "x", [[1.0, 2.0]], None]
    for numbers in bad:
        assert unit_table([given[0], Embedding("m", numbers)]) is None
    assert unit_table([Embedding("m", [])]) is None
