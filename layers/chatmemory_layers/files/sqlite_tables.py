"""Reads a table of another tool's SQLite file without changing the file."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

# Only an ordinary table has a page; a view and a virtual table have none.
SELECT_COLUMNS = """
SELECT one.name FROM sqlite_master AS known JOIN pragma_table_info(known.name) AS one
WHERE known.name = ? COLLATE NOCASE AND known.type = 'table' AND known.rootpage > 0
"""


def rows_of(path: Path, table: str, columns: Sequence[str], order: str) -> Iterator[tuple[object, ...]]:
    """Yield the rows of *table*, ordered by *order*, as ``rivals.rival.Rows`` requires; see ``columns_of``.

    A blob is decoded as UTF-8 text.

    Raises:
        ValueError: the file is damaged.
    """
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            connection.text_factory = _text
            there = columns_of(connection, table)
            if not there:
                return
            chosen = ", ".join(f'"{name}"' if name in there else "NULL" for name in columns)
            for row in connection.execute(f'SELECT {chosen} FROM "{table}" ORDER BY {order}'):  # noqa: S608  names of ours
                yield tuple([_text(value) if isinstance(value, bytes) else value for value in row])
    except (sqlite3.Error, UnicodeDecodeError) as error:
        msg = f"the file cannot be read: {error}"
        raise ValueError(msg) from error


def columns_of(connection: sqlite3.Connection, table: str) -> frozenset[str]:
    """Return the names of the columns of *table*; none if the file lacks it, or has a view in its place.

    The stores that are read have ordinary tables, and a query of a view that somebody made may never end.
    """
    return frozenset(name for (name,) in connection.execute(SELECT_COLUMNS, (table,)))


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")
