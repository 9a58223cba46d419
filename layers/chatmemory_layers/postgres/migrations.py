"""The schema, step by step: numbered, each in one transaction of its own, never changed once released.

``schemas/postgres.sql`` shows the result; a test compares the two.  Tables are made where the address's
``search_path`` points.  Every key begins with ``conversation_id`` and nothing refers across conversations, so that a
distributed engine can shard the tables by it.
"""

import hashlib
from typing import Final, final

from attrs import frozen

from chatmemory.effect import EffectFailed
from chatmemory.errors import RepositoryError
from chatmemory_layers.postgres.connection import Connection

_LOCK_KEY: Final = 0x63686174_6D656D6F  # "chatmemo": this number means us in pg_locks


@final
@frozen
class Migration:
    """One step; *script* is plain SQL, several statements."""

    number: int
    name: str
    script: str

    @property
    def checksum(self) -> str:
        """Tell whether a store was made by this very step."""
        return hashlib.sha256(self.script.encode()).hexdigest()


CREATE_LEDGER: Final = """\
CREATE TABLE IF NOT EXISTS chatmemory_migration (
    number        BIGINT PRIMARY KEY,
    name          TEXT NOT NULL,
    checksum      TEXT NOT NULL,
    applied_at_us BIGINT NOT NULL
);
"""

_BEGIN: Final = f"""
BEGIN ISOLATION LEVEL READ COMMITTED;
SELECT pg_advisory_xact_lock({_LOCK_KEY});
{CREATE_LEDGER}
"""

_RECORD: Final = """
INSERT INTO chatmemory_migration (number, name, checksum, applied_at_us)
VALUES ($1, $2, $3, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
"""

# COLLATE "C" orders by code point, as SQLite does, and compares bytes, whatever the database's locale.
# Ids are indexed by hash: two of 512 four-byte characters would exceed an index row (2704 bytes).
MIGRATIONS: Final = (
    Migration(
        1,
        "chat memory",
        """\
CREATE TABLE conversation (
    conversation_id      TEXT COLLATE "C" PRIMARY KEY,
    version              BIGINT NOT NULL,
    next_seq             BIGINT NOT NULL,
    rewritten_at_version BIGINT NOT NULL,
    message_count        BIGINT NOT NULL,
    view_count           BIGINT NOT NULL,
    view_tokens          BIGINT NOT NULL,
    open_count           BIGINT NOT NULL,
    deleted_count        BIGINT NOT NULL,
    created_at_us        BIGINT NOT NULL,
    updated_at_us        BIGINT NOT NULL
);
CREATE TABLE chat_message (
    conversation_id TEXT COLLATE "C" NOT NULL,
    seq             BIGINT NOT NULL,
    place           BIGINT NOT NULL,
    id              TEXT COLLATE "C" NOT NULL,
    role            TEXT NOT NULL,
    content         TEXT NOT NULL,
    sent_at_us      BIGINT NOT NULL,
    metadata        TEXT,
    tokens          BIGINT NOT NULL,
    covered_by      TEXT COLLATE "C",
    PRIMARY KEY (conversation_id, seq)
);
CREATE UNIQUE INDEX chat_message_by_id ON chat_message (conversation_id, hashtextextended(id, 0));
CREATE UNIQUE INDEX chat_message_in_view ON chat_message (conversation_id, place) WHERE covered_by IS NULL;
CREATE TABLE summarization_metadata (
    conversation_id    TEXT COLLATE "C" NOT NULL,
    id                 TEXT COLLATE "C" NOT NULL,
    summary_message_id TEXT COLLATE "C" NOT NULL,
    starts_at_us       BIGINT NOT NULL,
    ends_at_us         BIGINT NOT NULL,
    skill_id           TEXT NOT NULL,
    messages_deleted   BOOLEAN NOT NULL,
    created_at_us      BIGINT NOT NULL,
    PRIMARY KEY (conversation_id, id)
);
CREATE UNIQUE INDEX summarization_metadata_by_message
    ON summarization_metadata (conversation_id, hashtextextended(summary_message_id, 0));
CREATE TABLE summary_coverage (
    conversation_id TEXT COLLATE "C" NOT NULL,
    message_id      TEXT COLLATE "C" NOT NULL,
    metadata_id     TEXT COLLATE "C" NOT NULL,
    ordinal         BIGINT NOT NULL,
    PRIMARY KEY (conversation_id, metadata_id, ordinal)
);
CREATE UNIQUE INDEX summary_coverage_once
    ON summary_coverage (conversation_id, hashtextextended(message_id, 0));
CREATE TABLE history_work (
    conversation_id TEXT COLLATE "C" PRIMARY KEY,
    due_at_us       BIGINT NOT NULL,
    attempts        BIGINT NOT NULL,
    lease_id        TEXT,
    lease_until_us  BIGINT
);
CREATE INDEX history_work_due ON history_work (due_at_us, conversation_id);
""",
    ),
)


def schema() -> str:
    """Return the statements that lead to the newest schema, as ``schemas/postgres.sql`` shows them."""
    steps = "".join(f"\n-- {step.number}: {step.name}\n\n{step.script}" for step in MIGRATIONS)
    return f"-- What chatmemory makes in a PostgreSQL database; generated from the migrations.\n\n{CREATE_LEDGER}{steps}"


async def migrate(connection: Connection) -> None:
    """Bring the store up to date.  Any number of processes may do so at once, and each may be killed at any moment.

    Whatever it raises, the connection has to be dropped: a step that did not end is still open on it.

    Raises:
        EffectFailed: with a ``RepositoryError``; the store was written by a newer version, or is none.
    """
    encoding = (await connection.fetch("SELECT current_setting('server_encoding') AS encoding"))[0][
        "encoding"
    ]
    if encoding != "UTF8":  # others lack characters, and order ids otherwise than by code point
        raise EffectFailed(
            RepositoryError("open the store", "not_a_store", f"the database is {encoding}, not UTF8")
        )
    # Asked before anything is locked or created: a store that is up to date opens on a read-only server.
    applied = await _applied(connection)
    for migration in MIGRATIONS:
        if migration.number not in applied:
            await _apply(connection, migration)


async def _apply(connection: Connection, migration: Migration) -> None:
    await connection.execute(_BEGIN)
    if migration.number not in await _applied(connection):  # asked again: another process held the lock
        await connection.execute(migration.script)
        await connection.execute(_RECORD, migration.number, migration.name, migration.checksum)
    await connection.execute("COMMIT")


async def _applied(connection: Connection) -> frozenset[int]:
    """Return the numbers of the steps that the store has, once they are known to be ours."""
    if not (await connection.fetch("SELECT to_regclass('chatmemory_migration') IS NOT NULL AS it_is"))[0][
        "it_is"
    ]:
        return frozenset()
    rows = await connection.fetch("SELECT number, checksum FROM chatmemory_migration")
    known = {migration.number: migration.checksum for migration in MIGRATIONS}
    for row in rows:
        if row["number"] not in known:
            detail = f"it has step {row['number']}, this program knows {len(MIGRATIONS)}"
            raise EffectFailed(RepositoryError("open the store", "newer_schema", detail))
        if row["checksum"] != known[row["number"]]:
            detail = f"its step {row['number']} is not the one that this program knows"
            raise EffectFailed(RepositoryError("open the store", "newer_schema", detail))
    return frozenset(row["number"] for row in rows)
