"""What was recalled: hits in their order, each with the signals that put it there, and how they were found.

Values only.  How memories are found and ranked is the business of ``longterm``.
"""

# ruff: noqa: PLC0414  what is passed on has a small module of its own, for those who need no more

from typing import final

from attrs import frozen

from chatmemory.input.choices import RecallMode as RecallMode
from chatmemory.longterm.memories import Memory


@final
@frozen
class Signals:
    """Why a hit has its place.

    Attributes:
        similarity: the raw cosine of query and memory, -1 to 1; None when one of them has no vector of the same space.
        lexical: the bm25 score of the words that the memory shares with the query, divided by that of the best
            candidate and multiplied by the share of the query's words that the memory has, 0 to 1.  When no memory
            shares a word with the query, it is 1 for a memory that contains its text.
        age_days: days since the memory was created; 0 when that is in the future.
        decay: the weight that remains at this age, above 0 and up to 1; 1 for a pinned memory, and for what the user stated.
    """

    similarity: float | None
    lexical: float
    age_days: float
    decay: float


@final
@frozen
class RecallHit:
    """A recalled memory, the *score* from 0 to 1 that orders the hits, and the signals behind the score."""

    memory: Memory
    score: float
    signals: Signals


@final
@frozen
class Coverage:
    """How many memories the namespace could recall (*memories*), and how many of them have a vector to compare (*embedded*)."""

    embedded: int
    memories: int


@final
@frozen
class Recall:
    """The answer of a recall.

    Attributes:
        hits: best first.
        mode: how they were found.
        reason: why in this mode, for a person to read.
        coverage: how many memories have a vector that can be compared.
    """

    hits: tuple[RecallHit, ...]
    mode: RecallMode
    reason: str
    coverage: Coverage
