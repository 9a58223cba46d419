"""``SqliteAuditTrail``: who did what, in the file of the store; and ``note``, by which a write says what it does."""

import sqlite3
import time
from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final, Never, final

from attrs import define, field, frozen

from chatmemory.access.audit import AuditEntry, AuditQuery, Deed
from chatmemory.access.namespace import Namespace
from chatmemory.access.principal import principal
from chatmemory.effect import Do, Effect, Outcome, Success
from chatmemory.errors import RepositoryError
from chatmemory_layers.sql.columns import END_US, from_us, to_us
from chatmemory_layers.sqlite.engine.jobs import Database, Transaction, reads, writes

INSERT_ENTRY = """
INSERT INTO audit_entry (at_us, seq, who, who_user, action, kind, target_id, target_user, target_app)
VALUES (?, (SELECT coalesce(max(seq), 0) + 1 FROM audit_entry WHERE at_us = ?), ?, ?, ?, ?, ?, ?, ?)
"""
SELECT_ENTRIES = """
SELECT seq, at_us, who, who_user, action, kind, target_id, target_user, target_app FROM audit_entry
WHERE at_us >= :since_us AND (at_us, seq) < (:after_us, :after_seq)
    AND (:who IS NULL OR who = :who) AND (:target IS NULL OR target_id = :target)
ORDER BY at_us DESC, seq DESC LIMIT :limit
"""
DELETE_ENTRIES = """
DELETE FROM audit_entry WHERE (at_us, seq) IN (
    SELECT at_us, seq FROM audit_entry WHERE at_us < :before_us ORDER BY at_us, seq LIMIT :limit
)
"""

MOST_AT_ONCE: Final = 10_000
"""Entries that one transaction removes, in 20 ms: nobody who writes waits for longer."""
NS_PER_US: Final = 1000


@final
@define(eq=False)
class NotedRows:
    """The entries of a transaction, whoever of its writes they come from; they are written together."""

    rows: list[tuple[object, ...]] = field(factory=list[tuple[object, ...]])

    def save(self, transaction: Transaction) -> None:
        """Write them."""
        transaction.executemany(INSERT_ENTRY, self.rows)


def note(transaction: Transaction, deeds: Iterable[Deed]) -> None:
    """Write an entry for each of *deeds* in *transaction*, if somebody with a name acts."""
    who = principal()
    if not who.name:
        return
    noted = transaction.held.get((NotedRows, ""))
    if not isinstance(noted, NotedRows):
        noted = transaction.held[NotedRows, ""] = NotedRows()
    at_us = time.time_ns() // NS_PER_US
    acting = (at_us, at_us, who.name, who.namespace.user)
    noted.rows += [(*acting, *deed[:-1], deed.owner.user, deed.owner.app) for deed in deeds]


def _entries(connection: sqlite3.Connection, query: AuditQuery, /) -> tuple[AuditEntry, ...]:
    after_us, after_seq = (END_US, 0) if query.after is None else (to_us(query.after[0]), query.after[1])
    asked = {
        "since_us": -END_US if query.since is None else to_us(query.since),
        "after_us": after_us,
        "after_seq": after_seq,
        "who": query.who,
        "target": query.target,
        "limit": query.limit,
    }
    return tuple([_entry(row) for row in connection.execute(SELECT_ENTRIES, asked).fetchall()])


def _entry(row: tuple[Any, ...]) -> AuditEntry:
    seq, at_us, who, who_user, action, kind, target, owner_user, owner_app = row
    return AuditEntry(
        seq, from_us(at_us), who, who_user, action, kind, target, Namespace(owner_user, owner_app)
    )


def _prune_some(transaction: Transaction, before: datetime) -> Outcome[int, Never]:
    oldest = {"before_us": to_us(before), "limit": MOST_AT_ONCE}
    return Success(transaction.execute(DELETE_ENTRIES, oldest).rowcount)


@final
@frozen
class SqliteAuditTrail:
    """The entries in the file of *database*."""

    database: Database

    entries = reads("read the audit trail", _entries)
    _prune_some = writes("prune the audit trail", _prune_some)

    @Effect.gen
    async def prune(self, do: Do[RepositoryError], before: datetime, /) -> int:
        """See ``AuditTrail.prune``."""
        removed = 0
        while (some := await do(self._prune_some(before))) == MOST_AT_ONCE:
            removed += some
        return removed + some
