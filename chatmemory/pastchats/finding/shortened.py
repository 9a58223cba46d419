"""Shortening: as much of a text as there is room for, ended where a person would end it."""

from __future__ import annotations

from typing import Final

MORE: Final = " [...]"
FENCE: Final = "```"
_ENDS: Final = ("\n\n", "\n", ". ", "! ", "? ", "。", "！", "？", "；", "; ", ", ", "，", " ")
_LEAST_SHARE: Final = 0.6  # of the room: what ends earlier wastes too much of it


def shortened(text: str, characters: int) -> str:
    """Return *text*, or its beginning of at most *characters*, ended at a line, a sentence or a word.

    Code that is cut keeps its closing fence, so that what follows is no code.

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
    r"""Return the beginning of *text* in one line; code within a line needs no fence.

    >>> one_line("We get this:\n```\nunknown field\n```", 100)
    'We get this: unknown field'
    """
    return shortened(" ".join(text[: characters * 4].replace(FENCE, " ").split()), characters)
