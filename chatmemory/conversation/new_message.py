"""``NewMessage``: a message to be added; ``messages.py`` has the stored one.

It stands alone because a recall of past chats counts its tokens with one, and loads nothing else of conversations.
"""

from datetime import datetime
from typing import final

from attrs import frozen

from chatmemory.input.choices import Role
from chatmemory.input.json_value import Json as Json, JsonObject  # noqa: PLC0414  JsonObject names it, for who reads types


@final
@frozen(slots=False)
class NewMessage:
    """A message to be added to a conversation.

    Attributes:
        role: who speaks.  Only history strategies write ``summary``.
        content: any text without NUL and lone surrogates, up to 16,777,216 characters.
        id: 1 to 512 characters, unique in its conversation; adding the same id again stores nothing.
            None: a new id is made.
        timestamp: when it was said, with a time zone.  None: now.
        metadata: any JSON object, returned exactly.
    """

    role: Role
    content: str
    id: str | None = None
    timestamp: datetime | None = None
    metadata: JsonObject | None = None
