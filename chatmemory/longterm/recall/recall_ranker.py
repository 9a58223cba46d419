"""``RecallRanker``: what decides which of a search's candidates are hits, and their order.

Candidates with their features go in, scores with named signals come out: a better ranking, a learned one for example,
takes the place of the default without touching any search.
"""

from datetime import datetime
from typing import Protocol

from chatmemory.effect import Tag
from chatmemory.longterm.recall.recall import Recall
from chatmemory.longterm.repository_values import Candidates, MemorySearch


class RecallRanker(Protocol):
    """Decides which candidates are hits, and orders them.  It is pure and fast."""

    def rank(
        self,
        search: MemorySearch,
        candidates: Candidates,
        /,
        *,
        now: datetime,
        limit: int,
        unembedded: str | None = None,
    ) -> Recall:
        """Return the best *limit* candidates as hits, best first.

        A larger limit only adds hits at the end.  Among equal scores the newer memory comes first, then the one with the
        greater id.

        Args:
            search: what was searched for.
            candidates: what was found, in any order.
            now: the time from which ages are counted, UTC.
            limit: the largest number of hits.
            unembedded: why the search has no vector, for a person to read; None: it has one.

        Returns:
            the hits, each with a score from 0 to 1 and the signals behind it, and how they were found.
        """
        ...


class RecallRankerTag(Tag[RecallRanker]):
    """The tag under which layers provide ``RecallRanker``."""
