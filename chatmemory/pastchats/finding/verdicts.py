"""Decides whether a user's next turn shows that an answer worked, or that it failed.

Most turns show neither, and then there is no verdict: a wrong failure would keep an agent from a solution that works.
Words count only if they are about the answer: ``it still fails`` is a verdict, ``what if it fails?`` is a question.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from chatmemory.pastchats.finding.verdict_words import (
    ASKS_BACK,
    BUT,
    FAILED,
    FAILED_CHINESE,
    REFUSAL,
    REPORTS,
    UNSURE,
    WHENEVER,
    WORKED,
    WORKED_CHINESE,
)

if TYPE_CHECKING:
    from chatmemory.pastchats.finding.verdict_words import Patterns


TAG: Final = "user_query"  # the tag in which Cursor encloses the text of the user


def own_words(text: str) -> str:
    r"""Return *text* without the tag of Cursor, if it encloses the whole text.

    >>> own_words("<user_query>\nsort by id?\n</user_query>\n"), own_words("what does <user_query> mean?")
    ('sort by id?', 'what does <user_query> mean?')
    """
    said = text.strip()
    begin, end = f"<{TAG}>", f"</{TAG}>"
    if said.startswith(begin) and said.endswith(end):
        return said[len(begin) : -len(end)].strip()
    return text


Verdict: TypeAlias = Literal["worked", "failed"]

READ: Final = 400  # characters: a verdict is at the beginning
REPORT_READ: Final = 4_000  # characters in which a pasted error report is searched


def verdict(text: str, *, answer: str = "") -> Verdict | None:
    """Return whether *text*, the user's turn after *answer*, shows that the answer worked or failed; None if neither.

    >>> verdict("Still failing, same error"), verdict("thanks, that fixed it"), verdict("还是报错"), verdict("好了，可以了")
    ('failed', 'worked', 'failed', 'worked')
    >>> verdict("What should happen when it fails?"), verdict("Now add a test"), verdict("no, leave it", answer="Shall I push?")
    (None, None, None)
    """
    return _verdict(own_words(text)[:REPORT_READ], asks_back(answer))


def asks_back(text: str) -> bool:
    """Return whether *text* ends with a question."""
    return re.search(ASKS_BACK, text[-READ:]) is not None


@lru_cache(maxsize=256)
def _verdict(text: str, asked_back: bool) -> Verdict | None:
    beginning = text[:READ].lower().replace("’", "'")
    failed, worked = _first(FAILED, beginning), _first(WORKED, beginning)
    if not beginning.isascii():
        failed = _earlier(failed, _first(FAILED_CHINESE, beginning))
        worked = _earlier(worked, _first(WORKED_CHINESE, beginning))
    if failed is not None and asked_back and re.search(REFUSAL, beginning[failed:]):
        failed = None  # "no" answers the assistant's question
    if failed is not None and worked is not None:
        return "failed" if failed < worked or re.search(BUT, beginning) else "worked"
    if failed is not None:
        return "failed"
    if worked is not None:
        return "worked"
    is_report = any(_places(REPORTS, text))
    return "failed" if is_report else None


def _earlier(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else min(one, other)


def _first(patterns: Patterns, text: str) -> int | None:
    """Return the first place where one of *patterns* matches and is not cancelled by a condition or a negation."""
    sure = (found.start() for found in _places(patterns, text) if _is_sure(text, found))
    return min(sure, default=None)


def _is_sure(text: str, found: re.Match[str]) -> bool:
    if re.match(WHENEVER, text[found.end() :]):
        return False
    return re.search(UNSURE, text[: found.start()]) is None


def _places(patterns: Patterns, text: str) -> list[re.Match[str]]:
    return [
        found
        for parts, pattern in patterns
        if any(part in text for part in parts)
        for found in re.finditer(pattern, text, re.MULTILINE)
    ]
