"""``telling``: shortens an answer of several turns to its informative turns, within a number of characters.

An agent announces what it will do, does it, and finally reports what it has done.  Announcements have no information; the
last turn usually has the most, and the longest contains the code.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from chatmemory.text.shown_text import shortened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chatmemory.pastchats.prompt import Prompt

LEAST_TURN: Final = 16  # characters: "Done." does not say what worked
LEAST_ROOM: Final = 40
LONGEST_ANNOUNCEMENT: Final = 300
BETWEEN: Final = "\n\n"

# One line that announces the next step: "Now let me run the tests:", 「我先看一下代码。」
_ANNOUNCEMENT: Final = (
    r"(?:[\w' ]{0,24}[,.!:] ?)?(?:now |first |next |then )?(?:let me|let's|i'll|i will|i'm going to|i need to|i'm now)\b[^\n]*"
    r"|(?:好的?|没问题|明白了?)?[，,。！]?(?:现在|接下来|首先)?(?:我先|我来|让我|我要|我将|我会|我去)[^\n]*"
)


def telling(turns: Sequence[Prompt], characters: int, *, found: Prompt | None = None) -> str:
    """Return the text of the informative turns, in their order, as much as fits.

    The last turn is taken first, then the one that was found, then the others, longest first.

    Args:
        turns: the turns of an answer, oldest first.
        characters: the most characters to return.
        found: the turn that the search found; None if it is not one of *turns*.
    """
    left = [turn for turn in turns if not _is_idle(turn.content)] or [
        max(turns, key=lambda turn: len(turn.content))
    ]
    by_weight = sorted(
        left,
        key=lambda turn: (turn is left[-1], found is not None and turn.id == found.id, len(turn.content)),
        reverse=True,
    )
    told: dict[int, str] = {}
    for turn in by_weight:
        if told and characters < LEAST_ROOM:
            break
        told[turn.id] = shortened(turn.content, characters)
        characters -= len(told[turn.id]) + len(BETWEEN)
    return BETWEEN.join(told[turn.id] for turn in left if turn.id in told)


def _is_idle(text: str) -> bool:
    said = text.strip()
    if len(said) < LEAST_TURN and said.isascii():
        return True
    is_short = len(said) <= LONGEST_ANNOUNCEMENT
    return is_short and re.fullmatch(_ANNOUNCEMENT, said.replace("’", "'"), re.IGNORECASE) is not None
