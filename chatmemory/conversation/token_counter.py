"""``TokenCounter``: how large a message is for a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from chatmemory.effect import Tag
from chatmemory.input.json_value import AS_GIVEN as AS_GIVEN  # noqa: PLC0414  where adapters have it from

if TYPE_CHECKING:
    from chatmemory.conversation.messages import ChatMessage
    from chatmemory.conversation.new_message import NewMessage


class TokenCounter(Protocol):
    """Says how large a message is for a model."""

    def count(self, message: NewMessage | ChatMessage, /) -> int:
        """Return the tokens of the message, its metadata (tool calls) included, but ``AS_GIVEN``; at least 1."""
        ...


class TokenCounterTag(Tag[TokenCounter]):
    """Where layers provide ``TokenCounter``."""
