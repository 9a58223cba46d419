"""The fence around recalled text: drawn anew for each block, and taken out again with what stands inside."""

import re
from collections.abc import Sequence
from random import Random
from typing import Final

FENCE_BITS: Final = 64  # nobody guesses it, and it costs a model some 10 tokens
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
    """Return a random fence that occurs in none of *lines*: 16 hexadecimal digits."""
    while True:
        fence = f"{chance.getrandbits(FENCE_BITS):0{FENCE_DIGITS}x}"
        if not any(fence in line for line in lines):
            return fence


def without_recalled_blocks(text: str) -> str:
    """Return *text* with line breaks in the place of each character of a block that memory itself put before the model.

    It stays as long as it was, so that a place in it is a place in *text*.  Finds blocks quoted, indented and repeated,
    with anything between the marks; where a mark is missing, the lines that only a block can have.  Takes time in
    proportion to the text, whoever wrote it.
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
