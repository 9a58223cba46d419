"""Blocks of codes are copies: whatever happens to the rows, both tell the same."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise

import pytest
from hypothesis import given, settings, strategies as st

from chatmemory_layers.sqlite.prompts import prompt_codes
from chatmemory_layers.sqlite.prompts.prompt_codes import pack_codes, stored_codes
from chatmemory_layers.sqlite.prompts.prompt_tables import migrate_prompts
from tests.thorough import rounds

SIZES = {1: 8, 2: 16}
"""Of the codes of two models."""


@pytest.fixture(autouse=True)
def few_in_a_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prompt_codes, "CODES_OF_A_BLOCK", 3)


@pytest.fixture
def store() -> Iterator[sqlite3.Connection]:
    with closing(fresh()) as connection:
        yield connection


def fresh() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    migrate_prompts(connection)
    return connection


def insert(store: sqlite3.Connection, *codes: tuple[int, bytes]) -> None:
    store.executemany("INSERT INTO prompt_codes (model_key, code) VALUES (?, ?)", codes)


def code(number: int, model: int = 1) -> tuple[int, bytes]:
    return model, number.to_bytes(SIZES[model], "big")


def rows(store: sqlite3.Connection, model: int, after: int = 0) -> list[tuple[int, bytes]]:
    statement = "SELECT prompt_id, code FROM prompt_codes WHERE model_key = ? AND length(code) = ? AND prompt_id > ? ORDER BY 1"
    return store.execute(statement, (model, SIZES[model], after)).fetchall()


def stored(store: sqlite3.Connection, model: int, after: int = 0) -> list[tuple[int, bytes]]:
    size = SIZES[model]
    return [
        (row, codes[place * size : (place + 1) * size])
        for ids, codes in stored_codes(store, model, size, after=after)
        for place, row in enumerate(ids)
    ]


def blocks(store: sqlite3.Connection) -> int:
    (count,) = store.execute("SELECT count(*) FROM prompt_code_blocks").fetchone()
    return int(count)


def test_a_full_block_is_packed_once_and_a_change_drops_it_alone(store: sqlite3.Connection) -> None:
    insert(store, *map(code, range(8)))
    pack_codes(store)
    assert blocks(store) == 2
    assert stored(store, 1) == rows(store, 1)
    before = store.total_changes
    pack_codes(store)
    assert store.total_changes == before
    insert(store, code(8))
    pack_codes(store)
    assert blocks(store) == 3
    store.execute("UPDATE prompt_codes SET code = x'FFFFFFFFFFFFFFFF' WHERE prompt_id = 2")
    assert blocks(store) == 2
    store.execute("DELETE FROM prompt_codes WHERE prompt_id = 9")
    assert blocks(store) == 1
    assert stored(store, 1) == rows(store, 1)


@settings(max_examples=rounds(40, thorough=150))
@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("insert"), st.sampled_from([1, 2]), st.integers(0, 255)),
            st.tuples(st.just("replace"), st.integers(1, 30), st.integers(0, 255)),
            st.tuples(st.just("model"), st.integers(1, 30), st.integers(0, 255)),
            st.tuples(st.just("delete"), st.integers(1, 30), st.just(0)),
            st.tuples(st.just("again"), st.integers(1, 30), st.integers(0, 255)),
            st.tuples(st.just("pack"), st.just(0), st.just(0)),
        ),
        max_size=40,
    ),
    st.integers(0, 30),
)
def test_whatever_happens_blocks_tell_what_rows_tell(steps: list[tuple[str, int, int]], after: int) -> None:
    with closing(fresh()) as store:
        prompt_codes.CODES_OF_A_BLOCK = 3
        for step, which, number in steps:
            if step == "insert":
                insert(store, code(number, which))
            elif step == "replace":
                store.execute(
                    "UPDATE prompt_codes SET code = ? WHERE prompt_id = ? AND model_key = 1",
                    (code(number)[1], which),
                )
            elif step == "model":
                store.execute(
                    "UPDATE prompt_codes SET model_key = 2, code = ? WHERE prompt_id = ?",
                    (code(number, 2)[1], which),
                )
            elif step in {"delete", "again"}:
                gone = store.execute("DELETE FROM prompt_codes WHERE prompt_id = ?", (which,)).rowcount
                if step == "again" and gone:  # as an updated turn gets its new vector
                    store.execute("INSERT INTO prompt_codes VALUES (?, 1, ?)", (which, code(number)[1]))
            else:
                pack_codes(store)
            for model in SIZES:
                assert stored(store, model) == rows(store, model)
                assert stored(store, model, after) == rows(store, model, after)
                assert all(one < other for (one, _), (other, _) in pairwise(stored(store, model)))
