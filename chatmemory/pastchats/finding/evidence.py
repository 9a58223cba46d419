"""Decides whether an exchange that a search found is relevant to the query.

A search shows the nearest turns, even if they are not near.  A recall tells an agent what to build on, so it shows only
exchanges about the query, or nothing: how a Docker build became fast is not about ``build webhook retries``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from chatmemory.pastchats.finding.prompt_terms import search_terms_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chatmemory.input.choices import RecallMode
    from chatmemory.pastchats.finding.prompt_hits import Exchange

ALIKE: Final = 0.5
"""A hit with this cosine is about the query, whatever its words are."""

SHARE_OF_WORDS: Final = 0.4
SHARE_OF_PAIRS: Final = 0.2  # many pairs of Chinese characters belong to two words
ENOUGH_TERMS: Final = 3
"""An exchange must share ``SHARE_OF_WORDS`` of the query's words and ``SHARE_OF_PAIRS`` of its pairs; for a long query,
``ENOUGH_TERMS`` shared terms are enough.  On labelled sessions these figures and ``ALIKE`` answer 118 of 120 questions, and
return nothing for 72 of 80 prompts about something else."""

SURELY_ALIKE: Final = 0.6
TOLD_SHARE_OF_WORDS: Final = 0.3
TOLD_SHARE_OF_PAIRS: Final = 0.2
"""Stricter figures for a recall that the user did not ask for.  A long prompt shares three words with almost any text, and
longer English texts have a cosine of 0.5.  With the figures above, thirty of forty prompts about something else recalled a
session; with these, only prompts whose subject another session shares do, and two of 119 questions get no answer."""

READ_CHARACTERS: Final = 16_384  # characters read of each turn
SHORTEST_STEM: Final = 4
ENDING: Final = 3  # longest ending that is removed: retry, retries, retried; index, indexing
_WORD: Final = r"[^\W_]+"


def is_about(exchange: Exchange, terms: Sequence[str], mode: RecallMode) -> bool:
    """Return whether *exchange*, which a query with *terms* found, is about the query.

    In the mode ``like`` it is, because it contains the text of the query.
    """
    if mode == "like" or (exchange.hit.similarity or 0.0) >= ALIKE:
        return True
    needed = _sum(terms, of_a_word=SHARE_OF_WORDS, of_a_pair=SHARE_OF_PAIRS)
    return 0 < _shared(exchange, terms) >= min(needed, ENOUGH_TERMS)


def is_worth_telling(exchange: Exchange, terms: Sequence[str], mode: RecallMode) -> bool:
    """Return whether *exchange* is about a query so clearly that it may be shown to a user who did not ask for it."""
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
    """Return how many of *terms* occur in *exchange*, in any case and with any ending."""
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
