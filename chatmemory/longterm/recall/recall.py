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
    """Why a hit stands where it stands.

    Attributes:
        similarity: raw cosine, -1 to 1; None without two vectors of one space.
        lexical: bm25 of the words that it shares with the query, as a share of the best candidate's; 0 to 1.  Where no
            memory shares a word, 1 for one that contains the text.
        age_days: since its creation; 0 for one from the future.
        decay: the weight that its age leaves it, above 0 and up to 1; 1 for a pinned memory.
    """

    similarity: float | None
    lexical: float
    age_days: float
    decay: float


@final
@frozen
class RecallHit:
    """A memory that was recalled; *score* from 0 to 1 orders the hits."""

    memory: Memory
    score: float
    signals: Signals


@final
@frozen
class Coverage:
    """Of *memories* that the namespace could recall, *embedded* many could be compared by vector."""

    embedded: int
    memories: int


@final
@frozen
class Recall:
    """What was recalled, best first.

    Attributes:
        reason: why the mode is what it is, for a person to read.
    """

    hits: tuple[RecallHit, ...]
    mode: RecallMode
    reason: str
    coverage: Coverage
