"""``ranked``: ranks items for a query, in the same way on every backend.

If the query has words (the store has an embedder), words and vectors count half each, as they do for memories.  An item
with either of them is found: a small similarity puts it last instead of leaving it out.  If the query has only a vector,
the score is the cosine, and every item with a vector is found.  The user has then chosen the model, whose scale is unknown
here.
"""

from collections.abc import Sequence
from typing import Final

from attrs import frozen

from chatmemory.items.item_repository import ItemSearch
from chatmemory.text.search_terms import LEAST_SHARE, lexical_scores

LEXICAL_SHARE: Final = 0.5
"""How much of the score the words have, as ``memory.retrieval.lexicalShare`` has it for memories."""


@frozen(slots=False)  # made for every item that is looked at
class Rankable:
    """An item that may be found; *place* is the backend's own name for it.

    Attributes:
        similarity: the cosine of its best passage; None: it was not embedded with the query's model.
    """

    place: int
    updated_at_us: int
    terms: str | None
    similarity: float | None


def ranked(search: ItemSearch, items: Sequence[Rankable]) -> list[tuple[int, float]]:
    """Return the place and score of the items that *search* finds, best first, and newer ones first among equals."""
    words = _lexical(search, items)
    scored = [
        (score, item.updated_at_us, item.place)
        for item, lexical in zip(items, words, strict=True)
        if (score := _score(search, item, lexical)) is not None
    ]
    scored.sort(reverse=True)
    return [(place, score) for score, _, place in scored[search.offset : search.offset + search.limit]]


def _lexical(search: ItemSearch, items: Sequence[Rankable]) -> list[float]:
    """Return the score of each item by its words, 0 to 1."""
    if not search.terms:
        return [0.0] * len(items)
    least = 0.0 if search.vector is None else LEAST_SHARE
    return lexical_scores(search.terms, [item.terms or "" for item in items], least_share=least)


def _score(search: ItemSearch, item: Rankable, lexical: float) -> float | None:
    if not search.terms:
        return item.similarity
    if search.vector is None:
        return lexical or None
    if item.similarity is None and not lexical:
        return None
    return LEXICAL_SHARE * lexical + (1 - LEXICAL_SHARE) * max(0.0, item.similarity or 0.0)
