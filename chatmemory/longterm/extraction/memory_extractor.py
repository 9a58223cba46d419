"""``MemoryExtractor``: finds facts that are worth remembering in a text."""

from typing import Protocol

from chatmemory.effect import Effect, Tag
from chatmemory.longterm.extraction.proposals import Extraction, Speaker


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
