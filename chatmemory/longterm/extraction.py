"""The extractors as layers: by rules, by a skill, or the one that ``memory.extraction.extractor`` names.

How rules find memories stands in ``extraction_rules.py``.
"""

from typing import Final, final

from attrs import frozen

from chatmemory.contracts import MemoryExtractorTag
from chatmemory.effect import Effect, Layer
from chatmemory.longterm.extraction_rules import extract_by_rules
from chatmemory.proposals import Extraction, Speaker

RULES: Final = "rules"
"""The name under which memories say that rules have found them."""


@final
@frozen
class RuleExtractor:
    """Extracts offline, in English and Chinese."""

    def extract(self, content: str, *, role: Speaker = "user") -> Effect[Extraction]:
        """Propose what the rules find."""
        return Effect.sync(lambda: Extraction(extract_by_rules(content, role=role), RULES))


rule_extractor: Final = Layer.succeed(MemoryExtractorTag, RuleExtractor())
