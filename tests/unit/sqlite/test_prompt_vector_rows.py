"""Vectors become integers of one byte, and the same integers as JSON."""

import json

import numpy as np
from hypothesis import given, strategies as st

from chatmemory_layers.sqlite.prompts.vectors.prompt_vector_rows import json_arrays, vector_rows

EVERY_NUMBER = np.arange(-128, 128).astype(np.int8)


@given(st.permutations(EVERY_NUMBER.tolist()))
def test_every_number_is_written_as_json_writes_it(numbers: list[int]) -> None:
    rows = np.array([numbers, EVERY_NUMBER.tolist()], np.int8)
    assert json_arrays(rows) == [json.dumps(row, separators=(",", ":")) for row in rows.tolist()]


def test_a_row_without_numbers_is_an_empty_array() -> None:
    assert json_arrays(np.zeros((2, 0), np.int8)) == ["[]", "[]"]
    assert vector_rows([]) == []


def test_the_bytes_and_the_json_of_a_vector_agree_and_keep_its_direction() -> None:
    vector = np.array([0.5, -0.25, 0.0, 0.125], np.float32)
    (row,) = vector_rows([vector])
    assert list(np.frombuffer(row.vector, np.int8)) == json.loads(row.vector_json) == [127, -64, 0, 32]
    assert (row.dim, bool(row.code)) == (4, True)


def test_a_text_without_features_has_zeros_and_no_code() -> None:
    (row,) = vector_rows([np.zeros(3, np.float32)])
    assert (row.vector, row.vector_json, row.code) == (bytes(3), "[0,0,0]", b"")
