"""``LegacyFile``: reads the memories in a file of the desktop application, of any version, and writes nothing.

``legacy_memory.py`` reads the content of a row; the other tables of such a file hold no memories, and are not read.
"""

import sqlite3
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final, final

from attrs import evolve, frozen

from chatmemory.effect.effect_failed import EffectFailed
from chatmemory.errors import RepositoryError
from chatmemory.longterm.memories import NewMemory, Provenance
from chatmemory_layers.sqlite.engine.file_connection import connect
from chatmemory_layers.sqlite.legacy.legacy_file import is_legacy_file
from chatmemory_layers.sqlite.legacy.legacy_memory import app_of_row, memory_of_row, text_of

# Read if present; versions 1 to 4 have fewer columns, 7 to 10 more.
READ_COLUMNS: Final = (
    "timestamp",
    "content",
    "tags",
    "session_id",
    "create_time",
    "app_type",
    "embedding",
    "memory_type",
    "source_type",
    "embedding_model",
)

SELECT_COLUMNS = "SELECT lower(name) FROM pragma_table_xinfo('atomic_memory')"
SELECT_ROWS = """
SELECT rowid AS id, {columns} FROM atomic_memory WHERE rowid > :after ORDER BY rowid LIMIT :limit
"""

_BEFORE_ALL: Final = -(2**63)
_ROWS_AT_ONCE: Final = 100  # a short read, so that the application can write in between
_BUSY_TIMEOUT_SECONDS: Final = 10.0


@final
@frozen
class LegacyMemory:
    """A memory of the application, and the app that it comes from."""

    app: str
    memory: NewMemory


@final
@frozen
class LegacyFile:
    """An open file of the application.

    Attributes:
        name: the name of the file, which is the provenance of its memories.
        columns: the columns of its table of memories.
    """

    name: str
    connection: sqlite3.Connection
    columns: frozenset[str]

    @property
    def left_behind(self) -> tuple[str, ...]:
        """The columns that a memory has no field for: importance, counts of uses, links ..."""
        return tuple(sorted(self.columns - {"id", *READ_COLUMNS}))

    def memories(self) -> Iterator[LegacyMemory]:
        """Yield the memories in the order in which they were written, before the rules check them; reads a few at a time.

        Raises:
            sqlite3.Error: the file is damaged, or locked for too long.
        """
        columns = [name for name in READ_COLUMNS if name in self.columns]
        statement = SELECT_ROWS.format(columns=", ".join(columns))
        after = _BEFORE_ALL
        while rows := self.connection.execute(statement, {"after": after, "limit": _ROWS_AT_ONCE}).fetchall():
            for values in rows:
                row = dict(zip(("id", *columns), values, strict=True))
                memory = evolve(memory_of_row(row), provenance=Provenance(path=self.name))
                yield LegacyMemory(app_of_row(row), memory)
            after = rows[-1][0]


@contextmanager
def open_legacy_file(path: Path) -> Generator[LegacyFile]:
    """Open a file of the application for reading only; its folder may be read-only.

    Raises:
        sqlite3.Error: the file does not exist, is not a database, is damaged, or is locked for too long.
        EffectFailed: the file is not the application's, or is a store already.
    """
    with closing(connect(path.absolute(), mode="ro", timeout_seconds=_BUSY_TIMEOUT_SECONDS)) as connection:
        connection.text_factory = text_of
        if not is_legacy_file(connection):
            detail = (
                "no file of the desktop application: it has no atomic_memory, or is a store of ours already"
            )
            raise EffectFailed(RepositoryError("read the old file", "not_a_store", detail))
        columns = frozenset(name for (name,) in connection.execute(SELECT_COLUMNS).fetchall())
        yield LegacyFile(path.name, connection, columns)
