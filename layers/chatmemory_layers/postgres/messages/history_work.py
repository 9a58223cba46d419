"""The queue of history work.  The transaction that stores messages adds a row; a worker leases it, and settles it."""

from datetime import datetime
from typing import Final, Never

from chatmemory.conversation.changes import is_due
from chatmemory.conversation.message_repository import HistoryWork, WorkThreshold, latest_end
from chatmemory.effect import Outcome, Success
from chatmemory_layers.postgres.engine.connection import Connection
from chatmemory_layers.postgres.messages.conversation_row import DELETE_WORK, load_conversation
from chatmemory_layers.sql.columns import to_us

# A read over all conversations, without locks; then one statement claims each candidate.
SELECT_CANDIDATES: Final = """
SELECT conversation_id FROM history_work
WHERE (due_at_us <= $1 OR due_at_us > $3)
    AND (lease_until_us IS NULL OR lease_until_us <= $1 OR lease_until_us > $3)
ORDER BY due_at_us, conversation_id
LIMIT $2
"""
CLAIM_WORK: Final = """
UPDATE history_work SET attempts = attempts + 1, lease_id = $3, lease_until_us = $4
WHERE conversation_id = $1 AND (due_at_us <= $2 OR due_at_us > $5)
    AND (lease_until_us IS NULL OR lease_until_us <= $2 OR lease_until_us > $5)
RETURNING attempts
"""
SELECT_LEASE: Final = """
SELECT lease_id FROM history_work WHERE conversation_id = $1
"""
RETRY_WORK: Final = """
UPDATE history_work SET due_at_us = $2, lease_id = NULL, lease_until_us = NULL WHERE conversation_id = $1
"""
RENEW_WORK: Final = """
UPDATE history_work SET attempts = 0, lease_id = NULL, lease_until_us = NULL WHERE conversation_id = $1
"""

_CANDIDATES_AT_ONCE: Final = 16  # so many that workers which read at the same time each find work


async def candidates(connection: Connection, now: datetime, latest: datetime) -> tuple[str, ...]:
    """Return conversations whose work may be claimed, longest waiting first; *latest*: see ``latest_end``."""
    rows = await connection.fetch(SELECT_CANDIDATES, to_us(now), _CANDIDATES_AT_ONCE, to_us(latest))
    return tuple(row["conversation_id"] for row in rows)


async def claim_work(
    connection: Connection, conversation_id: str, *, now: datetime, lease_id: str, lease_until: datetime
) -> Outcome[HistoryWork | None, Never]:
    """Lease the work of one conversation; return None if none of its work is free and due."""
    instants = to_us(now), lease_id, to_us(lease_until), to_us(latest_end(now, lease_until))
    claimed = await connection.fetch(CLAIM_WORK, conversation_id, *instants)
    return Success(HistoryWork(conversation_id, claimed[0]["attempts"], lease_id) if claimed else None)


async def settle_work(
    connection: Connection,
    work: HistoryWork,
    *,
    threshold: WorkThreshold | None,
    retry_at: datetime | None = None,
) -> Outcome[None, Never]:
    """End a lease; see ``MessageRepository.settle_work``."""
    key = work.conversation_id
    lease = await connection.fetch(SELECT_LEASE, key)
    if not lease or lease[0]["lease_id"] != work.lease_id:
        return Success(None)
    if retry_at is not None:
        await connection.execute(RETRY_WORK, key, to_us(retry_at))
    elif is_due((await load_conversation(connection, key)).conversation, threshold):
        await connection.execute(RENEW_WORK, key)
    else:
        await connection.execute(DELETE_WORK, key)
    return Success(None)
