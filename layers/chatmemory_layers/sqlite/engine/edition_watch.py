"""``EditionWatch``: notices that a newer edition has migrated the file of an open store, and stops further writes."""

import sqlite3
from collections.abc import Sequence
from typing import final

from chatmemory_layers.sqlite.engine.migrations import MIGRATIONS, Migration, newer_step
from chatmemory_layers.sqlite.engine.sqlite_problem import NewerEditionError


@final
class EditionWatch:
    """The tables of the file, as one connection last saw them.

    Attributes:
        seen: SQLite's number of the schema at which the file was last found to be readable by this program.
    """

    def __init__(self, connection: sqlite3.Connection, migrations: Sequence[Migration] = MIGRATIONS) -> None:
        """Expect that the file of *connection* has gone through *migrations*, and no others."""
        self._migrations = migrations
        self.seen = _schema_version(connection)

    def look(self, connection: sqlite3.Connection) -> None:
        """Check a file after one of its tables has changed; within a transaction, the schema cannot change again.

        Raises:
            NewerEditionError: the file has gone through a step that this program does not know.
        """
        newer = newer_step(connection, self._migrations)
        if newer is not None:
            raise NewerEditionError(newer)
        self.seen = _schema_version(connection)


def _schema_version(connection: sqlite3.Connection) -> int:
    version: int
    (version,) = connection.execute("PRAGMA schema_version").fetchone()
    return version
