"""The queue of history work: rows are written in the transaction of the messages that made them due, leased, and settled."""

from datetime import datetime
from typing import Never

from attrs import evolve

from chatmemory.conversation.changes import is_due
from chatmemory.conversation.message_repository import HistoryWork, WorkThreshold, latest_end
from chatmemory.effect import Outcome, Success
from chatmemory_layers.sql.columns import END_US, to_us
from chatmemory_layers.sqlite.engine.transaction import Transaction
from chatmemory_layers.sqlite.messages.conversation_row import conversation_row

CLAIM_WORK = """
UPDATE history_work SET attempts = attempts + 1, lease_id = :lease_id, lease_until_us = :lease_until_us
WHERE conversation_key = (
    SELECT work.conversation_key FROM history_work AS work JOIN chat_conversation USING (conversation_key)
    WHERE work.due_at_us > :after_us AND work.due_at_us <= :until_us
        AND (work.lease_until_us IS NULL OR work.lease_until_us NOT BETWEEN :now_us + 1 AND :latest_us)
        AND (:conversation_id IS NULL OR chat_conversation.conversation_id = :conversation_id)
    ORDER BY work.due_at_us LIMIT 1
)
RETURNING conversation_key, attempts
"""
SELECT_CONVERSATION_ID = (
    "SELECT conversation_id FROM chat_conversation WHERE conversation_key = :conversation_key"
)
SELECT_LEASE = "SELECT lease_id FROM history_work WHERE conversation_key = :conversation_key"
RETRY_WORK = """
UPDATE history_work SET due_at_us = :due_at_us, lease_id = NULL, lease_until_us = NULL
WHERE conversation_key = :conversation_key
"""
RENEW_WORK = """
UPDATE history_work SET attempts = 0, lease_id = NULL, lease_until_us = NULL WHERE conversation_key = :conversation_key
"""


def claim_work(
    transaction: Transaction,
    *,
    now: datetime,
    lease_id: str,
    lease_until: datetime,
    conversation_id: str | None = None,
) -> Outcome[HistoryWork | None, Never]:
    """Lease the work that has waited longest; see ``MessageRepository.claim_work``."""
    wanted = {
        "now_us": to_us(now),
        "lease_id": lease_id,
        "lease_until_us": to_us(lease_until),
        "latest_us": to_us(latest_end(now, lease_until)),
        "conversation_id": conversation_id,
    }
    # One query after the other: with both conditions at once, SQLite would read the whole queue.
    for after_us, until_us in ((-END_US, wanted["now_us"]), (wanted["latest_us"], END_US)):
        within = {"after_us": after_us, "until_us": until_us}
        claimed = transaction.execute(CLAIM_WORK, {**wanted, **within}).fetchall()
        if claimed:
            break
    else:
        return Success(None)
    conversation_key, attempts = claimed[0]
    (claimed_id,) = transaction.execute(
        SELECT_CONVERSATION_ID, {"conversation_key": conversation_key}
    ).fetchone()
    return Success(HistoryWork(claimed_id, attempts, lease_id))


def settle_work(
    transaction: Transaction,
    work: HistoryWork,
    *,
    threshold: WorkThreshold | None,
    retry_at: datetime | None = None,
) -> Outcome[None, Never]:
    """Give a lease back; see ``MessageRepository.settle_work``."""
    row = conversation_row(transaction, work.conversation_id)
    key = {"conversation_key": row.key}
    if transaction.execute(SELECT_LEASE, key).fetchone() != (work.lease_id,):
        return Success(None)
    if retry_at is not None:
        transaction.execute(RETRY_WORK, {**key, "due_at_us": to_us(retry_at)})
    elif is_due(row.state.conversation, threshold):
        transaction.execute(RENEW_WORK, key)
    else:
        row.become(transaction, evolve(row.state, has_work=False))
    return Success(None)
