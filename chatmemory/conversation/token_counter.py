"""``TokenCounter``: counts the tokens of a message; and the default counter, an estimate that needs no tokenizer.

Models differ, so the estimate errs to the high side for English and stays within a quarter for Chinese.  For exact figures,
provide a counter for your own model under ``TokenCounterTag``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, Protocol, cast, final

from chatmemory.effect import Layer, Tag
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


CHARACTERS_PER_TOKEN: Final = 4  # English and code in the tokenizers in use: 3.5 to 4.5


@final
class EstimatedTokens:
    """Counts a token for each CJK character, one for every 4 English ones, and something between for other scripts."""

    def count(self, message: NewMessage | ChatMessage, /) -> int:
        """Return the tokens of the content and of the metadata as JSON text, but ``AS_GIVEN``; at least 1."""
        tokens = estimate(message.content)
        metadata = {name: value for name, value in (message.metadata or {}).items() if name != AS_GIVEN}
        if metadata:
            tokens += estimate(json.dumps(metadata, ensure_ascii=False, default=_plain))
        return tokens or 1


def estimate(text: str) -> int:
    """Return about how many tokens *text* is, 0 for none.

    >>> estimate("Where do we meet?"), estimate("我们在哪里见面？")
    (5, 8)
    """
    # In UTF-8 a Chinese, Japanese or Korean character has two bytes more than an English one, Cyrillic and the like one.
    wide = 0 if text.isascii() else (len(text.encode()) - len(text)) // 2
    narrow = len(text) - wide
    return wide + -(-narrow // CHARACTERS_PER_TOKEN)


def _plain(value: object) -> object:
    """Turn mappings and sequences that are no dict and no list into what ``json`` can write."""
    if isinstance(value, Mapping):
        return dict(cast("Mapping[object, object]", value))
    if isinstance(value, Sequence):
        return list(cast("Sequence[object]", value))
    raise TypeError(f"{type(value).__name__} is no JSON")


token_counter: Final = Layer.succeed(TokenCounterTag, EstimatedTokens())
