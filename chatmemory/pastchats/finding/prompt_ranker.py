"""``PromptRanker``: what orders the candidates of a search in past chats.

Candidates with their features go in, hits with named signals come out: a better ranking, a learned one for example,
takes the place of the default without touching any search.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from chatmemory.effect import Tag

if TYPE_CHECKING:
    from datetime import datetime

    from chatmemory.pastchats.finding.prompt_hits import PromptHit
    from chatmemory.pastchats.prompt_repository import PromptCandidates, PromptSearch


class PromptRanker(Protocol):
    """Ranks what was found; pure, quick, and without numpy."""

    def rank(
        self, search: PromptSearch, candidates: PromptCandidates, /, *, now: datetime
    ) -> tuple[PromptHit, ...]:
        """Return all candidates that are hits, best first; among equal ones the newer, then the one with the greater id."""
        ...


class PromptRankerTag(Tag[PromptRanker]):
    """Where layers provide ``PromptRanker``."""
