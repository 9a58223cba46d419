"""``TokenCounter``: how large a message is for a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from chatmemory.effect import Tag

if TYPE_CHECKING:
    from chatmemory.messages import ChatMessage, NewMessage


AS_GIVEN: Final = "asGiven"
"""Where in a message's metadata adapters keep it as their frameworks wrote it: the content says it a second time."""


class TokenCounter(Protocol):
    """Says how large a message is for a model."""

    def count(self, message: NewMessage | ChatMessage, /) -> int:
        """Return the tokens of the message, its metadata (tool calls) included, but ``AS_GIVEN``; at least 1."""
        ...


class TokenCounterTag(Tag[TokenCounter]):
    """Where layers provide ``TokenCounter``."""
