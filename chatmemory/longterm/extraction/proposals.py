"""What an extractor makes of a text before any of it is a memory: proposals, each with its evidence.

Who extracts, and by what rules, is the business of ``longterm/extraction/``.
"""

from typing import Literal, TypeAlias, final

from attrs import frozen

from chatmemory.input.json_value import Json
from chatmemory.longterm.memories import Category

Language: TypeAlias = Literal["zh", "en", "other"]
Speaker: TypeAlias = Literal["user", "assistant"]


@final
@frozen
class Span:
    """Characters of the text, from *start* up to and without *end*."""

    start: int
    end: int


@final
@frozen
class ProposedMemory:
    """One thing worth remembering.

    Attributes:
        key: what it is about, in the language of the text: ``编程语言偏好``, ``occupation``.
        value: what is said of it.
        content: the statement as a sentence of its own.
        confidence: 0 to 1; below 0.5 it is not worth saving.
        evidence: where the text says so.
    """

    key: str
    value: Json
    content: str
    category: Category
    confidence: float
    language: Language
    evidence: Span


@final
@frozen
class Extraction:
    """What was found in a text, surest first; empty when it says nothing that lasts.

    Attributes:
        extractor: what found it: ``rules``, or the id of a skill.
        note: why the rules stood in for a skill, None otherwise.
    """

    proposals: tuple[ProposedMemory, ...]
    extractor: str
    note: str | None = None

    @property
    def best(self) -> ProposedMemory | None:
        """The surest proposal."""
        return self.proposals[0] if self.proposals else None


@final
@frozen
class StatedFact:
    """A fact that a model has identified in what the user said."""

    key: str
    value: Json
    category: Category = "fact"
    confidence: float = 0.9


@final
@frozen
class MemoryUpdate:
    """The ``memory_update`` of a model's structured answer (spec 002).

    JSON: ``{"shouldStore": true, "memories": [{"key": "...", "value": "...", "category": "preference"}]}``.
    """

    should_store: bool
    memories: tuple[StatedFact, ...] = ()
