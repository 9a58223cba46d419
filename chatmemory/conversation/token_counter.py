"""``TokenCounter``: counts the tokens of a message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from chatmemory.effect import Tag
from chatmemory.input.json_value import AS_GIVEN as AS_GIVEN  # noqa: PLC0414  where adapters have it from

if TYPE_CHECKING:
    from chatmemory.conversation.messages import ChatMessage
    from chatmemory.conversation.new_message import NewMessage


class TokenCounter(Protocol):
    """Counts the tokens of messages as a model sees them."""

    def count(self, message: NewMessage | ChatMessage, /) -> int:
        """Return the number of tokens of the message, at least 1.

        Metadata (tool calls) counts as well, except what is stored under ``AS_GIVEN``.
        """
        ...


class TokenCounterTag(Tag[TokenCounter]):
    """The tag under which layers provide ``TokenCounter``."""
