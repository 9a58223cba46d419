"""Evidence: whether what a search found has to do with what was asked.

A search shows the nearest turns, even when they are far away; a recall tells an agent what to build on: what is about the
query.  How a Docker build became quick is not about ``build webhook retries``.  Where nothing is, the best is told if
anything speaks for it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from chatmemory.pastchats.finding.prompt_terms import search_terms_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chatmemory.input.choices import RecallMode
    from chatmemory.pastchats.finding.prompt_hits import Exchange, PromptHit

LEAST_SIMILARITY: Final = 0.3
"""Cosine of the best hit, where it shares no word with the query; contracts.USUAL_THRESHOLD."""

ALIKE: Final = 0.45
"""Cosine of a hit that is about the query whatever its words are."""

SHARE_OF_WORDS: Final = 0.4
SHARE_OF_PAIRS: Final = 0.2  # many a pair of Chinese characters is cut across words
ENOUGH_TERMS: Final = 3
"""How many of the query's words an exchange must share; of a long query so many are enough.  On labelled sessions these
figures and ``ALIKE`` leave out half of what has nothing to do with the question, and nothing that answers it."""

SURELY_ALIKE: Final = 0.6
TOLD_SHARE_OF_WORDS: Final = 0.3
TOLD_SHARE_OF_PAIRS: Final = 0.2
"""What it takes where nobody asked.  A long prompt shares three words with almost anything, and English texts of some length
are alike by 0.5: of forty prompts about something else thirty were told of a session, now those alone whose subject was
another session's too; two of 119 questions go without an answer."""

READ_CHARACTERS: Final = 16_384  # of a turn
SHORTEST_STEM: Final = 4
ENDING: Final = 3  # retry, retries, retried; index, indexing
_WORD: Final = r"[^\W_]+"


def is_any(hit: PromptHit, mode: RecallMode) -> bool:
    """Tell whether anything at all speaks for *hit*."""
    return mode == "like" or hit.signals.lexical > 0 or (hit.similarity or 0.0) >= LEAST_SIMILARITY


def is_about(exchange: Exchange, terms: Sequence[str], mode: RecallMode) -> bool:
    """Tell whether *exchange* is about a query with *terms*."""
    if mode == "like" or (exchange.hit.similarity or 0.0) >= ALIKE:
        return True
    needed = _sum(terms, of_a_word=SHARE_OF_WORDS, of_a_pair=SHARE_OF_PAIRS)
    return _shared(exchange, terms) >= min(needed, ENOUGH_TERMS)


def is_worth_telling(exchange: Exchange, terms: Sequence[str], mode: RecallMode) -> bool:
    """Return whether *exchange* matches *terms* so clearly that it may be shown without being asked for."""
    if not is_about(exchange, terms, mode):
        return False
    if mode == "like" or (exchange.hit.similarity or 0.0) >= SURELY_ALIKE:
        return True
    words = [term for term in terms if not term.isdigit()]
    needed = _sum(words, of_a_word=TOLD_SHARE_OF_WORDS, of_a_pair=TOLD_SHARE_OF_PAIRS)
    return _shared(exchange, words) >= needed


def _sum(terms: Sequence[str], *, of_a_word: float, of_a_pair: float) -> float:
    return sum(of_a_word if term.isascii() else of_a_pair for term in terms)


def _shared(exchange: Exchange, terms: Sequence[str]) -> int:
    """Return how many of *terms* stand in *exchange*, however they are written."""
    said = _said(exchange)
    return sum(f" {_stem(term)}" in said for term in terms)


def _said(exchange: Exchange) -> str:
    """Return the words of *exchange*, each after a space."""
    turns = (exchange.hit.prompt, *filter(None, (exchange.question,)), *exchange.worked)
    texts = {turn.id: turn.content[:READ_CHARACTERS] for turn in turns}.values()
    more = (search_terms_of(text, timestamp=None, speaker=None) for text in texts)
    words: list[str] = re.findall(_WORD, " ".join((*texts, *more)).lower())
    return f" {' '.join(words)}"


def _stem(term: str) -> str:
    return term[: max(SHORTEST_STEM, len(term) - ENDING)] if term.isascii() else term
