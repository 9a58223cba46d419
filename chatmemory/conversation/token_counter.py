"""``TokenCounter``: counts the tokens of a message; and the default counter, an estimate that needs no tokenizer.

Models differ, so the estimate is rather too high for English, and is within 25 % for Chinese.  For exact numbers, provide
a counter for your own model under ``TokenCounterTag``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, Protocol, cast, final

from chatmemory.effect import Layer, Tag
from chatmemory.input.json_value import AS_GIVEN as AS_GIVEN  # noqa: PLC0414  adapters import it from here

if TYPE_CHECKING:
    from chatmemory.conversation.messages import ChatMessage
    from chatmemory.conversation.new_message import NewMessage


class TokenCounter(Protocol):
    """Counts the tokens of messages as a model sees them."""

    def count(self, message: NewMessage | ChatMessage, /) -> int:
        """Return the number of tokens of the message, at least 1.

        Metadata (tool calls) is counted too, except the value under ``AS_GIVEN``.
        """
        ...


class TokenCounterTag(Tag[TokenCounter]):
    """The tag under which layers provide ``TokenCounter``."""


CHARACTERS_PER_TOKEN: Final = 4  # English and code in the tokenizers in use: 3.5 to 4.5


@final
class EstimatedTokens:
    """Counts one token for each CJK character, one for 4 English characters, and a number between for other scripts."""

    def count(self, message: NewMessage | ChatMessage, /) -> int:
        """Return the tokens of the content and of the metadata as JSON, without ``AS_GIVEN``; at least 1."""
        tokens = estimate(message.content)
        if message.metadata:
            metadata = {name: value for name, value in message.metadata.items() if name != AS_GIVEN}
            if metadata:
                tokens += estimate(json.dumps(metadata, ensure_ascii=False, default=_plain))
        return tokens or 1


def estimate(text: str) -> int:
    """Return an estimate of the number of tokens of *text*; 0 for an empty text.

    >>> estimate("Where do we meet?"), estimate("我们在哪里见面？")
    (5, 8)
    """
    # In UTF-8 a Chinese, Japanese or Korean character has two more bytes than an English one, a Cyrillic one has one more.
    wide = 0 if text.isascii() else (len(text.encode()) - len(text)) // 2
    narrow = len(text) - wide
    return wide + -(-narrow // CHARACTERS_PER_TOKEN)


def _plain(value: object) -> object:
    """Return a mapping as a dict and a sequence as a list, because ``json`` writes no others."""
    if isinstance(value, Mapping):
        return dict(cast("Mapping[object, object]", value))
    if isinstance(value, Sequence):
        return list(cast("Sequence[object]", value))
    raise TypeError(f"{type(value).__name__} is no JSON")


token_counter: Final = Layer.succeed(TokenCounterTag, EstimatedTokens())
