"""``RecallRanker``: decides which candidates of a search are hits, and in which order.

It turns candidates into scores with named signals, so that a better ranking, for example a learned one, can replace the
default without any change of the search.
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
            search: the search that found the candidates.
            candidates: the candidates, in any order.
            now: the time from which ages are counted, UTC.
            limit: the largest number of hits.
            unembedded: why the search lacks a vector, for a person to read; None: it has one.

        Returns:
            the hits, each with a score from 0 to 1 and its signals, and how they were found.
        """
        ...


class RecallRankerTag(Tag[RecallRanker]):
    """The tag under which layers provide ``RecallRanker``."""
