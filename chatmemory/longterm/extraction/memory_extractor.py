"""``MemoryExtractor``: what finds in a text that which is worth remembering."""

from typing import Protocol

from chatmemory.effect import Effect, Tag
from chatmemory.longterm.extraction.proposals import Extraction, Speaker


class MemoryExtractor(Protocol):
    """Proposes memories.  It always answers: one that asks a model falls back to rules (spec 002)."""

    def extract(self, content: str, *, role: Speaker = "user") -> Effect[Extraction]:
        """Return what *content*, said by *role*, holds that lasts: preferences, facts, patterns; advice of an assistant."""
        ...


class MemoryExtractorTag(Tag[MemoryExtractor]):
    """Where layers provide ``MemoryExtractor``."""
