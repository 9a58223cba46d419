"""``surroundings``: what a conversation adds to the score of one of its texts: for its neighbours, the best texts, the speaker.

The rankings of memories and of past chats use it.  The numbers were found on labelled conversations, English and Chinese;
``benchmarks/retrieval.py`` measures them.

An answer seldom repeats the words of its question: "Berlin, for three years now" is found by the text before it, "Where do
you live?".  A reply is about the question before it, and a text that only asks has no information.  These signals count for
queries in Latin script: R@5 + 3.1 for replies, and 1.1 for the other two.  In Chinese, where a question needs no mark, R@5
would lose 1.8.
"""

from __future__ import annotations

import re
from heapq import nlargest
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

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

QUESTION_SHARE: Final = 0.25
"""The share that a text gets of the score of the question before it, which it probably answers."""

QUESTION_CHARACTERS: Final = 80  # a longer text contains more than a question
REPLY_CHARACTERS: Final = 160  # a longer text contains more than a reply

ASKING_MALUS: Final = 0.1
ASKING_CHARACTERS: Final = 120  # a longer text that ends with a question contains information too

TIME_BONUS: Final = 0.1
"""The bonus for a text that names a time, if the query asks when."""

TIMED_CHARACTERS: Final = 1024
"""The number of characters of a text in which times are searched."""

SHORTEST_NAME: Final = 2  # characters
READ_CHARACTERS: Final = 4096
"""The number of characters of a query in which names are searched."""

_ASKS_WHEN: Final = r"(?:when|how long ago|(?:in )?(?:what|which) (?:day|date|week|month|year|time))\b"
_TIME: Final = (
    r"\b(?:yesterday|today|tonight|tomorrow|last|next|ago|weekend|week|month|year|morning|monday|tuesday|wednesday|thursday"
    r"|friday|saturday|sunday|january|february|march|april|may|june|july|august|september|october|november|december|\d{4})\b"
)


class ConversationTexts(NamedTuple):
    """Texts of conversations.

    Attributes:
        texts: shape ``(count,)``.
        speakers: shape ``(count,)``, the speaker of each text; None when it is unknown.
        parts: the places in *texts* of some texts of one conversation, in the order in which they were said.
        replies: the places of two texts, of which the second was said directly after the first.
        asking: the places of the texts that count less if they only ask.
    """

    texts: Sequence[str]
    speakers: Sequence[str | None]
    parts: Sequence[Sequence[int]]
    replies: Sequence[tuple[int, int]]
    asking: Iterable[int]


class Surroundings(NamedTuple):
    """What is added to the score of each text besides its own words and vector; each of shape ``(count,)``.

    Attributes:
        neighbour: for the texts beside it, and the question that it answers; below 0 when it only asks.
        conversation: for the best texts of its conversation.
        speaker: for being said by the person whom the query names.
        date: for the time that the query names or asks for.
    """

    neighbour: list[float]
    conversation: list[float]
    speaker: list[float]
    date: list[float]


def surroundings(
    query: str, said: ConversationTexts, scores: Sequence[float], dates: list[float]
) -> Surroundings:
    """Return what the surroundings of each text add to its score.

    *scores*, shape ``(count,)``, are those of each text by its own words and vector; *dates*, shape ``(count,)``, are
    what each text gets for the time that the query names.
    """
    neighbour = beside(said.parts, scores)
    scores = _sums(scores, neighbour)
    if is_latin(query):
        replies = of_questions(said, scores)
        scores = [score + max(0.0, more) for score, more in zip(scores, replies, strict=True)]
        neighbour = _sums(neighbour, replies)
        dates = _sums(dates, of_times(query, said.texts))
    return Surroundings(neighbour, of_best(said.parts, scores), of_speakers(query, said.speakers), dates)


def beside(parts: Iterable[Sequence[int]], scores: Sequence[float]) -> list[float]:
    """Return what each text gets for the better of the two texts beside it in its part; 0 for a text without a neighbour.

    A part has the places of its texts in *scores*, in order; *scores* and the result have the shape ``(count,)``.
    """
    best = [0.0] * len(scores)
    for part in parts:
        for one, other in pairwise(part):
            best[one] = max(best[one], scores[other])
            best[other] = max(best[other], scores[one])
    return [NEIGHBOUR_SHARE * score for score in best]


def of_best(parts: Iterable[Sequence[int]], scores: Sequence[float]) -> list[float]:
    """Return what each text gains by the best three texts of its part; where it has fewer, the missing ones count as 0.

    The result has the shape ``(count,)``; a text that is in no part gains 0.
    """
    shares = [0.0] * len(scores)
    for part in parts:
        best = nlargest(BEST_OF_CONVERSATION, (scores[place] for place in part))
        for place in part:
            shares[place] = CONVERSATION_SHARE * sum(best) / BEST_OF_CONVERSATION
    return shares


def of_speakers(query: str, speakers: Sequence[str | None]) -> list[float]:
    """Return the bonus of each text for its speaker; 0 for all unless *query* names exactly one of the speakers.

    *speakers*, None for an unknown one, and the result have the shape ``(count,)``.
    """
    text = query[:READ_CHARACTERS].casefold()
    named = [speaker for speaker in {*speakers} if speaker and _is_named(speaker.casefold(), text)]
    if len(named) != 1:
        return [0.0] * len(speakers)
    return [SPEAKER_BONUS if speaker == named[0] else 0.0 for speaker in speakers]


def is_latin(query: str) -> bool:
    """Return whether *query* holds no Chinese, Japanese or Korean."""
    return query.isascii() or re.search(CJK_RUN, query) is None


def of_questions(said: ConversationTexts, scores: Sequence[float]) -> list[float]:
    """Return the bonus of each text for the question before it, minus a malus if it only asks.

    The result has the shape ``(count,)``, and is ``-ASKING_MALUS`` or more.
    """
    shares = [0.0] * len(said.texts)
    for place in said.asking:
        if len(said.texts[place]) < ASKING_CHARACTERS and said.texts[place].rstrip().endswith("?"):
            shares[place] = -ASKING_MALUS
    for asked, answered in said.replies:
        question, reply = said.texts[asked], said.texts[answered]
        if "?" in question:
            shares[answered] += (
                QUESTION_SHARE
                * scores[asked]
                * min(1.0, QUESTION_CHARACTERS / len(question))
                * min(1.0, REPLY_CHARACTERS / max(1, len(reply)))
            )
    return shares


def of_times(query: str, texts: Sequence[str]) -> list[float]:
    """Return the bonus of each text for naming a time; 0 for all unless *query* asks when."""
    if not re.match(_ASKS_WHEN, query.strip().lower()):
        return [0.0] * len(texts)
    return [TIME_BONUS if re.search(_TIME, text[:TIMED_CHARACTERS].lower()) else 0.0 for text in texts]


def _sums(ones: Sequence[float], others: Sequence[float]) -> list[float]:
    return [one + other for one, other in zip(ones, others, strict=True)]


def _is_named(name: str, text: str) -> bool:
    """Return whether *text* has *name* as a word, or anywhere when the script writes words without spaces."""
    if len(name) < SHORTEST_NAME or name in STOP_WORDS or name not in text:
        return False
    if not name.isascii() and re.search(CJK_RUN, name):
        return True
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None
