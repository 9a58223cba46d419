"""Values of searches in past chats: hits with their signals, and the exchanges that a recall makes of them.

``PromptRanker`` is the contract of the part that orders the hits.
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
    """Why a hit has its place; ``PromptHit.score`` is the sum.

    Attributes:
        lexical: the bm25 score divided by that of the best candidate, weighted.
        semantic: the cosine, scaled so that the candidates span 0 to 1, weighted.
        neighbour: a share of the better one of the two turns next to it, and of the question that it answers; less for
            a turn that only asks, down to -0.1.
        conversation: a share of the best turns of its conversation or session.
        speaker: added when the query names one person, who said this turn.
        date: added when the query names the date of this turn, or asks when and this turn names a time.
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
    """A turn that a search found.

    Attributes:
        similarity: the raw cosine; None unless query and turn both have a vector.
        also_in: other conversations that contain exactly the same text.
    """

    prompt: Prompt
    score: float
    signals: PromptSignals
    similarity: float | None = None
    also_in: tuple[str, ...] = ()


@final
@frozen(kw_only=True)
class PromptSearchResult:
    """The result of a search, best first.

    Attributes:
        reason: why *mode* was used, for a person to read.
    """

    hits: tuple[PromptHit, ...]
    mode: RecallMode
    reason: str


@final
@frozen
class FailedAttempt:
    """Something that was tried and failed.

    Attributes:
        tried: the assistant's turns.
        report: the user's turn that corrects them or reports an error.
    """

    tried: tuple[Prompt, ...]
    report: Prompt


@final
@frozen(kw_only=True)
class Exchange:
    """A question, its answer, and whether the answer worked.

    Attributes:
        hit: the turn that the search found.
        question: the user's turn that the hit is, or belongs to; None when there is none.
        asked: the user's turns in a row that contain the question, oldest first; empty when there is no question.
        worked: the turns that answered it, after the last failure; empty when none did.
        confirmation: the user's turn that says that the answer works; None when there is none.
        failures: what was tried before and failed, the oldest first.
    """

    hit: PromptHit
    question: Prompt | None
    worked: tuple[Prompt, ...] = ()
    confirmation: Prompt | None = None
    failures: tuple[FailedAttempt, ...] = ()
    asked: tuple[Prompt, ...] = ()


@final
@frozen(kw_only=True)
class PastRecall:
    """What an agent receives before a task.

    Attributes:
        text: the block, which begins with ``# Memory Recall``.
        tokens: the size of *text* in tokens.
        left_out: how many exchanges did not fit into the budget.
    """

    text: str
    exchanges: tuple[Exchange, ...]
    mode: RecallMode
    reason: str
    tokens: int
    left_out: int = 0


class PromptRanker(Protocol):
    """Decides which turns are hits, and orders them.  It is pure, fast, and works without numpy."""

    def rank(
        self, search: PromptSearch, candidates: PromptCandidates, /, *, now: datetime
    ) -> tuple[PromptHit, ...]:
        """Return all candidates that are hits, best first; *now* is in UTC.

        Among equal scores the newer turn comes first, then the one with the greater id.
        """
        ...


class PromptRankerTag(Tag[PromptRanker]):
    """The tag under which layers provide ``PromptRanker``."""
