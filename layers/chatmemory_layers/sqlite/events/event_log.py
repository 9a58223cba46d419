"""``SqliteEventLog``: the events in the file of the store; ``note`` adds an event for each change of a write."""

import json
import sqlite3
import time
from collections.abc import Iterable
from datetime import datetime
from typing import Final, Never, final

from attrs import define, field, frozen

from chatmemory.access.principal import principal
from chatmemory.effect import Do, Effect, Outcome, Success
from chatmemory.errors import DataValidationError, RepositoryError
from chatmemory.events.event import Change, Event, current_reason
from chatmemory.events.event_log import AuditQuery, ChangesPage, EventLog, no_cursor, number_in
from chatmemory_layers.sql.columns import END_US, EPOCH, MICROSECOND, to_us
from chatmemory_layers.sql.rows import Row, event_of
from chatmemory_layers.sqlite.engine.jobs import Database
from chatmemory_layers.sqlite.engine.transaction import Transaction

# ruff: noqa: S608  columns and conditions are put into statements, never values

# Positional: a dictionary per event costs an append more time than the event itself.
INSERT_EVENT = """
INSERT INTO event (stored_at_us, who, who_user, action, kind, target_id, owner_user, owner_app, version, reach, said_at_us,
    successor, reason, session_id, evidence)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
# For an append: binding the columns that are empty then would double the cost.
INSERT_ADDED = """
INSERT INTO event (stored_at_us, who, who_user, action, kind, target_id, owner_user, owner_app, version, reach, said_at_us,
    reason)
VALUES (?, ?, ?, 'added', 'conversation', ?, ?, ?, ?, ?, ?, ?)
"""
EVENT_COLUMNS = """
number, stored_at_us, said_at_us, who, who_user, kind, action, target_id, owner_user, owner_app, version, reach, successor,
    reason, session_id, evidence
"""
# The first number that may be new enough: found from the end, without an index of instants.
SELECT_FIRST = """
SELECT coalesce(max(number), 0) FROM event WHERE number > 0 AND stored_at_us < :since_us
"""
SELECT_ACTED = f"""
SELECT {EVENT_COLUMNS} FROM event
WHERE number > :first AND number < :after AND who <> '' AND stored_at_us >= :since_us
    AND (:who IS NULL OR who = :who) AND (:target IS NULL OR target_id = :target)
ORDER BY number DESC LIMIT :limit
"""
SELECT_CHANGES = f"SELECT {EVENT_COLUMNS} FROM event WHERE number > :after ORDER BY number LIMIT :limit"
SELECT_END = "SELECT coalesce(max(number), 0) FROM event WHERE number > 0"
SELECT_END_OF_PIECE = """
SELECT number, stored_at_us FROM event WHERE number > :after ORDER BY number LIMIT 1 OFFSET :limit
"""
# Tombstones stay, and so does the newest event, from whose number the count continues.
_KEPT = """
((kind = 'memory' AND action = 'forgotten' AND reason IS NULL) OR number = (SELECT max(number) FROM event))
"""
_OLD = "number > :after AND number <= :last AND stored_at_us < :before_us"
UNNAME_EVENTS = f"UPDATE event SET who = '', who_user = '' WHERE {_OLD} AND who <> '' AND {_KEPT}"
DELETE_EVENTS = f"DELETE FROM event WHERE {_OLD} AND NOT {_KEPT}"

DELETE_EARLIER_ITEMS = """
DELETE FROM item_version
WHERE rowid IN (SELECT rowid FROM item_version WHERE ended_at_us < :before_us LIMIT :most)
"""

MOST_AT_ONCE: Final = 10_000
"""How many events, and earlier items, one transaction removes, in 20 ms, so that no writer waits for longer."""
NS_PER_US: Final = 1000
CLOCK_SLACK_US: Final = 24 * 60 * 60 * 1_000_000
"""How far a clock may have been set back without hiding earlier events from a query."""


@final
@define(eq=False)
class NotedRows:
    """The events of all writes of a transaction, which are written together."""

    rows: list[tuple[object, ...]] = field(factory=list[tuple[object, ...]])
    has_tombstones: bool = False

    def save(self, transaction: Transaction) -> None:
        """Write the events."""
        transaction.cursor.executemany(INSERT_EVENT, self.rows)


def note(transaction: Transaction, changes: Iterable[Change]) -> None:
    """Add an event for each of *changes* to *transaction*, in the name of the current principal."""
    noted = transaction.waiting_as(NotedRows)
    who, reason = principal(), current_reason()
    at_us = time.time_ns() // NS_PER_US
    acting = (at_us, who.name, who.namespace.user)
    by_itself = (at_us, "", "")
    for change in changes:
        action, kind, target, owner, version, reach, said_at, by, why, session_id, evidence, is_by_itself = (
            change
        )
        if action == "forgotten":
            noted.has_tombstones = True
        noted.rows.append(
            (
                *(by_itself if is_by_itself else acting),
                action,
                kind,
                target,
                owner.user,
                owner.app,
                version,
                reach,
                None if said_at is None else (said_at - EPOCH) // MICROSECOND,
                by,
                why or reason,
                session_id,
                json.dumps(evidence, ensure_ascii=False) if evidence else None,
            )
        )


def write_noted(transaction: Transaction) -> None:
    """Write the noted events of *transaction* if one of them says that something was forgotten: the next write reads those."""
    noted = transaction.waiting
    if isinstance(noted, NotedRows) and noted.has_tombstones:
        transaction.write_waiting()


def _acted(connection: sqlite3.Connection, query: AuditQuery, /) -> tuple[Event, ...]:
    asked = {
        "who": query.who,
        "target": query.target,
        "since_us": -END_US if query.since is None else to_us(query.since),
        "first": 0,
        "after": END_US if query.after is None else query.after[1],
        "limit": query.limit,
    }
    if query.since is not None:
        early = {"since_us": to_us(query.since) - CLOCK_SLACK_US}
        (asked["first"],) = connection.execute(SELECT_FIRST, early).fetchone()
    who = principal()
    found: list[Event] = []
    while len(found) < query.limit:
        events = [event_in(row) for row in connection.execute(SELECT_ACTED, asked).fetchall()]
        found += [event for event in events if event.is_seen_by(who)]
        if len(events) < query.limit:
            break
        asked["after"] = events[-1].number
    return tuple(found[: query.limit])


def _changes(connection: sqlite3.Connection, number: int, *, limit: int) -> ChangesPage:
    rows = connection.execute(SELECT_CHANGES, {"after": number, "limit": limit}).fetchall()
    return ChangesPage.of([event_in(row) for row in rows], since=str(number), limit=limit)


def _end(connection: sqlite3.Connection) -> str:
    (number,) = connection.execute(SELECT_END).fetchone()
    return str(number)


def event_in(row: Row) -> Event:
    """Return the event of a row of ``EVENT_COLUMNS``."""
    return event_of(row, str(row[0]))


def _prune_some(
    transaction: Transaction, before: datetime, after: int
) -> Outcome[tuple[int, int | None], Never]:
    """Prune a part of the log after *after*; return how many events were removed, and where the next part begins."""
    piece = {"after": after, "limit": MOST_AT_ONCE - 1}
    last, stored_at_us = transaction.execute(SELECT_END_OF_PIECE, piece).fetchone() or (END_US, END_US)
    before_us = to_us(before)
    old = {"after": after, "last": last, "before_us": before_us, "most": MOST_AT_ONCE}
    pruned = transaction.execute(UNNAME_EVENTS, old).rowcount
    pruned += transaction.execute(DELETE_EVENTS, old).rowcount
    if transaction.execute(DELETE_EARLIER_ITEMS, old).rowcount == MOST_AT_ONCE:
        return Success((pruned, after))
    return Success((pruned, last if stored_at_us < before_us else None))


@final
@frozen
class SqliteEventLog(EventLog):
    """Reads and prunes the events in the file of *database*."""

    database: Database

    def acted(self, query: AuditQuery, /) -> Effect[tuple[Event, ...], RepositoryError]:
        return self.database.read("read the log", _acted, query)

    def end(self) -> Effect[str, RepositoryError]:
        return self.database.read("read the log", _end)

    def changes_page(
        self, since: str | None = None, *, limit: int
    ) -> Effect[ChangesPage, DataValidationError | RepositoryError]:
        number = 0 if since is None else number_in(since)
        if number is None:
            return Effect.fail(no_cursor())
        return self.database.read("read the log", _changes, number, limit=limit)

    @Effect.gen
    async def prune(self, do: Do[RepositoryError], before: datetime, /) -> int:
        pruned, after = 0, 0
        while True:
            some, end = await do(self.database.write("prune the log", _prune_some, before, after))
            pruned += some
            if end is None:
                return pruned
            after = end
