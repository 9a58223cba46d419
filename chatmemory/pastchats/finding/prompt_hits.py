"""What a search in past chats finds: hits with their signals, and the exchanges that a recall makes of them.

``PromptRanker`` is the contract of what orders the hits.
"""

from datetime import datetime
from typing import Protocol, final

from attrs import frozen

from chatmemory.effect import Tag
from chatmemory.input.choices import RecallMode
from chatmemory.pastchats.prompt import Prompt
from chatmemory.pastchats.prompt_repository import PromptCandidates, PromptSearch


@final
@frozen(kw_only=True)
class PromptSignals:
    """Why a hit stands where it stands; ``PromptHit.score`` is their sum.

    Attributes:
        lexical: bm25 as a share of the best candidate's, weighted.
        semantic: cosine, spread over 0 to 1 between the candidates, weighted.
        neighbour: from the better of the two turns beside it.
        conversation: from the best turns of its conversation or session.
        speaker: for being said by the one person whom the query names.
        date: for being said on a date that the query names.
    """

    lexical: float = 0.0
    semantic: float = 0.0
    neighbour: float = 0.0
    conversation: float = 0.0
    speaker: float = 0.0
    date: float = 0.0


@final
@frozen(kw_only=True)
class PromptHit:
    """A turn that was found.

    Attributes:
        similarity: raw cosine; None without two vectors.
        also_in: further conversations with the very same text, which stand behind this hit.
    """

    prompt: Prompt
    score: float
    signals: PromptSignals
    similarity: float | None = None
    also_in: tuple[str, ...] = ()


@final
@frozen(kw_only=True)
class PromptSearchResult:
    """What was found, best first.

    Attributes:
        reason: why the mode is what it is, for a person to read.
    """

    hits: tuple[PromptHit, ...]
    mode: RecallMode
    reason: str


@final
@frozen
class FailedAttempt:
    """What was tried in vain.

    Attributes:
        tried: turns of the assistant.
        report: the person's turn that corrects them or reports an error.
    """

    tried: tuple[Prompt, ...]
    report: Prompt


@final
@frozen(kw_only=True)
class Exchange:
    """What was asked, what was answered, and what came of it.

    Attributes:
        hit: what was found.
        question: the user's turn that the hit is, or belongs to; None where there is none.
        worked: the turns that answered it, after the last failure; none where nothing did.
        confirmation: the person's turn that says that it works.
        failures: what was tried before and did not work, the oldest first.
    """

    hit: PromptHit
    question: Prompt | None
    worked: tuple[Prompt, ...] = ()
    confirmation: Prompt | None = None
    failures: tuple[FailedAttempt, ...] = ()


@final
@frozen(kw_only=True)
class PastRecall:
    """What an agent is told before a task.

    Attributes:
        text: the block that begins with ``# Memory Recall``.
        tokens: how long *text* is.
        left_out: exchanges that the budget had no room for.
    """

    text: str
    exchanges: tuple[Exchange, ...]
    mode: RecallMode
    reason: str
    tokens: int
    left_out: int = 0


class PromptRanker(Protocol):
    """Ranks what was found; pure, quick, and without numpy."""

    def rank(
        self, search: PromptSearch, candidates: PromptCandidates, /, *, now: datetime
    ) -> tuple[PromptHit, ...]:
        """Return all candidates that are hits, best first; among equal ones the newer, then the one with the greater id."""
        ...


class PromptRankerTag(Tag[PromptRanker]):
    """Where layers provide ``PromptRanker``."""
