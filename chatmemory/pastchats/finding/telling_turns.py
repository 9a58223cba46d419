"""``telling``: what an answer in several turns comes to, in as many characters as there are.

An agent at work says what it is about to do, does it, and says at last what it has done.  What was only announced tells
nobody anything; the last turn says most, and the longest holds the code.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from chatmemory.text.shown_text import shortened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chatmemory.pastchats.prompt import Prompt

LEAST_TURN: Final = 16  # characters: "Done." tells nobody what worked
LEAST_ROOM: Final = 40
LONGEST_ANNOUNCEMENT: Final = 300
BETWEEN: Final = "\n\n"

# One line that says what comes: "Now let me run the tests:", 「我先看一下代码。」
_ANNOUNCEMENT: Final = (
    r"(?:[\w' ]{0,24}[,.!:] ?)?(?:now |first |next |then )?(?:let me|let's|i'll|i will|i'm going to|i need to|i'm now)\b[^\n]*"
    r"|(?:好的?|没问题|明白了?)?[，,。！]?(?:现在|接下来|首先)?(?:我先|我来|让我|我要|我将|我会|我去)[^\n]*"
)


def telling(turns: Sequence[Prompt], characters: int, *, found: Prompt | None = None) -> str:
    """Return those of *turns* that tell something, in their order, as many and as much as there is room for.

    The last comes before the one that was *found*, and that before the others, the longest first.
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
