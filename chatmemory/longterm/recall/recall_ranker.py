"""``RecallRanker``: what decides which of a search's candidates are hits, and their order.

Candidates with their features go in, scores with named signals come out: a better ranking, a learned one for example,
takes the place of the default without touching any search.
"""

from datetime import datetime
from typing import Protocol

from chatmemory.effect import Tag
from chatmemory.longterm.memory_repository import Candidates, MemorySearch
from chatmemory.longterm.recall.recall import Recall


class RecallRanker(Protocol):
    """Ranks what was found; pure and quick."""

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
        """Return the best *limit* of *candidates*, which are in any order, and say how they were found.

        An answer begins with every shorter one.  Scores go from 0 to 1 and never grow; among equal ones the newer memory
        comes first, then the one with the greater id.  Ages are counted from *now*.  *unembedded* says why the search
        has no vector, for a person to read; None when it has one.
        """
        ...


class RecallRankerTag(Tag[RecallRanker]):
    """Where layers provide ``RecallRanker``."""
