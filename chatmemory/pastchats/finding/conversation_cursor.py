"""The cursor of the list of conversations: where the last one that was seen stands.

It holds the last instant as the store keeps it, not as Python reads it: also what another program wrote there has a place.
"""

from __future__ import annotations

from typing import Final

from chatmemory.input.rules import is_encodable

_BETWEEN: Final = "|"


def cursor_of(last_at: str, conversation_id: str) -> str:
    """Return the cursor of what follows a conversation; *last_at*: the text of the instant, "" for none.

    >>> cursor_of("2025-03-14T12:00:00.000000Z", "claude_code:c1")
    '2025-03-14T12:00:00.000000Z|claude_code:c1'
    """
    return f"{last_at}{_BETWEEN}{conversation_id}"


def read_cursor(cursor: str) -> tuple[str, str] | None:
    """Return what ``cursor_of`` was given; None: it is no cursor.

    >>> read_cursor("|claude_code:c1")
    ('', 'claude_code:c1')
    """
    last_at, between, conversation_id = cursor.partition(_BETWEEN)
    if not between or not is_encodable(cursor):
        return None
    return last_at, conversation_id
