"""The steps that a store's file has gone through, and ``migrate``, which takes the ones that are missing.

A step is numbered, runs in a transaction of its own, only ever forward, and never changes once it was released.
``schemas/sqlite.sql`` shows where they lead.
"""

import sqlite3
import time
from collections.abc import Sequence
from hashlib import sha256
from typing import Final, final

from attrs import frozen

from chatmemory.effect.outcome import EffectFailed
from chatmemory.errors import RepositoryError


@final
@frozen
class Migration:
    """One step."""

    number: int
    name: str
    statements: tuple[str, ...]

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

# A cleared conversation keeps its row: version and next_seq only ever grow.
CREATE_CONVERSATION = """
CREATE TABLE conversation (
    conversation_key INTEGER PRIMARY KEY,
    conversation_id TEXT NOT NULL UNIQUE,
    version INTEGER NOT NULL,
    next_seq INTEGER NOT NULL,
    rewritten_at_version INTEGER NOT NULL,
    summarized_seq INTEGER NOT NULL,
    message_count INTEGER NOT NULL,
    view_count INTEGER NOT NULL,
    view_tokens INTEGER NOT NULL,
    open_count INTEGER NOT NULL,
    deleted_count INTEGER NOT NULL,
    created_at_us INTEGER NOT NULL,
    updated_at_us INTEGER NOT NULL
)
"""

# A rowid table: rows of all conversations share the page that is written next (clustered by conversation, an append over
# 1,000 of them costs half as much again).  For the same reason the id comes first in its index: ids that grow with time
# share a page, too.
# seq orders the full view.  place orders the model's where a summary has changed it, and is NULL behind that, where
# each message stands at its seq; so an append touches no third index.
CREATE_MESSAGE = """
CREATE TABLE chat_message (
    conversation_key INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    place INTEGER,
    id TEXT NOT NULL,
    role TEXT NOT NULL,
    sent_at_us INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    covered_by TEXT,
    metadata TEXT,
    content TEXT NOT NULL,
    UNIQUE (conversation_key, seq),
    UNIQUE (id, conversation_key)
)
"""

CREATE_MESSAGE_PLACE = """
CREATE UNIQUE INDEX chat_message_place ON chat_message (conversation_key, place)
WHERE place IS NOT NULL AND covered_by IS NULL
"""

CREATE_SUMMARIZATION = """
CREATE TABLE summarization_metadata (
    conversation_key INTEGER NOT NULL,
    id TEXT NOT NULL,
    summary_message_id TEXT NOT NULL,
    starts_at_us INTEGER NOT NULL,
    ends_at_us INTEGER NOT NULL,
    skill_id TEXT NOT NULL,
    messages_deleted INTEGER NOT NULL,
    created_at_us INTEGER NOT NULL,
    PRIMARY KEY (conversation_key, id),
    UNIQUE (conversation_key, summary_message_id)
) WITHOUT ROWID
"""

# The key itself forbids that two summaries cover one message.
CREATE_COVERAGE = """
CREATE TABLE summary_coverage (
    conversation_key INTEGER NOT NULL,
    message_id TEXT NOT NULL,
    metadata_id TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    PRIMARY KEY (conversation_key, message_id),
    UNIQUE (conversation_key, metadata_id, ordinal)
) WITHOUT ROWID
"""

CREATE_WORK = """
CREATE TABLE history_work (
    conversation_key INTEGER PRIMARY KEY,
    due_at_us INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    lease_id TEXT,
    lease_until_us INTEGER
)
"""

CREATE_WORK_QUEUE = """
CREATE INDEX history_work_queue ON history_work (due_at_us)
"""

MIGRATIONS: Final = (
    Migration(
        number=1,
        name="conversations",
        statements=(
            CREATE_LEDGER,
            CREATE_CONVERSATION,
            CREATE_MESSAGE,
            CREATE_MESSAGE_PLACE,
            CREATE_SUMMARIZATION,
            CREATE_COVERAGE,
            CREATE_WORK,
            CREATE_WORK_QUEUE,
        ),
    ),
)

SELECT_TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table'"
SELECT_APPLIED = "SELECT number, checksum FROM chatmemory_migration"
INSERT_APPLIED = """
INSERT INTO chatmemory_migration (number, name, checksum, applied_at_us)
VALUES (:number, :name, :checksum, :applied_at_us)
"""


def check_origin(connection: sqlite3.Connection, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Refuse, untouched, a database of another program and a store of a newer one.

    Raises:
        EffectFailed: with ``not_a_store`` or ``newer_schema``.
    """
    known = {step.number: step for step in migrations}
    for number, checksum in sorted(_applied(connection).items()):
        if number not in known:
            detail = f"step {number} was applied, this program knows {max(known)}"
            raise EffectFailed(RepositoryError("open the store", "newer_schema", detail))
        if checksum != known[number].checksum:
            detail = f"step {number} ({known[number].name}) was another one when it was applied"
            raise EffectFailed(RepositoryError("open the store", "newer_schema", detail))


def migrate(connection: sqlite3.Connection, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Take the missing steps; processes that do so at once wait for each other, and a killed one leaves no half step."""
    missing = [step for step in migrations if step.number not in _applied(connection)]
    for step in missing:
        connection.execute("BEGIN IMMEDIATE")
        try:
            if step.number not in _applied(connection):  # another process may have taken it while we waited
                _take(connection, step)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def _take(connection: sqlite3.Connection, step: Migration) -> None:
    # One by one: executescript would commit the transaction that is open.
    for statement in step.statements:
        connection.execute(statement)
    record = {
        "number": step.number,
        "name": step.name,
        "checksum": step.checksum,
        "applied_at_us": time.time_ns() // 1000,
    }
    connection.execute(INSERT_APPLIED, record)


def _applied(connection: sqlite3.Connection) -> dict[int, str]:
    """Return the checksums of the steps that the file has gone through, none for a new one."""
    tables = {name for (name,) in connection.execute(SELECT_TABLES).fetchall()}
    if not tables:
        return {}
    if "chatmemory_migration" not in tables:
        names = ", ".join(sorted(tables))
        detail = f"a SQLite database of another program, with the tables {names}"
        raise EffectFailed(RepositoryError("open the store", "not_a_store", detail))
    return dict(connection.execute(SELECT_APPLIED).fetchall())
