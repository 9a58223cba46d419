r"""``shown``: text as it may be put before a model or a terminal: nothing in it that cannot be seen.

What is shown is not what is stored: controls and characters without a shape are left out here, and stay in the store.
"""

import re
from typing import Final

_LINE_BREAK: Final = "\r\n?|[\v\f\x85\u2028\u2029]"
_WITHOUT_SHAPE: Final = (
    "[\0-\x08\x0e-\x1f\x7f-\x9f"  # C0 and C1, line breaks and the tabulator aside
    # Default_Ignorable_Code_Point of Unicode 16: bidi controls, zero widths, fillers, selectors, the hidden tag alphabet.
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    r"\ud800-\udfff"  # half a character is none; raw, because mypy 1.20 to 2.3 break down over one in a constant
    "\u2800\ufff9-\ufffb]"  # the empty Braille cell and annotations are as invisible as those
)


def shown(text: str) -> str:
    r"""Return *text* as it may be shown: line breaks of every kind as one, and nothing that cannot be seen.

    >>> shown("a\u202eb\x1b[31m\u2028c")
    'ab[31m\nc'
    """
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text  # compiling the patterns would take longer than a short command has
    return re.sub(_WITHOUT_SHAPE, "", re.sub(_LINE_BREAK, "\n", text))
