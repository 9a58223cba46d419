r"""``shown``: text without invisible characters; ``shortened`` and ``one_line``: the beginning of a text.

Both prepare text for a model or a terminal.  Control characters and invisible characters are left out; the store keeps them.
"""

import re
from datetime import datetime
from typing import Final

_LINE_BREAK: Final = "\r\n?|[\v\f\x85\u2028\u2029]"
_WITHOUT_SHAPE: Final = (
    "[\0-\x08\x0e-\x1f\x7f-\x9f"  # C0 and C1, except line breaks and the tab
    # Default_Ignorable_Code_Point of Unicode 16: bidi controls, zero widths, fillers, selectors, the hidden tag alphabet.
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    r"\ud800-\udfff"  # half a character is none; raw, because mypy 1.20 to 2.3 break down over one in a constant
    "\u2800\ufff9-\ufffb]"  # the empty Braille cell and annotations are as invisible as those
)


def shown(text: str) -> str:
    r"""Return *text* without control and invisible characters, with every kind of line break as ``\n``.

    >>> shown("a\u202eb\x1b[31m\u2028c")
    'ab[31m\nc'
    """
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text  # for a short command, compiling the patterns would take too long
    return re.sub(_WITHOUT_SHAPE, "", re.sub(_LINE_BREAK, "\n", text))


def shown_name(name: str) -> str:
    r"""Return a name, an id or a path as ``shown`` does, on one line: otherwise it could imitate lines of an answer.

    >>> shown_name("a\nb")
    'a b'
    """
    return shown(name).replace("\n", " ")


def local_time(instant: datetime, form: str = "%Y-%m-%d %H:%M") -> tuple[str, str]:
    """Return *instant* in the time zone of this machine, and that zone: ``UTC`` or ``+08:00``."""
    try:
        here = instant.astimezone()
    except (OverflowError, ValueError, OSError):  # beyond the first or the last day of the calendar
        here = instant
    zone = f"{here:%z}"
    return f"{here:{form}}", "UTC" if zone == "+0000" else f"{zone[:3]}:{zone[3:5]}"


MORE: Final = " [...]"
FENCE: Final = "```"
_ENDS: Final = ("\n\n", "\n", ". ", "! ", "? ", "。", "！", "？", "；", "; ", ", ", "，", " ")
_LEAST_SHARE: Final = 0.6  # of the allowed length: a text that ends earlier wastes too much of it


def shortened(text: str, characters: int) -> str:
    """Return *text*, or its beginning of at most *characters*, cut at the end of a line, a sentence or a word.

    Code that is cut gets a closing fence, so that the text after it is not shown as code.

    >>> shortened("Use WAL. It lets readers read while one writes. Set it once.", 50)
    'Use WAL. It lets readers read while one [...]'
    """
    text = text.strip()
    if len(text) <= characters:
        return text
    room = max(characters - len(MORE), 0)
    if text[:room].count(FENCE) % 2:
        room = max(room - len(FENCE) - 1, 0)
    beginning = text[:room]
    kept = beginning
    for end in _ENDS:
        at = beginning.rfind(end)
        if at >= room * _LEAST_SHARE:
            kept = beginning[: at + len(end)]
            break
    kept = kept.rstrip()
    if kept.count(FENCE) % 2:
        return f"{kept}\n{FENCE}{MORE}"
    return f"{kept}{MORE}"


def one_line(text: str, characters: int) -> str:
    r"""Return at most *characters* from the beginning of *text* as one line, as ``shown`` does, and without code fences.

    >>> one_line("We get this:\n```\nunknown field\n```", 100)
    'We get this: unknown field'
    """
    return shortened(" ".join(shown(text[: characters * 4]).replace(FENCE, " ").split()), characters)
