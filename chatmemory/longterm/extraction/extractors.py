"""The extractors as layers: by rules, or as ``memory.extraction.extractor`` says.

``rules.py`` finds memories by rules, ``skill.py`` asks a skill.  To use your own extractor, replace these layers by one
that provides ``MemoryExtractorTag``.
"""

from typing import Final, Never, assert_never, final

from attrs import frozen

from chatmemory.conversation.skill_runner import SkillRunnerTag
from chatmemory.effect import Do, Effect, Layer
from chatmemory.effect.services.clock import ClockTag
from chatmemory.longterm.extraction.attributes.statements import with_attributes
from chatmemory.longterm.extraction.memory_extractor import (
    Extraction,
    MemoryExtractor,
    MemoryExtractorTag,
    Speaker,
)
from chatmemory.longterm.extraction.rules import extract_by_rules
from chatmemory.longterm.extraction.skill import SkillExtractor
from chatmemory.settings.memory_settings import ExtractionSettingsTag
from chatmemory.text.long_work import in_worker_thread

RULES: Final = "rules"
"""The name of the rules as the extractor of a memory."""

SHORT: Final = 500  # characters, which take at most 20 ms; 20,000 characters take a second


@final
@frozen
class RuleExtractor(MemoryExtractor):
    """Extracts memories from English and Chinese texts, offline."""

    def extract(self, content: str, *, role: Speaker = "user") -> Effect[Extraction]:

        def extract() -> Extraction:
            proposals = extract_by_rules(content, role=role)
            found = with_attributes(content, proposals) if role == "user" else proposals
            return Extraction(found, RULES)

        return Effect.sync(extract) if len(content) <= SHORT else in_worker_thread(extract)


@Effect.gen
async def _by_settings(do: Do[Never, SkillRunnerTag | ExtractionSettingsTag]) -> MemoryExtractor:
    settings = do.service(ExtractionSettingsTag)
    match settings.extractor:
        case "rules":
            return RuleExtractor()
        case "skill":
            return SkillExtractor(
                skills=do.service(SkillRunnerTag),
                rules=RuleExtractor(),
                clock=do.service(ClockTag),
                settings=settings,
            )
        case _:
            assert_never(settings.extractor)


rule_extractor: Final = Layer.succeed(MemoryExtractorTag, RuleExtractor())
memory_extractor: Final = Layer.effect(
    MemoryExtractorTag, _by_settings(), needs=[SkillRunnerTag, ExtractionSettingsTag]
)
"""The extractor that ``memory.extraction.extractor`` names."""
