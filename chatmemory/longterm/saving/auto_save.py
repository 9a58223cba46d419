"""Automatic saving: pure functions that turn the facts found in a message into new memories.

A fact that the user said becomes a long-term memory with a high confidence; a fact that an assistant said is inferred, and
becomes a short-term memory of its session.
"""

import json
from typing import Final, final

from attrs import frozen

from chatmemory.input.json_value import Json
from chatmemory.longterm.extraction.memory_extractor import Extraction, MemoryUpdate, Speaker
from chatmemory.longterm.memories import Category, MemoryRole, NewMemory, Provenance, Skipped

STATED_CONFIDENCE: Final = 0.9  # the least confidence in a fact that the user said; spec 002
MODEL: Final = "model"
"""The name of the extractor for facts that a model gave with its answer."""


@final
@frozen
class Utterance:
    """The origin of a text: who said it, in which session and message; None: unknown."""

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
        """Return a new memory with this origin.

        The *confidence* in a fact of the user is raised to ``STATED_CONFIDENCE``.  *attribute* is ignored for an
        assistant's facts.
        """
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
    """Return each fact of a ``memory_update`` as a separate memory; none unless its ``should_store`` is True."""
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
    """Return each proposal as a separate memory, in order, or as skipped when its confidence is below *least_confidence*.

    Of proposals with the same content, which say several things in one sentence, the first is saved: the surest one.
    """
    surest = {proposal.content: proposal for proposal in reversed(extraction.proposals)}
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
        if proposal is surest[proposal.content]
    ]


def statement(key: str, value: Json) -> str:
    """Return a key and any JSON as a text for a model, equal for equal values: ``语言: Python``, ``limits: {"cpu": 2}``."""
    if isinstance(value, str):
        return f"{key}: {value}"
    return f"{key}: {json.dumps(value, ensure_ascii=False, sort_keys=True, default=dict)}"


def side_of_turn(
    role: MemoryRole, content: str, session_id: str, message_id: str | None
) -> NewMemory | Skipped:
    """Return one side of a turn as a short-term memory, or as skipped when it is empty."""
    if not content.strip():
        return Skipped("empty")
    return NewMemory(
        content,
        source="user_stated" if role == "user" else "inferred",
        role=role,
        session_id=session_id,
        memory_type="short_term",
        provenance=Provenance(() if message_id is None else (message_id,)),
    )
