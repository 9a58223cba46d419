"""``NewMessage``: a message to be added; ``messages.py`` defines the stored message.

It has its own module because a recall of past chats needs it to count tokens, and loads nothing else of conversations.
"""

from datetime import datetime
from typing import final

from attrs import frozen

from chatmemory.input.choices import Role
from chatmemory.input.json_value import Json as Json, JsonObject  # noqa: PLC0414  JsonObject refers to it


@final
@frozen(slots=False)
class NewMessage:
    """A message to be added to a conversation.

    Attributes:
        role: the role of its author.  Only history strategies write ``summary``.
        content: any text without NUL and lone surrogates, up to 16,777,216 characters.
        id: 1 to 512 characters, unique in its conversation; adding the same id again stores nothing.
            None: a new id is made.
        timestamp: when it was said, with a time zone.  None: now.
        metadata: any JSON object, which is returned unchanged; None: no metadata.
    """

    role: Role
    content: str
    id: str | None = None
    timestamp: datetime | None = None
    metadata: JsonObject | None = None
