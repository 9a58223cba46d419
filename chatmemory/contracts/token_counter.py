"""``TokenCounter``: how large a message is for a model."""

from typing import Protocol

from chatmemory.effect import Tag
from chatmemory.messages import ChatMessage, NewMessage


class TokenCounter(Protocol):
    """Says how large a message is for a model."""

    def count(self, message: NewMessage | ChatMessage, /) -> int:
        """Return the tokens of the message, its metadata (tool calls) included; at least 1."""
        ...


class TokenCounterTag(Tag[TokenCounter]):
    """Where layers provide ``TokenCounter``."""
