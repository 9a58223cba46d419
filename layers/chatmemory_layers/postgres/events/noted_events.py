"""``note``: records what a write changes, in the transaction of the write.

Events of a conversation are written with its messages, by ``STORE_MESSAGES`` of ``conversation_row.py``.
"""

import json
from collections.abc import Sequence
from typing import Final

from chatmemory.access.principal import principal
from chatmemory.events.event import Change
from chatmemory.items.item_repository import labels_in_log
from chatmemory_layers.postgres.engine.connection import Connection
from chatmemory_layers.postgres.engine.spread_keys import root_key, user_key
from chatmemory_layers.sql.columns import to_us

# The server's clock gives the time: all processes share it.  The parameters are arrays, with one element for each event.
_NUMBERED: Final = """
WITH now AS (
    SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS at_us
), change AS MATERIALIZED (
    SELECT * FROM unnest({arrays}) WITH ORDINALITY AS change ({key}, {columns}, ordinal)
), log AS MATERIALIZED (
    SELECT {key}, coalesce((SELECT max(number) FROM {table} AS event WHERE event.{key} = written.{key}), 0) AS number
    FROM (SELECT DISTINCT {key} FROM change) AS written
)
INSERT INTO {table} ({key}, number, stored_at_us, {columns})
SELECT {key}, change.ordinal - 1 + greatest(now.at_us, log.number + 1), now.at_us, {columns}
FROM now CROSS JOIN change JOIN log USING ({key}) {fitting}
"""
_MEMORY_COLUMNS: Final = """
who, who_user, action, memory_id, owner_user, owner_app, version, said_at_us, successor, reason, session_id, evidence
"""
_MEMORY_TYPES: Final = (
    *("uuid[]", "text[]", "text[]", "text[]", "text[]", "text[]", "text[]"),
    *("bigint[]", "bigint[]", "text[]", "text[]", "text[]", "text[]"),
)


def insert_memory_events(first: int, fitting: str = "") -> str:
    """Return the statement that writes the events of ``columns_of``, whose parameters begin with the number *first*.

    *fitting*: a join that leaves out some events.
    """
    arrays = ", ".join(f"${number}::{type_}" for number, type_ in enumerate(_MEMORY_TYPES, first))
    return _NUMBERED.format(
        table="memory_event", key="user_key", columns=_MEMORY_COLUMNS, arrays=arrays, fitting=fitting
    )


INSERT_MEMORY_EVENTS: Final = insert_memory_events(1)
INSERT_ITEM_EVENTS: Final = _NUMBERED.format(
    table="item_event",
    key="root_key",
    columns="who, who_user, action, name, reason",
    arrays="$1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[]",
    fitting="",
)


def acting(change: Change) -> tuple[str, str]:
    """Return the columns who and who_user of *change*."""
    who = principal()
    return ("", "") if change.is_by_itself else (who.name, who.namespace.user)


def columns_of(changes: Sequence[Change]) -> list[list[object]]:
    """Return the parameters of ``insert_memory_events`` for the events of *changes*, at least one."""
    rows = [
        (
            user_key(change.owner.user),
            *acting(change),
            change.action,
            change.target,
            change.owner.user,
            change.owner.app,
            change.version,
            None if change.said_at is None else to_us(change.said_at),
            change.by,
            change.why,
            change.session_id,
            json.dumps(change.evidence, ensure_ascii=False) if change.evidence else None,
        )
        for change in changes
    ]
    return [*map(list, zip(*rows, strict=True))]


async def note(connection: Connection, changes: Sequence[Change]) -> None:
    """Write an event for each of *changes* of memories, in the transaction of *connection*."""
    if changes:
        await connection.execute(INSERT_MEMORY_EVENTS, *columns_of(changes))


async def note_items(connection: Connection, changes: Sequence[Change]) -> None:
    """Write an event for each of *changes* of items, in the transaction of *connection*."""
    rows = [
        (
            root_key(labels_in_log(change.target)),
            *acting(change),
            change.action,
            change.target,
            change.why,
        )
        for change in changes
    ]
    if rows:
        await connection.execute(INSERT_ITEM_EVENTS, *map(list, zip(*rows, strict=True)))
