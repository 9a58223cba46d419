"""The steps that a store's file has gone through, and ``migrate``, which takes the ones that are missing.

A step is numbered, runs in a transaction of its own, only ever forward.  One whose text had to change after it was
released says how a file of its former text goes on.  What the steps make is said in ``message_tables.py``,
``memory_tables.py``, ``item_tables.py`` and ``event_tables.py``; ``schemas/sqlite.sql`` shows where they lead.
"""

import sqlite3
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from typing import Final, final

from attrs import field, frozen

from chatmemory.effect.effect_failed import EffectFailed
from chatmemory.errors import RepositoryError
from chatmemory_layers.sqlite.events.event_tables import AUDIT, EVENTS, FORGOTTEN
from chatmemory_layers.sqlite.items.item_tables import CREATE_REWRITING, ITEM_STATEMENTS
from chatmemory_layers.sqlite.memories.memory_tables import (
    ATTRIBUTES,
    CONTENTS,
    FROM_5_TO_6,
    IDS_OF_USERS,
    MEMORY_STATEMENTS,
    VERSION_5,
)
from chatmemory_layers.sqlite.messages.message_tables import (
    BRANCHES,
    CONVERSATIONS,
    OWNERS,
    PAST,
    RENAME_CONVERSATION,
)


@final
@frozen
class Migration:
    """One step.

    Attributes:
        former: by the checksum of a text that the step had before: what makes its result that of the present one.
    """

    number: int
    name: str
    statements: tuple[str, ...]
    former: Mapping[str, tuple[str, ...]] = field(factory=dict[str, tuple[str, ...]])

    @property
    def checksum(self) -> str:
        """Tell this step from another of the same number."""
        return sha256("\n".join(self.statements).encode()).hexdigest()


CREATE_LEDGER = """
CREATE TABLE IF NOT EXISTS chatmemory_migration (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    checksum TEXT NOT NULL,
    applied_at_us INTEGER NOT NULL
)
"""

_CONVERSATION_TABLE: Final = "f55d45a5060e6b7c921bb534652d47cba64af5d475f980ce9a98a88523643439"
"""Of step 1 while its table was called ``conversation``."""

ATOMIC_MEMORIES: Final = Migration(2, "atomic memories of version 6", (*VERSION_5, *FROM_5_TO_6))
"""A file of the desktop application has taken this step by itself, see ``legacy_file.py``."""

MIGRATIONS: Final = (
    Migration(
        1, "conversations", (CREATE_LEDGER, *CONVERSATIONS), {_CONVERSATION_TABLE: (RENAME_CONVERSATION,)}
    ),
    ATOMIC_MEMORIES,
    Migration(3, "long-term memories", MEMORY_STATEMENTS),
    Migration(4, "items", ITEM_STATEMENTS),
    Migration(5, "passages of rewritten items", (CREATE_REWRITING,)),
    Migration(6, "owners of conversations", OWNERS),
    Migration(7, "audit trail", AUDIT),
    Migration(8, "ids of memories within their user", IDS_OF_USERS),
    Migration(9, "attributes of memories", ATTRIBUTES),
    Migration(10, "versions of messages", PAST),
    Migration(11, "log of events", EVENTS),
    Migration(12, "past of memories", (*FORGOTTEN, *CONTENTS)),
    Migration(13, "branches of conversations", BRANCHES),
)

SELECT_TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table'"
SELECT_APPLIED = "SELECT number, checksum FROM chatmemory_migration"
RECORD_APPLIED = """
INSERT INTO chatmemory_migration (number, name, checksum, applied_at_us)
VALUES (:number, :name, :checksum, :applied_at_us)
ON CONFLICT (number) DO UPDATE SET name = excluded.name, checksum = excluded.checksum
"""


def check_origin(connection: sqlite3.Connection, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Refuse, untouched, a database of another program and a store of a newer one.

    Raises:
        EffectFailed: with ``not_a_store`` or ``newer_schema``.
    """
    tables = table_names(connection)
    if tables and not has_ledger(connection):
        detail = f"a SQLite database of another program, with the tables {', '.join(sorted(tables))}"
        raise EffectFailed(RepositoryError("open the store", "not_a_store", detail))
    known = {step.number: step for step in migrations}
    for number, checksum in sorted(_applied(connection).items()):
        if number not in known:
            detail = f"step {number} was applied, this program knows {max(known)}"
            raise EffectFailed(RepositoryError("open the store", "newer_schema", detail))
        step = known[number]
        if checksum not in {step.checksum, *step.former}:
            detail = f"step {number} ({step.name}) was another one when it was applied"
            raise EffectFailed(RepositoryError("open the store", "newer_schema", detail))


def migrate(connection: sqlite3.Connection, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Take the missing steps; processes that do so at once wait for each other, and a killed one leaves no half step."""
    applied = _applied(connection)
    for step in migrations:
        if applied.get(step.number) != step.checksum:
            with transaction(connection):
                check_origin(connection, migrations)  # another process may have been here while we waited
                _take(connection, step, _applied(connection).get(step.number))


def record(connection: sqlite3.Connection, step: Migration) -> None:
    """Note that the file has gone through *step*, as it reads now."""
    row = {
        "number": step.number,
        "name": step.name,
        "checksum": step.checksum,
        "applied_at_us": time.time_ns() // 1000,
    }
    connection.execute(RECORD_APPLIED, row)


@contextmanager
def transaction(connection: sqlite3.Connection) -> Generator[None]:
    """Write what is done inside, or nothing of it; wait first for whoever else is writing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def table_names(connection: sqlite3.Connection) -> set[str]:
    """Return the names of all tables of the file."""
    return {name for (name,) in connection.execute(SELECT_TABLES).fetchall()}


def has_ledger(connection: sqlite3.Connection) -> bool:
    """Tell whether the file is ours: it has the table in which steps are noted."""
    return "chatmemory_migration" in table_names(connection)


def _take(connection: sqlite3.Connection, step: Migration, taken: str | None) -> None:
    """Take *step*, of whose text with the checksum *taken* the file may have the result."""
    if taken == step.checksum:
        return
    # One by one: executescript would commit the transaction that is open.
    for statement in step.statements if taken is None else step.former[taken]:
        connection.execute(statement)
    record(connection, step)


def _applied(connection: sqlite3.Connection) -> dict[int, str]:
    """Return the checksums of the steps that the file has gone through, none for a new one."""
    return dict(connection.execute(SELECT_APPLIED).fetchall()) if has_ledger(connection) else {}
