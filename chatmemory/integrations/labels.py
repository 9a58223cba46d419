"""``label_of``: converts any text to a label of a namespace or a key, and ``text_of``: converts it back."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from chatmemory.input.rules import is_encodable

_EMPTY: Final = "%"
_REMEMBERED: Final = 512  # many items share a namespace


@lru_cache(_REMEMBERED)
def label_of(text: str) -> str:
    """Return *text* as a label, which is not empty and holds neither ``.`` nor NUL.

    >>> label_of("1.5 %"), label_of("")
    ('1%2E5 %25', '%')

    Raises:
        ValueError: it has half a character (a lone surrogate).
    """
    escaped = text.replace("%", "%25").replace(".", "%2E").replace("\0", "%00")
    if not is_encodable(escaped):
        msg = f"{text!r} has half a character (a lone surrogate), which no store can keep in a name"
        raise ValueError(msg)
    return escaped or _EMPTY


def text_of(label: str) -> str:
    """Return the text that ``label_of`` made *label* from."""
    return "" if label == _EMPTY else re.sub("%(25|2E|00)", lambda found: chr(int(found[1], 16)), label)
