"""``PostgresEventLog``: reads and prunes the events of a PostgreSQL store."""

from datetime import datetime
from typing import Final, Never, TypeAlias, final

from attrs import frozen

from chatmemory.access.principal import principal
from chatmemory.effect import Do, Effect, Outcome, Success
from chatmemory.errors import DataValidationError, RepositoryError
from chatmemory.events.event import Event
from chatmemory.events.event_log import (
    TARGET_IN_PLACE,
    AuditQuery,
    ChangesPage,
    EventLog,
    EventPlace,
    no_cursor,
    number_in,
)
from chatmemory_layers.postgres.engine.connection import Connection, Row
from chatmemory_layers.postgres.engine.database import Database
from chatmemory_layers.postgres.engine.row_locks import LOG
from chatmemory_layers.sql.columns import END_US, to_us
from chatmemory_layers.sql.rows import event_of

# ruff: noqa: S608  columns and conditions are put into statements, never values

MEMORY_EVENT_COLUMNS: Final = """number, stored_at_us, said_at_us, who, who_user, 'memory' AS kind, action,
    memory_id AS target, owner_user, owner_app, version, NULL::bigint AS reach, successor, reason, session_id, evidence,
    transaction_id"""
_COLUMNS: Final = {
    "conversation_event": """number, stored_at_us, said_at_us, who, who_user, 'conversation' AS kind, action,
    conversation_id AS target, owner_user, owner_app, nullif(greatest(number, 0), 0) AS version, reach, successor, reason,
    NULL AS session_id, NULL AS evidence, transaction_id""",
    "memory_event": MEMORY_EVENT_COLUMNS,
    "item_event": """number, stored_at_us, NULL::bigint AS said_at_us, who, who_user, 'item' AS kind, action,
    name AS target, '' AS owner_user, '' AS owner_app, NULL::bigint AS version, NULL::bigint AS reach, NULL AS successor,
    reason, NULL AS session_id, NULL AS evidence, transaction_id""",
}
_TARGETS: Final = {"conversation_event": "conversation_id", "memory_event": "memory_id", "item_event": "name"}
_OF_EACH: Final = " UNION ALL ".join(
    f"""(
    SELECT {_COLUMNS[table]} FROM {table}
    WHERE who <> '' AND stored_at_us >= $1 AND stored_at_us <= $2 AND (stored_at_us, number, left({target}, {TARGET_IN_PLACE})) < ($2, $3, $4)
        AND ($5::text IS NULL OR who = $5) AND ($6::text IS NULL OR {target} = $6)
    ORDER BY stored_at_us DESC, number DESC, left({target}, {TARGET_IN_PLACE}) DESC LIMIT $7
)"""
    for table, target in _TARGETS.items()
)
SELECT_ACTED: Final = f"""
SELECT * FROM ({_OF_EACH}) AS event
ORDER BY stored_at_us DESC, number DESC, left(target, {TARGET_IN_PLACE}) DESC LIMIT $7
"""

# An open transaction may commit after later ones.  Until it has ended, its events and the events of later transactions are
# held back.  All earlier transactions have ended, so the order of their numbers is final.
_CHANGES_OF_EACH: Final = " UNION ALL ".join(
    f"""(
    SELECT {_COLUMNS[table]} FROM {table}
    WHERE transaction_id >= $1 AND transaction_id < pg_snapshot_xmin(pg_current_snapshot())::text::bigint + chatmemory_shift()
        AND (transaction_id, '{kind}', number, left({target}, {TARGET_IN_PLACE})) > ($1, $2::text, $3, $4)
    ORDER BY transaction_id, number, left({target}, {TARGET_IN_PLACE}) LIMIT $5
)"""
    for kind, (table, target) in zip(("conversation", "memory", "item"), _TARGETS.items(), strict=True)
)
SELECT_CHANGES: Final = f"""
SELECT * FROM ({_CHANGES_OF_EACH}) AS event
ORDER BY transaction_id, kind, number, left(target, {TARGET_IN_PLACE}) LIMIT $5
"""
SELECT_END: Final = """
SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint + chatmemory_shift() AS transaction_id
"""

_TOMBSTONE: Final = "action = 'forgotten' AND reason IS NULL"
# Only the oldest events are read: behind one that is not old enough, no other is.
_DELETE_OLD: Final = """
DELETE FROM {table} WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM (
        SELECT ctid, stored_at_us FROM {table} WHERE {pruned} ORDER BY transaction_id LIMIT $2
    ) AS oldest WHERE stored_at_us < $1
))
RETURNING number
"""
DELETE_CONVERSATION_EVENTS: Final = _DELETE_OLD.format(table="conversation_event", pruned="TRUE")
DELETE_MEMORY_EVENTS: Final = _DELETE_OLD.format(table="memory_event", pruned=f"({_TOMBSTONE}) IS NOT TRUE")
DELETE_ITEM_EVENTS: Final = _DELETE_OLD.format(table="item_event", pruned="TRUE")
UNNAME_TOMBSTONES: Final = f"""
UPDATE memory_event SET who = '', who_user = '' WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM memory_event WHERE stored_at_us < $1 AND {_TOMBSTONE} AND who <> '' LIMIT $2
))
RETURNING number
"""

DELETE_EARLIER_ITEMS: Final = """
DELETE FROM item_version WHERE ctid = ANY (ARRAY(SELECT ctid FROM item_version WHERE ended_at_us < $1 LIMIT $2))
RETURNING version
"""
PRUNING: Final = (
    UNNAME_TOMBSTONES,
    DELETE_CONVERSATION_EVENTS,
    DELETE_MEMORY_EVENTS,
    DELETE_ITEM_EVENTS,
    DELETE_EARLIER_ITEMS,
)

MOST_AT_ONCE: Final = 10_000
"""The most rows that one transaction changes or removes with each of ``PRUNING``."""


async def _acted(connection: Connection, query: AuditQuery, /) -> tuple[Event, ...]:
    who = principal()
    after = query.after
    found: list[Event] = []
    while len(found) < query.limit:
        at, number, target = after or (None, 0, "")
        rows = await connection.fetch(
            SELECT_ACTED,
            -END_US if query.since is None else to_us(query.since),
            END_US if at is None else to_us(at),
            number,
            target,
            query.who,
            query.target,
            query.limit,
        )
        events = [event_in(row) for row in rows]
        found += [event for event in events if event.is_seen_by(who)]
        if len(events) < query.limit:
            break
        after = place_of(events[-1])
    return tuple(found[: query.limit])


_Cursor: TypeAlias = tuple[int, str, int, str]
"""The transaction, the kind, the number and the beginning of the target of an event."""


def _read(cursor: str | None) -> _Cursor | None:
    """Return the place that *cursor* names; one with only the number of a transaction is before all of its events."""
    transaction, _, place = ("0" if cursor is None else cursor).partition(".")
    kind, _, named = place.partition(".")
    number, _, target = named.partition(".")
    first = number_in(transaction)
    second = number_in(number.removeprefix("-") or "0")
    if first is None or second is None or "\0" in target:
        return None
    return first, kind, -second if number.startswith("-") else second, target


async def _changes(connection: Connection, after: _Cursor, limit: int, /) -> ChangesPage:
    rows = await connection.fetch(SELECT_CHANGES, *after, limit)
    return ChangesPage.of([event_in(row) for row in rows], since=_written(after), limit=limit)


def _written(place: _Cursor) -> str:
    return ".".join(map(str, place))


async def _end(connection: Connection) -> str:
    (now,) = await connection.fetch(SELECT_END)
    return str(now["transaction_id"])


def place_of(event: Event) -> EventPlace:
    """Return the key that orders events by time."""
    return event.stored_at, event.number, event.target[:TARGET_IN_PLACE]


def event_in(row: Row) -> Event:
    """Return the event of a row."""
    place = row["transaction_id"], row["kind"], row["number"], row["target"][:TARGET_IN_PLACE]
    return event_of(tuple(row.values()), _written(place))


async def _prune_some(connection: Connection, before: datetime) -> Outcome[tuple[int, bool], Never]:
    """Prune a part of the log; return the number of removed events, and whether none is left to prune."""
    counts = [len(await connection.fetch(statement, to_us(before), MOST_AT_ONCE)) for statement in PRUNING]
    return Success((sum(counts[:-1]), max(counts) < MOST_AT_ONCE))


@final
@frozen
class PostgresEventLog(EventLog):
    """Reads and prunes the events in *database*."""

    database: Database

    def acted(self, query: AuditQuery, /) -> Effect[tuple[Event, ...], RepositoryError]:
        return self.database.read_snapshot("read the log", _acted, query)

    def end(self) -> Effect[str, RepositoryError]:
        return self.database.read("read the log", _end)

    def changes_page(
        self, since: str | None = None, *, limit: int
    ) -> Effect[ChangesPage, DataValidationError | RepositoryError]:
        after = _read(since)
        if after is None:
            return Effect.fail(no_cursor())
        return self.database.read("read the log", _changes, after, limit)

    @Effect.gen
    async def prune(self, do: Do[RepositoryError], before: datetime, /) -> int:
        pruned = 0
        while True:
            some, is_all = await do(self.database.write("prune the log", LOG, _prune_some, before))
            pruned += some
            if is_all:
                return pruned
