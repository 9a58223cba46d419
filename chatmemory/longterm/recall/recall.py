"""The result of a recall: hits in their order, each with the signals of its score, and how they were found.

This module has only values; the other modules of ``longterm`` find and rank memories.
"""

# ruff: noqa: PLC0414  the names that are exported again are defined in a small module, for code that needs nothing else

from typing import Literal, final

from attrs import frozen

from chatmemory.input.choices import RecallMode as RecallMode
from chatmemory.longterm.memories import Memory


@final
@frozen
class Signals:
    """The signals that make up the score of a hit.

    Attributes:
        similarity: the raw cosine of query and memory, -1 to 1; None when one of them has no vector of the same space.
        lexical: the bm25 score of the words that the memory shares with the query, divided by that of the best
            candidate and multiplied by the share of the query's words that the memory has, 0 to 1.  When no memory
            shares a word with the query, it is 1 for a memory that contains its text.
        age_days: days since the memory was created; 0 when that is in the future.
        decay: the weight that remains at this age, above 0 and up to 1; 1 for a pinned memory, and for what the user stated.
        neighbour: what the memories before and after it in its session, and the question that it answers, add; down to
            -0.1 for a memory that only asks.
        session: what the best memories of its session add.
        speaker: what is added when the query names one person, who said this.
        date: what is added when the query names the date of this memory, or asks when and this memory names a time.
    """

    similarity: float | None
    lexical: float
    age_days: float
    decay: float
    neighbour: float = 0.0
    session: float = 0.0
    speaker: float = 0.0
    date: float = 0.0


@final
@frozen
class RecallHit:
    """A recalled memory.

    Attributes:
        score: what orders the hits, 0 to 1.
        signals: what is behind the score.
        is_weak: whether it may well have nothing to do with the query.  A search shows it; a model that did not ask for
            it is not shown it.
    """

    memory: Memory
    score: float
    signals: Signals
    is_weak: bool = False


@final
@frozen
class PassedOver:
    """A memory that was compared with the query and is not a hit.

    Attributes:
        reason: ``limit``: it would be a hit, but enough others have a higher score.  ``unlike``: it shares too few words with
            the query, and its similarity is below ``memory.retrieval.similarityThreshold`` or that of the embedder.
        score: its score as a hit; None when it is unlike.
        similarity: the raw cosine of query and memory, -1 to 1; None when one of them has no vector of the same space.
    """

    memory: Memory
    reason: Literal["limit", "unlike"]
    score: float | None
    similarity: float | None


@final
@frozen
class Coverage:
    """How many memories the namespace could recall (*memories*), and how many of them have a vector to compare (*embedded*)."""

    embedded: int
    memories: int


@final
@frozen
class Recall:
    """The result of a recall.

    Attributes:
        hits: the recalled memories, best first.
        mode: how they were found.
        reason: why this mode was used, for a person to read.
        coverage: how many memories have a vector that can be compared.
        passed_over: the memories that were closest to being hits, the closest first; empty unless ``explain`` is True.
    """

    hits: tuple[RecallHit, ...]
    mode: RecallMode
    reason: str
    coverage: Coverage
    passed_over: tuple[PassedOver, ...] = ()

    @property
    def telling(self) -> tuple[RecallHit, ...]:
        """The hits that are not weak, best first, which a model is shown beside a message.  Often there are none."""
        return tuple([hit for hit in self.hits if not hit.is_weak])
