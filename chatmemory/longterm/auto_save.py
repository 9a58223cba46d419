"""What of a text is saved without anybody asking for it: pure functions from what was found to memories on their way in.

What the user said becomes long-term and is sure; what an assistant said is inferred, and stays in its session.
"""

import json
from typing import Final, final

from attrs import frozen

from chatmemory.input.json_value import Json
from chatmemory.longterm.extraction.proposals import Extraction, MemoryUpdate, Speaker
from chatmemory.longterm.memories import Category, NewMemory, Provenance, Skipped

STATED_CONFIDENCE: Final = 0.9  # at least, when the user said it; spec 002
MODEL: Final = "model"
"""The extractor of what a model's own answer says should be stored."""


@final
@frozen
class Utterance:
    """Who said a text, and where."""

    role: Speaker
    session_id: str | None
    message_id: str | None

    def memory(
        self,
        content: str,
        *,
        key: str,
        value: Json,
        category: Category,
        confidence: float,
        extractor: str,
        attribute: str | None = None,
    ) -> NewMemory:
        """Return a memory made from it."""
        is_users = self.role == "user"
        return NewMemory(
            content,
            key=key,
            value=value,
            category=category,
            confidence=max(confidence, STATED_CONFIDENCE) if is_users else confidence,
            source="user_stated" if is_users else "inferred",
            role=self.role,
            session_id=self.session_id,
            provenance=Provenance(() if self.message_id is None else (self.message_id,), extractor),
            attribute=attribute if is_users else None,
        )


def said_by_update(update: MemoryUpdate, said: Utterance) -> list[NewMemory | Skipped]:
    """Return each fact of a ``memory_update`` as a memory of its own; none unless it says ``should_store``."""
    return [
        said.memory(
            statement(fact.key, fact.value),
            key=fact.key,
            value=fact.value,
            category=fact.category,
            confidence=fact.confidence,
            extractor=MODEL,
        )
        for fact in (update.memories if update.should_store else ())
    ]


def said_by_extraction(
    extraction: Extraction, said: Utterance, *, least_confidence: float
) -> list[NewMemory | Skipped]:
    """Return each proposal as a memory of its own; those that are not sure enough as skipped."""
    return [
        Skipped("unsure")
        if proposal.confidence < least_confidence
        else said.memory(
            proposal.content,
            key=proposal.key,
            value=proposal.value,
            category=proposal.category,
            confidence=proposal.confidence,
            extractor=extraction.extractor,
            attribute=proposal.attribute,
        )
        for proposal in extraction.proposals
    ]


def statement(key: str, value: Json) -> str:
    """Return key and value as a model reads them: ``语言: Python``, ``limits: {"cpu": 2}``; equal values read alike."""
    if isinstance(value, str):
        return f"{key}: {value}"
    return f"{key}: {json.dumps(value, ensure_ascii=False, sort_keys=True, default=dict)}"
