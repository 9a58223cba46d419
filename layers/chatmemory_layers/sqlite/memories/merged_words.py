"""``merge_words``: removes deleted words from an index of FTS5 at once; until then FTS5 only marks them as deleted.

'optimize' does it, but in SQLite before 3.42 each one adds a level to the index, and at 2,000 levels SQLite reports its own
index as damaged.  So from time to time the index is rebuilt instead, from the table whose words it holds.
"""

import sqlite3
from typing import Final

from chatmemory_layers.sqlite.engine.migrations import transaction
from chatmemory_layers.sqlite.engine.transaction import Execute

# ruff: noqa: S608  names of our own tables are put into statements, never values

MOST_LEVELS: Final = 500
"""An index with more levels than this is rebuilt, which takes about a second for 100,000 memories."""

STRUCTURE_ROW: Final = 10
EMPTY_STRUCTURE: Final = bytes(7)
COOKIE_BYTES: Final = 4
CONTINUED: Final = 0x80


def merge_words(execute: Execute, table: str) -> None:
    """Remove every trace of deleted words from the index *table*, an FTS5 table with external content."""
    if levels(execute, table) > MOST_LEVELS:
        rebuild_words(execute, table)
    else:
        execute(f"INSERT INTO {table} ({table}) VALUES ('optimize')")


def rebuild_words(execute: Execute, table: str) -> None:
    """Rebuild the index *table* from the rows that it indexes, even if SQLite reports the index as damaged."""
    # Written below FTS5, which reads the structure before anything else.
    execute(f"DELETE FROM {table}_data WHERE id NOT IN (1, {STRUCTURE_ROW})")
    execute(f"DELETE FROM {table}_idx")
    execute(f"UPDATE {table}_data SET block = x'' WHERE id = 1")
    execute(f"UPDATE {table}_data SET block = ? WHERE id = {STRUCTURE_ROW}", (EMPTY_STRUCTURE,))
    execute(f"INSERT INTO {table} ({table}) VALUES ('rebuild')")


def mend_words(connection: sqlite3.Connection, table: str) -> None:
    """Rebuild the index *table* if it has too many levels, as an earlier version of this program may have left it."""
    if levels(connection.execute, table) > MOST_LEVELS:
        with transaction(connection):
            rebuild_words(connection.execute, table)


def levels(execute: Execute, table: str) -> int:
    """Return how many levels the index *table* has; its structure record is a cookie, then this number in one or two bytes."""
    row = execute(f"SELECT block FROM {table}_data WHERE id = {STRUCTURE_ROW}").fetchone()
    if row is None:
        return 0  # FTS5 cannot open such an index, and reports it itself
    first, second = row[0][COOKIE_BYTES : COOKIE_BYTES + 2]
    return (first & ~CONTINUED) << 7 | second if first & CONTINUED else int(first)
