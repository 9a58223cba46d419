"""Values of extraction: proposed memories, each with its evidence, before any of them is stored.

How they are found is the business of the other modules in ``longterm/extraction/``.
"""

from typing import Literal, TypeAlias, final

from attrs import field, frozen

from chatmemory.effect.config.structuring import ALSO
from chatmemory.input.json_value import Json
from chatmemory.longterm.memories import Category

Language: TypeAlias = Literal["zh", "en", "other"]
Speaker: TypeAlias = Literal["user", "assistant"]


@final
@frozen
class Span:
    """A range of characters in the text: from *start* (included) to *end* (excluded), counted from 0."""

    start: int
    end: int


@final
@frozen
class ProposedMemory:
    """One thing worth remembering.

    Attributes:
        key: what it is about, in the language of the text: ``编程语言偏好``, ``occupation``.
        value: what the text says about it.
        content: the statement as a sentence of its own.
        confidence: 0 to 1; below 0.5 it is not worth saving.
        evidence: where the text says so.
        attribute: what of the user it states or ends, see ``NewMemory.attribute``; None: nothing that has one value.
    """

    key: str
    value: Json
    content: str
    category: Category
    confidence: float
    language: Language
    evidence: Span
    attribute: str | None = None


@final
@frozen
class Extraction:
    """What was found in a text.

    Attributes:
        proposals: the one with the highest confidence first; empty when the text holds nothing worth remembering.
        extractor: what found them: ``rules``, or the id of a skill.
        note: why rules were used instead of the skill; None otherwise.
    """

    proposals: tuple[ProposedMemory, ...]
    extractor: str
    note: str | None = None

    @property
    def best(self) -> ProposedMemory | None:
        """The proposal with the highest confidence; None when there is none."""
        return self.proposals[0] if self.proposals else None


@final
@frozen
class StatedFact:
    """A fact that a model has found in what the user said."""

    key: str
    value: Json
    category: Category = "fact"
    confidence: float = 0.9


@final
@frozen
class MemoryUpdate:
    """The ``memory_update`` of a model's structured answer (spec 002).

    JSON: ``{"shouldStore": true, "memories": [{"key": "...", "value": "...", "category": "preference"}]}``; ``should_store``,
    as document 002 writes it, is read too.
    """

    should_store: bool = field(metadata={ALSO: "should_store"})
    memories: tuple[StatedFact, ...] = ()
