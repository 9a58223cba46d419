"""``PostgresAuditTrail``: who did what, in the store; and ``note``, by which a write says what it does."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final, Never, final

from attrs import frozen

from chatmemory.access.audit import AuditEntry, AuditQuery, Deed
from chatmemory.access.namespace import Namespace
from chatmemory.access.principal import principal
from chatmemory.effect import Do, Effect, Outcome, Success
from chatmemory.errors import RepositoryError
from chatmemory_layers.postgres.engine.connection import Connection, Row
from chatmemory_layers.postgres.engine.database import Database
from chatmemory_layers.postgres.engine.methods import reads, writes
from chatmemory_layers.sql.columns import END_US, from_us, to_us

# By the clock of the server, which all processes share.
INSERT_ENTRIES: Final = """
INSERT INTO audit_entry (at_us, who, who_user, action, kind, target_id, target_user, target_app)
SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, $1, $2, deed.*
FROM unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::text[]) AS deed
"""
SELECT_ENTRIES: Final = """
SELECT seq, at_us, who, who_user, action, kind, target_id, target_user, target_app FROM audit_entry
WHERE at_us >= $1 AND (at_us, seq) < ($2, $3) AND ($4::text IS NULL OR who = $4)
    AND ($5::text IS NULL OR target_id = $5)
ORDER BY at_us DESC, seq DESC LIMIT $6
"""
DELETE_ENTRIES: Final = """
DELETE FROM audit_entry WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM audit_entry WHERE at_us < $1 ORDER BY at_us LIMIT $2
))
RETURNING seq
"""

MOST_AT_ONCE: Final = 10_000
"""Entries that one transaction removes."""


async def note(connection: Connection, deeds: Iterable[Deed]) -> None:
    """Write an entry for each of *deeds* in the transaction of *connection*, if somebody with a name acts."""
    who = principal()
    if not who.name:
        return
    rows = [(*deed[:-1], deed.owner.user, deed.owner.app) for deed in deeds]
    if rows:
        columns = map(list, zip(*rows, strict=True))
        await connection.execute(INSERT_ENTRIES, who.name, who.namespace.user, *columns)


async def _entries(connection: Connection, query: AuditQuery, /) -> tuple[AuditEntry, ...]:
    after_us, after_seq = (END_US, 0) if query.after is None else (to_us(query.after[0]), query.after[1])
    since_us = -END_US if query.since is None else to_us(query.since)
    asked = (since_us, after_us, after_seq, query.who, query.target, query.limit)
    return tuple([_entry(row) for row in await connection.fetch(SELECT_ENTRIES, *asked)])


def _entry(row: Row) -> AuditEntry:
    return AuditEntry(
        number=row["seq"],
        at=from_us(row["at_us"]),
        who=row["who"],
        user=row["who_user"],
        action=row["action"],
        kind=row["kind"],
        target=row["target_id"],
        owner=Namespace(row["target_user"], row["target_app"]),
    )


async def _prune_some(connection: Connection, before: datetime) -> Outcome[int, Never]:
    return Success(len(await connection.fetch(DELETE_ENTRIES, to_us(before), MOST_AT_ONCE)))


def _owner(_: datetime) -> str:
    return "the audit trail"


@final
@frozen
class PostgresAuditTrail:
    """The entries in the store of *database*."""

    database: Database

    entries = reads("read the audit trail", _entries)
    _prune_some = writes("prune the audit trail", _prune_some, owner=_owner)

    @Effect.gen
    async def prune(self, do: Do[RepositoryError], before: datetime, /) -> int:
        """See ``AuditTrail.prune``."""
        removed = 0
        while (some := await do(self._prune_some(before))) == MOST_AT_ONCE:
            removed += some
        return removed + some
