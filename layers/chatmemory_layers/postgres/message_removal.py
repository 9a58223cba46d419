"""How the newest message goes, and the summaries that stand in its way.  In a transaction, under the conversation's lock."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, final

from attrs import evolve, frozen

from chatmemory.contracts import WorkIsDue
from chatmemory.effect import Success
from chatmemory.messages import OPEN_ROLES, ChatMessage
from chatmemory_layers.columns import to_us
from chatmemory_layers.postgres.connection import Connection, Row
from chatmemory_layers.postgres.conversation_row import ConversationRow, load_conversation, store_messages
from chatmemory_layers.postgres.history_work import drop_work
from chatmemory_layers.postgres.message_reads import message_of

DELETE_NEWEST: Final = """
DELETE FROM chat_message WHERE conversation_id = $1 AND seq = (
    SELECT seq FROM chat_message WHERE conversation_id = $1 AND covered_by IS NULL ORDER BY place DESC LIMIT 1
)
RETURNING seq, id, role, content, sent_at_us, metadata, covered_by, tokens
"""
DELETE_SUMMARIZATION: Final = """
DELETE FROM summarization_metadata
WHERE conversation_id = $1 AND hashtextextended(summary_message_id, 0) = hashtextextended($2, 0)
    AND summary_message_id = $2
RETURNING id, messages_deleted
"""
DELETE_COVERAGE: Final = """
DELETE FROM summary_coverage WHERE conversation_id = $1 AND metadata_id = $2 RETURNING message_id
"""
UNCOVER_MESSAGES: Final = """
UPDATE chat_message SET covered_by = NULL FROM unnest($2::text[]) AS wanted
WHERE conversation_id = $1 AND hashtextextended(id, 0) = hashtextextended(wanted, 0) AND id = wanted
    AND covered_by = $3
RETURNING role, tokens
"""


@final
@frozen
class Removal:
    """A conversation that is to lose its newest message."""

    conversation_id: str
    now: datetime
    is_due: WorkIsDue


async def remove_newest(connection: Connection, removal: Removal) -> Success[ChatMessage | None]:
    """See ``MessageRepository.remove_newest``."""
    row = await load_conversation(connection, removal.conversation_id)
    if row is None or row.view_count == 0:
        return Success(None)
    row, removed = await _remove(connection, row)
    row, is_back = await _uncover(connection, row, removed["id"])
    while is_back:
        row, removed = await _remove(connection, row)
        row, is_back = await _uncover(connection, row, removed["id"])
    row = evolve(row, version=row.version + 1, updated_at_us=to_us(removal.now)).rewritten()
    await store_messages(connection, row, ())
    if not removal.is_due(row.value()):
        await drop_work(connection, row.conversation_id)
    return Success(message_of(removed))


async def _remove(connection: Connection, row: ConversationRow) -> tuple[ConversationRow, Row]:
    """Delete the newest message in view, and nothing else."""
    gone = await connection.fetch(DELETE_NEWEST, row.conversation_id)
    return evolve(_counted(row, -1, gone), message_count=row.message_count - 1), gone[0]


async def _uncover(
    connection: Connection, row: ConversationRow, summary_id: str
) -> tuple[ConversationRow, bool]:
    """Undo a summary that is gone; tell whether anything came back into view."""
    key = row.conversation_id
    undone = await connection.fetch(DELETE_SUMMARIZATION, key, summary_id)
    if not undone:
        return row, False
    freed = await connection.fetch(DELETE_COVERAGE, key, undone[0]["id"])
    back = await connection.fetch(
        UNCOVER_MESSAGES, key, [covered["message_id"] for covered in freed], summary_id
    )
    forgotten = len(freed) if undone[0]["messages_deleted"] else 0
    row = evolve(_counted(row, 1, back), deleted_count=row.deleted_count - forgotten)
    return row, bool(back)


def _counted(row: ConversationRow, sign: int, messages: Sequence[Row]) -> ConversationRow:
    """Return the state after *messages* came into view, or went out of it."""
    return evolve(
        row,
        view_count=row.view_count + sign * len(messages),
        view_tokens=row.view_tokens + sign * sum(message["tokens"] for message in messages),
        open_count=row.open_count + sign * sum(message["role"] in OPEN_ROLES for message in messages),
    )
