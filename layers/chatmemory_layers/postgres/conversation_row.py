"""``ConversationRow``: a row of ``conversation``, how it changes with its messages, and how both are written."""

from collections.abc import Sequence
from typing import Final, Self, final

from attrs import astuple, evolve, fields, frozen

from chatmemory.contracts import MessageDraft
from chatmemory.messages import OPEN_ROLES, Conversation
from chatmemory_layers.columns import from_us, to_json, to_us
from chatmemory_layers.postgres.connection import Connection, Row

SELECT_CONVERSATION: Final = """
SELECT conversation_id, version, next_seq, rewritten_at_version, message_count, view_count, view_tokens, open_count,
    deleted_count, created_at_us, updated_at_us
FROM conversation
WHERE conversation_id = $1
"""

# One round trip for every change: messages ($12 to $19, arrays of one length) and the state that they lead to.
# Numbers travel as text: text[] is the one array of which asyncpg need not ask the server, thrice on each connection.
STORE_MESSAGES: Final = """
WITH added AS (
    INSERT INTO chat_message (conversation_id, seq, place, id, role, content, sent_at_us, metadata, tokens)
    SELECT $1, message.*
    FROM unnest($12::text[]::bigint[], $13::text[]::bigint[], $14::text[], $15::text[], $16::text[],
        $17::text[]::bigint[], $18::text[], $19::text[]::bigint[]) AS message
)
INSERT INTO conversation (conversation_id, version, next_seq, rewritten_at_version, message_count, view_count,
    view_tokens, open_count, deleted_count, created_at_us, updated_at_us)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
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
    updated_at_us = excluded.updated_at_us
"""


@final
@frozen
class MessageRow:
    """A message on its way into ``chat_message``, in the order of the parameters of ``STORE_MESSAGES``."""

    seq: int
    place: int
    id: str
    role: str
    content: str
    sent_at_us: int
    metadata: str | None
    tokens: int

    @classmethod
    def of(cls, draft: MessageDraft, *, seq: int, place: int | None = None) -> Self:
        """Write *draft*; its place is its number, unless it takes that of others."""
        return cls(
            seq=seq,
            place=seq if place is None else place,
            id=draft.id,
            role=draft.role,
            content=draft.content,
            sent_at_us=to_us(draft.timestamp),
            metadata=to_json(draft.metadata),
            tokens=draft.tokens,
        )

    def texts(self) -> tuple[str | None, ...]:
        """Return the values as they travel."""
        return tuple(None if value is None else str(value) for value in astuple(self))

    @property
    def is_open(self) -> bool:
        """Whether a history strategy has to deal with it."""
        return self.role in OPEN_ROLES


@final
@frozen
class ConversationRow:
    """A row of ``conversation``, in the order of its columns.

    Attributes:
        next_seq: the sequence number of the next message; survives a clear, as the version does.
        rewritten_at_version: the version that the latest summary or clear made.
        deleted_count: messages that were covered and deleted; their ids live on in ``summary_coverage``.
    """

    conversation_id: str
    version: int
    next_seq: int
    rewritten_at_version: int
    message_count: int
    view_count: int
    view_tokens: int
    open_count: int
    deleted_count: int
    created_at_us: int
    updated_at_us: int

    @classmethod
    def unknown(cls, conversation_id: str, now_us: int) -> Self:
        """Return what a conversation is before its first message."""
        return cls(
            conversation_id,
            version=0,
            next_seq=1,
            rewritten_at_version=0,
            message_count=0,
            view_count=0,
            view_tokens=0,
            open_count=0,
            deleted_count=0,
            created_at_us=now_us,
            updated_at_us=now_us,
        )

    @classmethod
    def read(cls, row: Row) -> Self:
        """Read a row, whatever other columns it has."""
        return cls(**{column.name: row[column.name] for column in fields(cls)})

    def value(self) -> Conversation:
        """Describe the conversation as it is now."""
        return Conversation(
            self.conversation_id,
            version=self.version,
            message_count=self.message_count,
            view_count=self.view_count,
            view_tokens=self.view_tokens,
            open_count=self.open_count,
            created_at=from_us(self.created_at_us),
            updated_at=from_us(self.updated_at_us),
        )

    def extended(self, rows: Sequence[MessageRow], now_us: int) -> "ConversationRow":
        """Return the state after *rows* are stored at its end."""
        return evolve(
            self,
            version=self.version + 1,
            next_seq=self.next_seq + len(rows),
            message_count=self.message_count + len(rows),
            view_count=self.view_count + len(rows),
            view_tokens=self.view_tokens + sum(row.tokens for row in rows),
            open_count=self.open_count + sum(row.is_open for row in rows),
            created_at_us=self.created_at_us if self.message_count else now_us,
            updated_at_us=now_us,
        )

    def without(self, covered: Sequence[Row], *, deleted: bool) -> "ConversationRow":
        """Return the state after *covered* left the view, and the store when they are *deleted*; the version stays."""
        gone = len(covered) if deleted else 0
        return evolve(
            self,
            message_count=self.message_count - gone,
            deleted_count=self.deleted_count + gone,
            view_count=self.view_count - len(covered),
            view_tokens=self.view_tokens - sum(row["tokens"] for row in covered),
            open_count=self.open_count - sum(row["role"] in OPEN_ROLES for row in covered),
        )

    def rewritten(self) -> "ConversationRow":
        """Return the state whose version no summary planned before it may pass."""
        return evolve(self, rewritten_at_version=self.version)

    def cleared(self, now_us: int) -> "ConversationRow":
        """Return the state without any message."""
        empty = self.unknown(self.conversation_id, now_us)
        return evolve(empty, version=self.version + 1, next_seq=self.next_seq).rewritten()


async def load_conversation(connection: Connection, conversation_id: str) -> ConversationRow | None:
    """Read the row of a conversation, None when it has never been written to."""
    rows = await connection.fetch(SELECT_CONVERSATION, conversation_id)
    return ConversationRow.read(rows[0]) if rows else None


async def store_messages(
    connection: Connection, row: ConversationRow, messages: Sequence[MessageRow]
) -> None:
    """Write *messages* and the *row* that they led to."""
    columns = [list(column) for column in zip(*(message.texts() for message in messages), strict=True)]
    await connection.execute(STORE_MESSAGES, *astuple(row), *(columns or [[] for _ in fields(MessageRow)]))
