"""The migration steps of a store's file: ``migrate`` applies the missing ones, ``create`` makes the tables of a new file.

Steps are numbered, each runs in a separate transaction, and none is ever undone.  Before a step with much to copy, the
rows are copied in pieces, one transaction each, so that a killed migration continues where it stopped.  A step whose
text changed after its release says how to update a file that has its former text.
``message_tables.py``, ``memory_tables.py``, ``item_tables.py`` and ``event_tables.py`` describe the tables.  ``schema.sql``
is the schema after all steps.  A new file gets its tables from there: the steps would take ten times as long.
"""

import sqlite3
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Final, final

from attrs import field, frozen

from chatmemory.effect.outcome import EffectFailed
from chatmemory.errors import RepositoryError
from chatmemory_layers.edition import edition
from chatmemory_layers.sqlite.engine.once import FIRST_ANSWERS
from chatmemory_layers.sqlite.events.event_tables import AUDIT, EVENTS, FORGOTTEN, REASONS
from chatmemory_layers.sqlite.items.item_tables import CREATE_REWRITING, EARLIER, ITEM_STATEMENTS
from chatmemory_layers.sqlite.memories.memory_tables import (
    ATTRIBUTES,
    BESIDE,
    CODES,
    CONTENTS,
    COVERAGE,
    FROM_5_TO_6,
    IDS_OF_USERS,
    MEMORY_STATEMENTS,
    VERSION_5,
)
from chatmemory_layers.sqlite.messages.message_tables import (
    BRANCHES,
    CONVERSATIONS,
    DROP_SHARING,
    OWNERS,
    PAST,
    RECENCY,
    RENAME_CONVERSATION,
    TREES,
    copy_for_a_branch,
)


@final
@frozen
class Migration:
    """One migration step.

    Attributes:
        piece: does a piece of what the step needs first, and returns False when nothing is left; None: it needs nothing.
        former: statements that bring the result of a former text of the step to the present one, by the checksum of that
            text.
    """

    number: int
    name: str
    statements: tuple[str, ...]
    former: Mapping[str, tuple[str, ...]] = field(factory=dict[str, tuple[str, ...]])
    piece: Callable[[sqlite3.Connection], bool] | None = None

    @property
    def checksum(self) -> str:
        """The checksum of the step's text, which tells it from another step with the same number."""
        return sha256("\n".join(self.statements).encode()).hexdigest()


# A program of a former edition that has the file open would continue to write, without versions and events, and would delete
# what branches share.  With these columns renamed it fails; when it is started again it learns that the store is newer.
ONE_EDITION: Final = (
    "ALTER TABLE chat_conversation RENAME COLUMN summarized_seq TO summarized_place",
    "ALTER TABLE memory_user RENAME COLUMN next_seq TO next_vector",
)

# The same for what does not use the names above: forgetting, listing memories, and everything about items.
ONE_EDITION_MORE: Final = (
    "ALTER TABLE memory_user RENAME COLUMN user_id TO user_name",
    "ALTER TABLE stored_item RENAME TO item",
)

CREATE_LEDGER = """
CREATE TABLE IF NOT EXISTS chatmemory_migration (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    checksum TEXT NOT NULL,
    applied_at_us INTEGER NOT NULL
)
"""

_CONVERSATION_TABLE: Final = "f55d45a5060e6b7c921bb534652d47cba64af5d475f980ce9a98a88523643439"
"""The checksum of step 1 while its table was called ``conversation``."""

ATOMIC_MEMORIES: Final = Migration(2, "atomic memories of version 6", (*VERSION_5, *FROM_5_TO_6))
"""The checksum of the same step in a file to which the desktop application has applied it itself, see ``legacy_file.py``."""

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
    Migration(14, "flat costs", (*COVERAGE, *CODES, *RECENCY)),
    Migration(15, "trees of conversations", TREES),
    Migration(16, "earlier values of items", EARLIER),
    Migration(17, "names that former editions do not know", ONE_EDITION),
    Migration(18, "more names that former editions do not know", ONE_EDITION_MORE),
    Migration(19, "order of memories within their session", BESIDE),
    Migration(20, "branches with messages of their own", DROP_SHARING, piece=copy_for_a_branch),
    Migration(21, "reasons without words", REASONS),
    Migration(22, "first answers", FIRST_ANSWERS),
)

SCHEMA: Final = Path(__file__).parents[1] / "schema.sql"
"""Statements, each with an empty line behind it."""

SELECT_TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table'"
SELECT_TAKEN = "SELECT number, name, checksum FROM chatmemory_migration ORDER BY number"
SELECT_APPLIED = "SELECT number, checksum FROM chatmemory_migration"
RECORD_APPLIED = """
INSERT INTO chatmemory_migration (number, name, checksum, applied_at_us)
VALUES (:number, :name, :checksum, :applied_at_us)
ON CONFLICT (number) DO UPDATE SET name = excluded.name, checksum = excluded.checksum
"""


def check_origin(connection: sqlite3.Connection, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Refuse, without changing it, a database of another program or a store of a newer edition.

    Raises:
        EffectFailed: with ``not_a_store`` or ``newer_schema``.
    """
    tables = table_names(connection)
    if tables and not has_ledger(connection):
        detail = f"a SQLite database of another program, with the tables {', '.join(sorted(tables))}"
        raise EffectFailed(RepositoryError("open the store", "not_a_store", detail))
    (application_id,) = connection.execute("PRAGMA application_id").fetchone()
    if application_id and migrations is MIGRATIONS:  # a store has none
        detail = "an index of past chats, or a file of another program"
        raise EffectFailed(RepositoryError("open the store", "not_a_store", detail))
    if (newer := newer_step(connection, migrations)) is not None:
        raise EffectFailed(RepositoryError("open the store", "newer_schema", newer))


def newer_step(connection: sqlite3.Connection, migrations: Sequence[Migration] = MIGRATIONS) -> str | None:
    """Return a message about the first step of the file that is not one of *migrations*; None if all are known."""
    known = {step.number: step for step in migrations}
    for number, name, checksum in (
        connection.execute(SELECT_TAKEN).fetchall() if has_ledger(connection) else ()
    ):
        if number not in known:
            return f"step {number} ({name}) was applied, this program knows {max(known)}"
        step = known[number]
        if checksum not in {step.checksum, *step.former}:
            return f"step {number} ({step.name}) was another one when it was applied"
    return None


def create(connection: sqlite3.Connection) -> None:
    """Give an empty file all tables, and record the steps that would have made them; change nothing of any other file."""
    if table_names(connection):
        return
    with transaction(connection):
        if table_names(connection):  # another process was quicker
            return
        for statement in SCHEMA.read_text("utf-8").split("\n\n"):
            connection.execute(statement)
        for step in MIGRATIONS:
            record(connection, step)


def migrate(connection: sqlite3.Connection, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Apply the missing steps; processes that migrate at once wait for each other, and a killed one leaves no half step."""
    applied = applied_steps(connection)
    for step in migrations:
        is_taken = applied.get(step.number) == step.checksum
        while not is_taken:
            with transaction(connection):
                check_origin(connection, migrations)  # another process may have migrated it meanwhile
                taken = applied_steps(connection).get(step.number)
                is_taken = taken is not None or step.piece is None or not step.piece(connection)
                if is_taken:
                    _apply(connection, step, taken)


def record(connection: sqlite3.Connection, step: Migration) -> None:
    """Record that *step*, with its present text, is applied, and which edition applied it."""
    row = {
        "number": step.number,
        "name": f"{step.name}, {edition()}",
        "checksum": step.checksum,
        "applied_at_us": time.time_ns() // 1000,
    }
    connection.execute(RECORD_APPLIED, row)


@contextmanager
def transaction(connection: sqlite3.Connection, begin: str = "BEGIN IMMEDIATE") -> Generator[None]:
    """Commit all that is done inside, or nothing of it; ``BEGIN IMMEDIATE`` first waits for other writers."""
    connection.execute(begin)
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
    """Return whether the file is a store: it has the table in which steps are recorded."""
    return "chatmemory_migration" in table_names(connection)


def _apply(connection: sqlite3.Connection, step: Migration, taken: str | None) -> None:
    """Apply *step*; *taken* is the checksum of the former text that the file has already applied, if any."""
    if taken == step.checksum:
        return
    # One by one: executescript would commit the open transaction.
    for statement in step.statements if taken is None else step.former[taken]:
        connection.execute(statement)
    record(connection, step)


def applied_steps(connection: sqlite3.Connection) -> dict[int, str]:
    """Return the checksums of the applied steps; none for a new file."""
    return dict(connection.execute(SELECT_APPLIED).fetchall()) if has_ledger(connection) else {}
