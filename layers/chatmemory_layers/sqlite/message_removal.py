"""How the newest message goes, and the summaries that stand in its way.  Runs inside a transaction that others may share."""

from collections.abc import Sequence
from datetime import datetime
from typing import Never, final

from attrs import frozen

from chatmemory.contracts import WorkIsDue
from chatmemory.effect import Outcome, Success
from chatmemory.messages import OPEN_ROLES, ChatMessage, Role
from chatmemory_layers.sqlite.conversation_row import ConversationRow, load_conversation
from chatmemory_layers.sqlite.group_commit import Transaction
from chatmemory_layers.sqlite.history_work import drop_work
from chatmemory_layers.sqlite.message_reads import newest_in_view

DELETE_MESSAGE = """
DELETE FROM chat_message WHERE conversation_key = :conversation_key AND seq = :seq RETURNING tokens
"""
DELETE_SUMMARIZATION = """
DELETE FROM summarization_metadata WHERE conversation_key = :conversation_key AND summary_message_id = :summary_id
RETURNING id, messages_deleted
"""
# What stood in the summarized part says its place from now on, as everything there does.
UNCOVER_MESSAGES = """
UPDATE chat_message SET covered_by = NULL, place = coalesce(place, seq)
WHERE conversation_key = :conversation_key AND covered_by = :summary_id AND id IN (
    SELECT message_id FROM summary_coverage
    WHERE conversation_key = :conversation_key AND metadata_id = :metadata_id
)
RETURNING role, tokens
"""
DELETE_COVERAGE = """
DELETE FROM summary_coverage WHERE conversation_key = :conversation_key AND metadata_id = :metadata_id
"""


@final
@frozen
class Removal:
    """A conversation that is to lose its newest message."""

    conversation_id: str
    now: datetime
    is_due: WorkIsDue


def remove_newest(transaction: Transaction, removal: Removal) -> Outcome[ChatMessage | None, Never]:
    """See ``MessageRepository.remove_newest``."""
    row = transaction.hold(load_conversation, removal.conversation_id)
    if row.view_count == 0:
        return Success(None)
    removed = _remove(transaction, row)
    while _uncover(transaction, row, removed.id):
        removed = _remove(transaction, row)
    row.changed(removal.now)
    row.rewritten_at_version = row.version
    if not removal.is_due(row.value()):
        drop_work(transaction, row)
    return Success(removed)


def _remove(transaction: Transaction, row: ConversationRow) -> ChatMessage:
    """Delete the newest message in view, and nothing else."""
    newest = newest_in_view(transaction.execute, row.key, row.summarized_seq)
    place = {"conversation_key": row.key, "seq": newest.seq}
    ((tokens,),) = transaction.execute(DELETE_MESSAGE, place).fetchall()
    row.message_count -= 1
    _count(row, -1, [(newest.role, tokens)])
    return newest


def _uncover(transaction: Transaction, row: ConversationRow, summary_id: str) -> bool:
    """Undo a summary that is gone; tell whether anything came back into view."""
    summary: dict[str, object] = {"conversation_key": row.key, "summary_id": summary_id}
    undone = transaction.execute(DELETE_SUMMARIZATION, summary).fetchall()
    if not undone:
        return False
    ((metadata_id, messages_deleted),) = undone
    covers = {**summary, "metadata_id": metadata_id}
    back = transaction.execute(UNCOVER_MESSAGES, covers).fetchall()
    _count(row, 1, back)
    known = transaction.execute(DELETE_COVERAGE, covers).rowcount
    if messages_deleted:
        row.deleted_count -= known
    return bool(back)


def _count(row: ConversationRow, sign: int, messages: Sequence[tuple[Role, int]]) -> None:
    """Count *messages* that came into view, or went out of it."""
    row.view_count += sign * len(messages)
    row.view_tokens += sign * sum(tokens for _, tokens in messages)
    row.open_count += sign * sum(role in OPEN_ROLES for role, _ in messages)
