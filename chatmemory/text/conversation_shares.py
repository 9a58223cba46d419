"""What a conversation adds to the score of one of its texts: for its neighbours, the best texts, the speaker.

The rankings of memories and of past chats use it.  A *part* holds the places of some texts of one conversation, in the
order in which they were said.  The numbers were found on labelled conversations; ``benchmarks/retrieval.py`` measures them.
"""

from __future__ import annotations

import re
from heapq import nlargest
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from chatmemory.text.stop_words import CJK_RUN, STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

NEIGHBOUR_SHARE: Final = 0.3
"""How much of the score of the better of its two neighbours a text gets, because an answer is next to its question.

R@5 + 5.5, the largest single gain."""

CONVERSATION_SHARE: Final = 0.2
"""How much a text gets of the mean score of the best texts of its part: R@5 + 2.5."""

BEST_OF_CONVERSATION: Final = 3

SPEAKER_BONUS: Final = 0.2
"""What a text gets for being said by the only person whom the query names: nDCG + 1.2 to 5.6."""

SHORTEST_NAME: Final = 2  # characters
READ_CHARACTERS: Final = 4096
"""The number of characters of a query in which names are searched."""


def beside(parts: Iterable[Sequence[int]], scores: Sequence[float]) -> list[float]:
    """Return what each text gets for the better of the two texts beside it.

    Args:
        parts: the places in *scores* of the texts of each part; two that follow each other are neighbours.
        scores: shape ``(count,)``.

    Returns:
        shape ``(count,)``; 0 for a text without a neighbour.
    """
    best = [0.0] * len(scores)
    for part in parts:
        for one, other in pairwise(part):
            best[one] = max(best[one], scores[other])
            best[other] = max(best[other], scores[one])
    return [NEIGHBOUR_SHARE * score for score in best]


def of_best(parts: Iterable[Sequence[int]], scores: Sequence[float]) -> list[float]:
    """Return what each text gains by the best three texts of its part; where it has fewer, the missing ones count as 0.

    Args:
        parts: the indices in *scores* of the texts of each part.
        scores: shape ``(count,)``.

    Returns:
        shape ``(count,)``; 0 for a text that is in no part.
    """
    shares = [0.0] * len(scores)
    for part in parts:
        best = nlargest(BEST_OF_CONVERSATION, (scores[place] for place in part))
        for place in part:
            shares[place] = CONVERSATION_SHARE * sum(best) / BEST_OF_CONVERSATION
    return shares


def of_speakers(query: str, speakers: Sequence[str | None]) -> list[float]:
    """Return the bonus of each text for its speaker; 0 for all unless *query* names exactly one of the speakers.

    Args:
        query: as the caller wrote it.
        speakers: shape ``(count,)``, the speaker of each text; None when it is unknown.

    Returns:
        shape ``(count,)``.
    """
    text = query[:READ_CHARACTERS].casefold()
    named = [speaker for speaker in {*speakers} if speaker and _is_named(speaker.casefold(), text)]
    if len(named) != 1:
        return [0.0] * len(speakers)
    return [SPEAKER_BONUS if speaker == named[0] else 0.0 for speaker in speakers]


def _is_named(name: str, text: str) -> bool:
    """Return whether *text* has *name* as a word, or anywhere when the script writes words without spaces."""
    if len(name) < SHORTEST_NAME or name in STOP_WORDS or name not in text:
        return False
    if not name.isascii() and re.search(CJK_RUN, name):
        return True
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None
