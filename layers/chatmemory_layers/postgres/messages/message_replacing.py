"""Replaces the newest messages by others, in a transaction that holds the conversation's lock."""

from attrs import evolve

from chatmemory.access.principal import principal
from chatmemory.conversation.message_repository import Appended, Replacement
from chatmemory.conversation.replacing import answer_without_messages, refusal_of_replacement, remaining
from chatmemory.effect import Failure, Outcome, Success
from chatmemory.errors import AccessDeniedError, MessageConflictError, VersionConflictError
from chatmemory_layers.postgres.engine.connection import Connection
from chatmemory_layers.postgres.messages.conversation_row import load_conversation
from chatmemory_layers.postgres.messages.message_removal import remove_newest
from chatmemory_layers.postgres.messages.message_writes import append, clear, state_and_known


async def replace(
    connection: Connection, replacement: Replacement
) -> Outcome[Appended, AccessDeniedError | MessageConflictError | VersionConflictError]:
    """Delete the newest messages of the model's view and store others in their place, in one transaction."""
    batch, id_ = replacement.batch, replacement.conversation_id
    state, known = await state_and_known(connection, batch)
    rest = remaining(state, replacement)
    refusal = refusal_of_replacement(state, known if rest else (), replacement, principal())
    if refusal is not None:
        return Failure(refusal)
    if rest == 0:
        await clear(connection, id_, now=batch.now)
        state = await load_conversation(connection, id_)
    while state.conversation.view_count > rest:
        await remove_newest(connection, id_, now=batch.now, threshold=batch.threshold)
        state = await load_conversation(connection, id_)
    if not batch.drafts:
        return Success(answer_without_messages(state))
    return await append(connection, evolve(batch, expected_version=None))
