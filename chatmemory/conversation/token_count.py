"""The default ``TokenCounter``: an estimate that needs no tokenizer.

Models differ, so the estimate errs to the high side for English and stays within a quarter for Chinese.  Who needs
exact figures provides a counter of his own model under ``TokenCounterTag``.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Final, cast, final

from chatmemory.contracts import TokenCounterTag
from chatmemory.effect import Layer
from chatmemory.messages import ChatMessage, NewMessage

CHARACTERS_PER_TOKEN: Final = 4  # English and code in the tokenizers in use: 3.5 to 4.5

# Kana, Han, Hangul and what is written at their width: about a token each.
_CJK: Final = re.compile(
    "[\u3000-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003134f]+"
)


@final
class EstimatedTokens:
    """Counts a token for each CJK character and one for every 4 other characters."""

    def count(self, message: NewMessage | ChatMessage, /) -> int:
        """Return the tokens of the content and of the metadata as JSON text; at least 1."""
        tokens = estimate(message.content)
        if message.metadata:
            tokens += estimate(json.dumps(message.metadata, ensure_ascii=False, default=_plain))
        return tokens or 1


def estimate(text: str) -> int:
    """Return about how many tokens *text* is, 0 for none.

    >>> estimate("Where do we meet?"), estimate("我们在哪里见面？")
    (5, 8)
    """
    if text.isascii():  # a look at a flag, so that the common case costs no scan
        return -(-len(text) // CHARACTERS_PER_TOKEN)
    others = len(_CJK.sub("", text))
    return len(text) - others + -(-others // CHARACTERS_PER_TOKEN)


def _plain(value: object) -> object:
    """Turn mappings and sequences that are no dict and no list into what ``json`` can write."""
    if isinstance(value, Mapping):
        return dict(cast("Mapping[object, object]", value))
    if isinstance(value, Sequence):
        return list(cast("Sequence[object]", value))
    raise TypeError(f"{type(value).__name__} is no JSON")


token_counter: Final = Layer.succeed(TokenCounterTag, EstimatedTokens())
