"""Signals of questions and replies: a reply is about the question before it, and a turn that only asks has no information.

They are used for queries in Latin script; in Chinese, where a question needs no mark, R@5 would lose 1.8.  The numbers were
tuned on labelled conversations and are measured by ``benchmarks/retrieval.py``: R@5 + 3.1 for replies, and 1.1 for the
other two signals.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from chatmemory.text.stop_words import CJK_RUN

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from chatmemory.pastchats.prompt_repository import PromptCandidate

QUESTION_SHARE: Final = 0.25
"""The share that a turn gets of the score of the question before it, which it probably answers."""

QUESTION_CHARACTERS: Final = 80  # a longer turn contains more than a question
REPLY_CHARACTERS: Final = 160  # a longer turn contains more than a reply

ASKING_MALUS: Final = 0.1
ASKING_CHARACTERS: Final = 120  # a longer turn that ends with a question contains information too

TIME_BONUS: Final = 0.1
"""The bonus for a turn that names a time, if the query asks when."""

READ_CHARACTERS: Final = 1024
"""The number of characters of a turn in which times are searched."""

_ASKS_WHEN: Final = r"(?:when|how long ago|(?:in )?(?:what|which) (?:day|date|week|month|year|time))\b"
_TIME: Final = (
    r"\b(?:yesterday|today|tonight|tomorrow|last|next|ago|weekend|week|month|year|morning|monday|tuesday|wednesday|thursday"
    r"|friday|saturday|sunday|january|february|march|april|may|june|july|august|september|october|november|december|\d{4})\b"
)


def is_latin(query: str) -> bool:
    """Return whether *query* holds no Chinese, Japanese or Korean."""
    return query.isascii() or re.search(CJK_RUN, query) is None


def of_questions(
    found: Sequence[PromptCandidate], parts: Iterable[Sequence[int]], scores: Sequence[float]
) -> list[float]:
    """Return the bonus of each candidate for the question before it, minus a malus if it only asks.

    Args:
        found: the candidates.
        parts: the places in *found* of the turns of each part of a conversation, in the order of turns.
        scores: the score of each candidate.

    Returns:
        shape ``(count,)``, from ``-ASKING_MALUS`` up.
    """
    shares = [-ASKING_MALUS if _only_asks(candidate.prompt.content) else 0.0 for candidate in found]
    for part in parts:
        for asked, answered in pairwise(part):
            question, reply = found[asked].prompt, found[answered].prompt
            if reply.turn_index == question.turn_index + 1 and "?" in question.content:
                shares[answered] += (
                    QUESTION_SHARE
                    * scores[asked]
                    * min(1.0, QUESTION_CHARACTERS / len(question.content))
                    * min(1.0, REPLY_CHARACTERS / max(1, len(reply.content)))
                )
    return shares


def of_times(query: str, found: Sequence[PromptCandidate]) -> list[float]:
    """Return the bonus of each candidate for naming a time; 0 for all unless *query* asks when."""
    if not re.match(_ASKS_WHEN, query.strip().lower()):
        return [0.0] * len(found)
    return [
        TIME_BONUS if re.search(_TIME, candidate.prompt.content[:READ_CHARACTERS].lower()) else 0.0
        for candidate in found
    ]


def _only_asks(content: str) -> bool:
    return len(content) < ASKING_CHARACTERS and content.rstrip().endswith("?")
