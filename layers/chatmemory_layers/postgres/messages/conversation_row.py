"""Rows of ``conversation`` and ``chat_message``: reads a state, and writes messages together with the state.

``chatmemory.conversation.changes`` decides how a change alters the state.
"""

from collections.abc import Sequence
from typing import Final

from chatmemory.conversation.changes import ConversationState, InView, new_conversation
from chatmemory.conversation.message_repository import MessageDraft
from chatmemory.events.event import Change
from chatmemory.input.json_value import to_json
from chatmemory_layers.postgres.engine.connection import Connection, Row
from chatmemory_layers.postgres.events.noted_events import acting
from chatmemory_layers.sql.columns import EPOCH, to_us
from chatmemory_layers.sql.rows import STATE, state_of

SELECT_CONVERSATION: Final = f"""
SELECT {STATE}, EXISTS (SELECT FROM history_work WHERE history_work.conversation_id = $1) AS has_work
FROM conversation
WHERE conversation_id = $1
"""  # noqa: S608  made of a constant

# Every change takes one round trip: the messages ($16 to $23, arrays of one length), the new state, and the event.
# The state is written first, because row-level security reads the owner of the messages there.
STORE_MESSAGES: Final = """
WITH state AS (
    INSERT INTO conversation (conversation_id, version, next_seq, rewritten_at_version, message_count, view_count,
        view_tokens, open_count, deleted_count, created_at_us, updated_at_us, owner_user, owner_app, kept_since_version,
        kept_since_us, edition)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, 1)
    ON CONFLICT (conversation_id) DO UPDATE SET
        version = excluded.version,
        next_seq = excluded.next_seq,
        rewritten_at_version = excluded.rewritten_at_version,
        message_count = excluded.message_count,
        view_count = excluded.view_count,
        view_tokens = excluded.view_tokens,
        open_count = excluded.open_count,
        deleted_count = excluded.deleted_count,
        created_at_us = excluded.created_at_us,
        updated_at_us = excluded.updated_at_us,
        kept_since_version = excluded.kept_since_version,
        kept_since_us = excluded.kept_since_us
    RETURNING conversation_id
), event AS (
    INSERT INTO conversation_event (conversation_id, number, who, who_user, action, owner_user, owner_app, reach,
        said_at_us, successor, reason)
    SELECT conversation_id, $2, $24, $25, $26, $12, $13, $27, $28, $29, $30 FROM state
)
INSERT INTO chat_message (conversation_id, version, stored_at_us, seq, place, id, role, content, sent_at_us, metadata,
    tokens)
SELECT state.conversation_id, $2, $11, message.*
FROM state CROSS JOIN unnest($16::bigint[], $17::bigint[], $18::text[], $19::text[], $20::text[],
    $21::bigint[], $22::text[], $23::bigint[]) AS message
"""
_MESSAGE_COLUMNS: Final = 8
# Work that waits after a failure keeps its time: an add must not call a failing model again too early.
INSERT_WORK: Final = """
INSERT INTO history_work (conversation_id, due_at_us, attempts) VALUES ($1, $2, 0)
ON CONFLICT (conversation_id) DO NOTHING
"""
DELETE_WORK: Final = """
DELETE FROM history_work WHERE conversation_id = $1
"""


def message_row(draft: MessageDraft, *, seq: int, place: int | None = None) -> tuple[object, ...]:
    """Return *draft* as parameters of ``STORE_MESSAGES``; *place* is the position of a summary in the model's view, None: *seq*."""
    return seq, seq if place is None else place, *said_columns(draft)


def said_columns(draft: MessageDraft) -> tuple[str, str, str, int, str | None, int]:
    """Return the columns id, role, content, sent_at_us, metadata and tokens of *draft*."""
    metadata = to_json(draft.metadata)
    return draft.id, draft.role, draft.content, to_us(draft.timestamp), metadata, draft.tokens


def state_in(conversation_id: str, found: Sequence[Row]) -> ConversationState:
    """Return the state from the first row; without a row, the state of a new conversation."""
    return state_of(tuple(found[0].values())) if found else new_conversation(conversation_id, EPOCH)


def in_view(rows: Sequence[Row]) -> list[InView]:
    """Return the place, the role and the tokens of messages in the model's view."""
    return [InView(row["place"], row["role"], row["tokens"]) for row in rows]


async def load_conversation(connection: Connection, conversation_id: str) -> ConversationState:
    """Read and return the state of a conversation."""
    return state_in(conversation_id, await connection.fetch(SELECT_CONVERSATION, conversation_id))


async def store_messages(
    connection: Connection,
    before: ConversationState,
    after: ConversationState,
    change: Change,
    messages: Sequence[tuple[object, ...]] = (),
) -> None:
    """Write *messages*, the state *after* them, and the *change* that has made it.

    History work is queued or removed from the queue, even while a worker has its lease.
    """
    conversation = after.conversation
    who, who_user = acting(change)
    columns = [list(column) for column in zip(*messages, strict=True)]
    await connection.execute(
        STORE_MESSAGES,
        conversation.conversation_id,
        conversation.version,
        after.next_seq,
        after.rewritten_at_version,
        conversation.message_count,
        conversation.view_count,
        conversation.view_tokens,
        conversation.open_count,
        after.deleted_count,
        to_us(conversation.created_at),
        to_us(conversation.updated_at),
        after.owner.user,
        after.owner.app,
        after.kept_since_version,
        None if after.kept_since is None else to_us(after.kept_since),
        *(columns or [[]] * _MESSAGE_COLUMNS),
        who,
        who_user,
        change.action,
        change.reach,
        None if change.said_at is None else to_us(change.said_at),
        change.by,
        change.why,
    )
    if after.has_work and not before.has_work:
        await connection.execute(INSERT_WORK, conversation.conversation_id, to_us(conversation.updated_at))
    elif before.has_work and not after.has_work:
        await connection.execute(DELETE_WORK, conversation.conversation_id)
