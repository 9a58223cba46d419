"""``MemoryExtractor``: finds facts that are worth remembering in a text; and what it returns: proposed memories with evidence."""

from typing import Literal, Protocol, TypeAlias, final

from attrs import field, frozen

from chatmemory.effect import Effect, Tag
from chatmemory.input.json_value import Json
from chatmemory.input.structuring import ALSO
from chatmemory.longterm.memories import Category

Language: TypeAlias = Literal["zh", "en", "other"]
Speaker: TypeAlias = Literal["user", "assistant"]


@final
@frozen
class Evidence:
    """The characters of the text that state a fact: from *start* (included) to *end* (excluded), counted from 0."""

    start: int
    end: int


@final
@frozen
class ProposedMemory:
    """One fact that is worth remembering.

    Attributes:
        key: the subject of the fact, in the language of the text: ``编程语言偏好``, ``occupation``.
        value: what the text says about the subject.
        content: the fact as a complete sentence.
        confidence: 0 to 1; a proposal below 0.5 is not worth saving.
        evidence: the part of the text that states the fact.
        attribute: the attribute of the user that the fact states or ends, see ``NewMemory.attribute``; None: it is about
            no attribute.
    """

    key: str
    value: Json
    content: str
    category: Category
    confidence: float
    language: Language
    evidence: Evidence
    attribute: str | None = None


@final
@frozen
class Extraction:
    """The proposals that an extractor found in a text.

    Attributes:
        proposals: the one with the highest confidence first; empty when the text contains nothing worth remembering.
        extractor: the extractor that found them: ``rules``, or the id of a skill.
        note: why the rules were used instead of the skill; None otherwise.
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
    """A fact that a model has found in the user's message."""

    key: str
    value: Json
    category: Category = "fact"
    confidence: float = 0.9


@final
@frozen
class MemoryUpdate:
    """The ``memory_update`` of a model's structured answer (spec 002).

    JSON: ``{"shouldStore": true, "memories": [{"key": "...", "value": "...", "category": "preference"}]}``; the name
    ``should_store``, which document 002 uses, is accepted too.
    """

    should_store: bool = field(metadata={ALSO: "should_store"})
    memories: tuple[StatedFact, ...] = ()


class MemoryExtractor(Protocol):
    """Proposes memories for a text.

    An extractor never fails: one that asks a model uses rules when the model fails (spec 002).
    """

    def extract(self, content: str, *, role: Speaker = "user") -> Effect[Extraction]:
        """Return what is worth remembering in *content*: preferences, facts and patterns, and an assistant's advice.

        Args:
            content: the text of one message.
            role: who wrote the message.

        Returns:
            the proposals, the one with the highest confidence first; none when there is nothing to remember.
        """
        ...


class MemoryExtractorTag(Tag[MemoryExtractor]):
    """The tag under which layers provide ``MemoryExtractor``."""
