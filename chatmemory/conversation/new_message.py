"""``NewMessage``: a message on its way in; what becomes of it is said in ``messages.py``.

A recall of past chats counts its tokens with one, and loads nothing more of conversations.
"""

from datetime import datetime
from typing import final

from attrs import frozen

from chatmemory.input.choices import Role
from chatmemory.input.json_value import Json as Json, JsonObject  # noqa: PLC0414  JsonObject names it, for who reads types


@final
@frozen(slots=False)
class NewMessage:
    """A message on its way in.

    Attributes:
        role: who speaks.  ``summary`` is written by history strategies.
        content: any text without NUL and lone surrogates, up to 16,777,216 characters.
        id: 1 to 512 characters, unique in its conversation; adding the same id again stores nothing.
            None: one is made.
        timestamp: when it was said, with a time zone.  None: now.
        metadata: any JSON object, returned exactly.
    """

    role: Role
    content: str
    id: str | None = None
    timestamp: datetime | None = None
    metadata: JsonObject | None = None
