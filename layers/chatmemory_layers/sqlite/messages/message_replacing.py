"""Replaces the newest messages by others.  Runs inside a transaction that other writes may share."""

from attrs import evolve

from chatmemory.access.principal import principal
from chatmemory.conversation.message_repository import Appended, Replacement
from chatmemory.conversation.replacing import answer_without_messages, refusal_of_replacement, remaining
from chatmemory.effect import Failure, Outcome, Success
from chatmemory.errors import AccessDeniedError, MessageConflictError, VersionConflictError
from chatmemory_layers.sqlite.engine.transaction import Transaction
from chatmemory_layers.sqlite.messages.conversation_row import conversation_row
from chatmemory_layers.sqlite.messages.message_removal import remove_newest
from chatmemory_layers.sqlite.messages.message_writes import append, clear, known_of


def replace(
    transaction: Transaction, replacement: Replacement
) -> Outcome[Appended, AccessDeniedError | MessageConflictError | VersionConflictError]:
    """Delete the newest messages of the model's view and store others in their place, in one transaction."""
    batch, id_ = replacement.batch, replacement.conversation_id
    row = conversation_row(transaction, id_)
    rest = remaining(row.state, replacement)
    known = known_of(transaction, row, batch) if rest else ()
    refusal = refusal_of_replacement(row.state, known, replacement, principal())
    if refusal is not None:
        return Failure(refusal)
    if rest == 0:
        clear(transaction, id_, now=batch.now)
    while row.state.conversation.view_count > rest:
        remove_newest(transaction, id_, now=batch.now, threshold=batch.threshold)
    if not batch.drafts:
        return Success(answer_without_messages(row.state))
    return append(transaction, evolve(batch, expected_version=None))
