"""The queue of history work: rows written in the transaction of the messages that made them due, leased, settled."""

from datetime import datetime
from typing import Never, final

from attrs import evolve, frozen

from chatmemory.contracts import HistoryWork, WorkThreshold
from chatmemory.conversation.changes import is_due
from chatmemory.effect import Outcome, Success
from chatmemory_layers.columns import to_us
from chatmemory_layers.sqlite.conversation_row import load_conversation
from chatmemory_layers.sqlite.group_commit import Transaction

CLAIM_WORK = """
UPDATE history_work SET attempts = attempts + 1, lease_id = :lease_id, lease_until_us = :lease_until_us
WHERE conversation_key = (
    SELECT work.conversation_key FROM history_work AS work JOIN chat_conversation USING (conversation_key)
    WHERE work.due_at_us <= :now_us AND (work.lease_until_us IS NULL OR work.lease_until_us <= :now_us)
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


@final
@frozen
class Claim:
    """Who wants work, and until when; of any conversation when none is named."""

    now: datetime
    lease_id: str
    lease_until: datetime
    conversation_id: str | None


@final
@frozen
class Settlement:
    """What became of the work."""

    work: HistoryWork
    threshold: WorkThreshold | None
    retry_at: datetime | None


def claim_work(transaction: Transaction, claim: Claim) -> Outcome[HistoryWork | None, Never]:
    """Lease the work that waits longest; see ``MessageRepository.claim_work``."""
    wanted = {
        "now_us": to_us(claim.now),
        "lease_id": claim.lease_id,
        "lease_until_us": to_us(claim.lease_until),
        "conversation_id": claim.conversation_id,
    }
    claimed = transaction.execute(CLAIM_WORK, wanted).fetchall()
    if not claimed:
        return Success(None)
    conversation_key, attempts = claimed[0]
    (conversation_id,) = transaction.execute(
        SELECT_CONVERSATION_ID, {"conversation_key": conversation_key}
    ).fetchone()
    return Success(HistoryWork(conversation_id, attempts, claim.lease_id))


def settle_work(transaction: Transaction, settlement: Settlement) -> Outcome[None, Never]:
    """Give a lease back; see ``MessageRepository.settle_work``."""
    work = settlement.work
    row = transaction.hold(load_conversation, work.conversation_id)
    key = {"conversation_key": row.key}
    if transaction.execute(SELECT_LEASE, key).fetchone() != (work.lease_id,):
        return Success(None)
    if settlement.retry_at is not None:
        transaction.execute(RETRY_WORK, {**key, "due_at_us": to_us(settlement.retry_at)})
    elif is_due(row.state.conversation, settlement.threshold):
        transaction.execute(RENEW_WORK, key)
    else:
        row.become(transaction, evolve(row.state, has_work=False))
    return Success(None)
