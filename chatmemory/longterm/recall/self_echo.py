"""The self-echo guard: it finds texts that only repeat a memory which a model was shown.

Without it, a recalled memory is extracted again from the answer that uses it, and is recalled twice the next time.
``recalled_block.py`` has already removed the fenced blocks of memories; this guard finds what the model repeats in its own
sentences.  In doubt, a text is not an echo: the dedup key finds an exact copy later, but nothing finds a lost fact.
"""

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from chatmemory.text.stop_words import HAN

LEAST_WORDS: Final = 2  # a name alone is too common

_WORD: Final = re.compile(rf"[{HAN}]|[^\W{HAN}]+(?:['’]\w+)?")
_WITHOUT_MEANING: Final = frozenset(
    """a an the i you we me us my your our mine yours i'm you're we're i've you've am are is be do does that
    我 你 您 们 的 了 是 也 都 还 就""".split()  # noqa: SIM905  a list of quoted words is hard to read
)
"""Words that are ignored, because they differ between "I like jazz" and "that you like jazz"."""

_TURN: Final = re.compile(
    r"\b(?:not|no|never|nor|without|hardly|used to|formerly|previously|if|unless|cannot|\w+n't)\b"
    r"|[不没無无别未曾]|以前|之前|从前|如果|要是",
    re.IGNORECASE,
)
"""Words that change the meaning of a statement, for example into its opposite."""


def is_echo(text: str, injected: Iterable[str]) -> bool:
    """Return whether a text only repeats a memory.

    Args:
        text: the text to check.
        injected: the contents of the memories that a model was shown.

    Returns:
        True when one of *injected* contains all words of *text* in the same order, and both have the same negations.

    >>> is_echo("You live in Berlin.", ["I live in Berlin, near the lake."])
    True
    >>> is_echo("I live in Berlin.", ["I don't live in Berlin."]), is_echo("I live in Bonn", ["I live in Berlin"])
    (False, False)
    """
    words = _words(text)
    if len(words) < LEAST_WORDS:
        return False
    said = _run(words)
    return any(said in _run(_words(other)) and _turns(text) == _turns(other) for other in injected)


def _words(text: str) -> list[str]:
    folded = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    return [word for word in _WORD.findall(folded) if word not in _WITHOUT_MEANING]


def _run(words: list[str]) -> str:
    """Join *words* so that a search finds a sequence of whole words, but no part of a word."""
    return f" {' '.join(words)} "


def _turns(text: str) -> set[str]:
    return {turn.casefold() for turn in _TURN.findall(text)}
