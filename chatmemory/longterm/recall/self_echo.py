"""The self-echo guard: whether a text says what memory itself has put before a model, and nothing beyond it.

Without it a recalled memory is extracted again from the answer that uses it, and recalled twice the next time.  What
stands in a fence is left out before, by ``recalled_block.py``; here it is what the model repeats in its own sentences.
The guard lets pass what it is not sure of: a true copy too many is found by its dedup key, a fact too few by nobody.
"""

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from chatmemory.text.search_terms import HAN

LEAST_WORDS: Final = 2  # a name alone is said by everybody

_WORD: Final = re.compile(rf"[{HAN}]|[^\W{HAN}]+(?:['’]\w+)?")
_WITHOUT_MEANING: Final = frozenset(
    """a an the i you we me us my your our mine yours i'm you're we're i've you've am are is be do does that
    我 你 您 们 的 了 是 也 都 还 就""".split()  # noqa: SIM905  a list of quoted words is hard to read
)
"""Words that differ between "I like jazz" and "that you like jazz"."""

_TURN: Final = re.compile(
    r"\b(?:not|no|never|nor|without|hardly|used to|formerly|previously|if|unless|cannot|\w+n't)\b"
    r"|[不没無无别未曾]|以前|之前|从前|如果|要是",
    re.IGNORECASE,
)
"""Words that turn a statement into another one."""


def is_echo(text: str, injected: Iterable[str]) -> bool:
    """Return whether one of the *injected* texts contains everything that *text* says, in the same order.

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
    """Join *words* so that a run of them is found as a part, and half a word is not."""
    return f" {' '.join(words)} "


def _turns(text: str) -> set[str]:
    return {turn.casefold() for turn in _TURN.findall(text)}
