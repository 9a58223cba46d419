"""An index of words is merged as often as memories are forgotten, and stays one that FTS5 opens."""

import sqlite3
from collections.abc import Generator
from contextlib import closing
from typing import Final

import pytest

from chatmemory_layers.sqlite.memories.merged_words import MOST_LEVELS, levels, mend_words, merge_words

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
    index.execute(
        "UPDATE word_data SET block = x'000000008F52000000' WHERE id = 10"
    )  # 2,002 levels, all empty
    assert levels(index.execute, "word") == 2002
    with pytest.raises(sqlite3.DatabaseError, match="malformed"):
        remove(index, 1, "绿茶 stays")
    mend_words(index, "word")
    assert index.execute("SELECT rowid FROM word WHERE word MATCH '绿茶'").fetchall() == [(1,)]
    index.execute("INSERT INTO word (word, rank) VALUES ('integrity-check', 1)")
