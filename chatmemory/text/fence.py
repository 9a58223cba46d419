"""Random fences for recalled text, and the removal of fenced blocks from text that a model or a user repeats."""

import re
from collections.abc import Sequence
from random import Random
from typing import Final

FENCE_BITS: Final = 64  # impossible to guess, and only some 10 tokens
FENCE_DIGITS: Final = FENCE_BITS // 4
OPENING: Final = "What follows, up to the closing mark, "
# A model that repeats a block may quote it, indent it, or write its marks as HTML.
_REPEATED_MARK: Final = rf"(?:<|&lt;)(/?)recalled-data +([0-9a-f]{{{FENCE_DIGITS}}})(?:>|&gt;)"
_MARK: Final = re.compile(_REPEATED_MARK, re.IGNORECASE)
_STRING: Final = r'"(?:[^"\\\n]|\\.)*"'
_LINE_OF_A_BLOCK: Final = re.compile(
    r"^[ \t>|*+-]*(?:"
    + "|".join(
        (
            _REPEATED_MARK,
            f"{OPENING}.*",
            rf'\{{"memory": {_STRING}, "source": .*',
            rf'\{{"message": {_STRING}, "said_by": .*',
        )
    )
    + r")[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)


def fresh_fence(lines: Sequence[str], chance: Random) -> str:
    """Return a random fence of 16 hexadecimal digits that occurs in none of *lines*."""
    while True:
        fence = f"{chance.getrandbits(FENCE_BITS):0{FENCE_DIGITS}x}"
        if not any(fence in line for line in lines):
            return fence


def without_recalled_blocks(text: str) -> str:
    """Return *text* with every character of a recalled block replaced by a line break.

    The result has the same length, so that its indices are indices of *text*.  Blocks are found even if they are quoted,
    indented or repeated, with any text between the marks; if a mark is missing, lines that only a block can have are
    removed.  The time is linear in the length of the text, even if it was written to be slow.
    """
    closing: dict[str, int] = {}
    end_of: dict[int, int] = {}
    for mark in reversed([*_MARK.finditer(text)]):
        closes, fence = mark[1], mark[2].lower()
        if closes:
            closing[fence] = mark.end()
        elif fence in closing:
            end_of[mark.start()] = closing[fence]
    kept: list[str] = []
    at = 0
    for start in sorted(end_of):
        if start >= at:
            kept += text[at:start], "\n" * (end_of[start] - start)
            at = end_of[start]
    kept.append(text[at:])
    return _LINE_OF_A_BLOCK.sub(lambda line: "\n" * len(line[0]), "".join(kept))
