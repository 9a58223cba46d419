"""``surroundings``: what the session of a memory, and a date or a person in the query, add to the score of the memory.

An answer seldom repeats the words of its question: "Berlin, for three years now" is found by the message before it, "Where
do you live?".  The shares that past chats use too are in ``chatmemory/text/conversation_shares.py``.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise
from typing import Final, final

from attrs import frozen

from chatmemory.longterm.repository_values import Candidate
from chatmemory.text.conversation_shares import beside, of_best, of_speakers
from chatmemory.text.named_dates import DATED_CHARACTERS, MAY_NAME_A_DATE, of_dates
from chatmemory.text.stop_words import CJK_RUN

QUESTION_SHARE: Final = 0.25
"""How much of the score of a question goes to the memory after it, which probably answers it: R@5 + 3 on LoCoMo."""

QUESTION_CHARACTERS: Final = 80  # a longer text says more than its question
REPLY_CHARACTERS: Final = 160  # a longer text says more than its answer

ASKING_MALUS: Final = 0.1
ASKING_CHARACTERS: Final = 120  # a longer text that ends with a question says something before it

TIME_BONUS: Final = 0.1
"""What a memory gets for naming a time when the query asks when."""

READ_CHARACTERS: Final = 1024
"""How many characters of a memory are searched for times."""

_SPEAKER: Final = r"([^\s:：][^:：\n]{0,39})[:：]\s*"
_ASKS_WHEN: Final = r"(?:when|how long ago|(?:in )?(?:what|which) (?:day|date|week|month|year|time))\b"
_TIME: Final = (
    r"\b(?:yesterday|today|tonight|tomorrow|last|next|ago|weekend|week|month|year|morning|monday|tuesday|wednesday|thursday"
    r"|friday|saturday|sunday|january|february|march|april|may|june|july|august|september|october|november|december|\d{4})\b"
)


@final
@frozen
class Surroundings:
    """What is added to the score of each candidate besides its own words and vector; each of shape ``(count,)``.

    Attributes:
        neighbour: for the memories beside it in its session, and the question that it answers; below 0 when it only asks.
        session: for the best memories of its session.
        speaker: for being said by the person whom the query names.
        date: for the time that the query names or asks for.
    """

    neighbour: list[float]
    session: list[float]
    speaker: list[float]
    date: list[float]


def surroundings(
    query: str, found: Sequence[Candidate], evidence: Sequence[float], *, now: datetime
) -> Surroundings:
    """Return what the surroundings of each candidate add to its score.

    Args:
        query: as the caller wrote it.
        found: the candidates.
        evidence: shape ``(count,)``, the score of each candidate by its own words and vector, 0 to 1.
        now: the time of the query, UTC.

    Returns:
        what is added to each candidate, in the order of *found*.
    """
    nothing = [0.0] * len(found)
    date = nothing
    if re.search(MAY_NAME_A_DATE, query[:DATED_CHARACTERS]):
        date = of_dates(query, [one.memory.created_at for one in found], now=now)
    parts = _parts(found)
    if not parts:
        return Surroundings(nothing, nothing, nothing, date)
    neighbour = beside(parts, evidence)
    scores = _sums(evidence, neighbour)
    named = [re.match(_SPEAKER, one.memory.content) for one in found]
    speakers = [
        name and name[1] if one.memory.session_id else None for name, one in zip(named, found, strict=True)
    ]
    if query.isascii() or re.search(CJK_RUN, query) is None:
        texts = [
            one.memory.content[name.end() if name else 0 :] for name, one in zip(named, found, strict=True)
        ]
        replies = _of_questions(texts, parts, scores)
        scores = [score + max(0.0, more) for score, more in zip(scores, replies, strict=True)]
        neighbour = _sums(neighbour, replies)
        date = _sums(date, _of_times(query, texts))
    return Surroundings(neighbour, of_best(parts, scores), of_speakers(query, speakers), date)


def _parts(found: Sequence[Candidate]) -> list[list[int]]:
    """Return, for each session with several candidates, their places in *found* in the order of their creation."""
    sessions = defaultdict[str, list[int]](list)
    for place, one in enumerate(found):
        if one.memory.session_id is not None:
            sessions[one.memory.session_id].append(place)
    parts = [part for part in sessions.values() if len(part) > 1]
    for part in parts:
        part.sort(key=lambda place: (found[place].memory.created_at, found[place].memory.id))
    return parts


def _of_questions(
    texts: Sequence[str], parts: Sequence[Sequence[int]], scores: Sequence[float]
) -> list[float]:
    """Return what each text gets for following a question, less what it loses for only asking one."""
    shares = [0.0] * len(texts)
    for part in parts:
        for place in part:
            if len(texts[place]) < ASKING_CHARACTERS and texts[place].rstrip().endswith("?"):
                shares[place] = -ASKING_MALUS
        for asked, answered in pairwise(part):
            question, reply = texts[asked], texts[answered]
            if "?" in question:
                shares[answered] += (
                    QUESTION_SHARE
                    * scores[asked]
                    * min(1.0, QUESTION_CHARACTERS / len(question))
                    * min(1.0, REPLY_CHARACTERS / max(1, len(reply)))
                )
    return shares


def _of_times(query: str, texts: Sequence[str]) -> list[float]:
    """Return what each text gets for naming a time: 0 unless *query* asks when."""
    if not re.match(_ASKS_WHEN, query.strip().lower()):
        return [0.0] * len(texts)
    return [TIME_BONUS if re.search(_TIME, text[:READ_CHARACTERS].lower()) else 0.0 for text in texts]


def _sums(ones: Sequence[float], others: Sequence[float]) -> list[float]:
    return [one + other for one, other in zip(ones, others, strict=True)]
