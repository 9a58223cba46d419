"""The answer of a skill that extracts memories, and the checks of this answer.

    {"memories": [{"key": "编程语言偏好", "value": "Python", "category": "preference", "confidence": 0.9,
                   "content": "我喜欢用 Python 写代码", "evidence": "我喜欢用 Python"}]}

A model has written the answer, possibly instructed by the text that it read.  So its shape is checked, all lengths are
limited, and evidence counts only when the text contains it.  ``skill.py`` calls the skill, and handles a missing answer.
"""

import json
import re
from typing import Final, final

from attrs import frozen

from chatmemory.effect import Outcome
from chatmemory.errors import DataValidationError
from chatmemory.input.json_value import Json
from chatmemory.input.rules import clean_text
from chatmemory.longterm.extraction.proposals import Evidence, ProposedMemory
from chatmemory.longterm.extraction.rules import MAX_PROPOSALS
from chatmemory.longterm.extraction.statements import language_of
from chatmemory.longterm.memories import Category
from chatmemory.longterm.memory_rules import value_problems

MAX_KEY_CHARACTERS: Final = 64
MAX_VALUE_CHARACTERS: Final = 1_000  # as JSON; a longer value is dropped, not cut
MAX_CONTENT_CHARACTERS: Final = 1_000
LIKELY: Final = 0.8  # the confidence of a memory for which the skill gives none

_IN_A_FENCE: Final = re.compile(r"\A\s*```\w*\s*(.*?)\s*(?:```)?\s*\Z", re.DOTALL)
_SPACE: Final = re.compile(r"\s+")


@final
@frozen
class FoundMemory:
    """One memory in the answer of a skill; *content* and *evidence* may be missing."""

    key: str
    value: Json
    category: Category
    confidence: float = LIKELY
    content: str = ""
    evidence: str = ""


@final
@frozen
class FoundMemories:
    """The complete answer of a skill; without memories when the text contains nothing worth remembering."""

    memories: tuple[FoundMemory, ...]


def read_answer(answer: str) -> Outcome[FoundMemories, DataValidationError]:
    """Read the JSON of an answer, which models often wrap in a code fence.

    Fails with:
        DataValidationError: the answer is not JSON of this shape.
    """
    from chatmemory.input.structure import read_json

    fenced = _IN_A_FENCE.match(answer)
    return read_json(fenced[1] if fenced else answer, FoundMemories)


def proposals_of(found: FoundMemories, text: str) -> tuple[ProposedMemory, ...]:
    """Return the memories of an answer as proposals; those with an invalid or empty key or value are dropped.

    Args:
        found: the answer of the skill.
        text: the text that the skill read, in which the evidence is searched.

    Returns:
        the proposals, the one with the highest confidence first; at most ``MAX_PROPOSALS``, without duplicates.
    """
    proposals: dict[tuple[str, str], ProposedMemory] = {}
    for one in found.memories:
        proposal = _proposal(one, text)
        if proposal is not None:
            proposals.setdefault((proposal.key, json.dumps(proposal.value, sort_keys=True)), proposal)
    return tuple(sorted(proposals.values(), key=lambda one: -one.confidence)[:MAX_PROPOSALS])


def _proposal(found: FoundMemory, text: str) -> ProposedMemory | None:
    key = _line(found.key)[:MAX_KEY_CHARACTERS].rstrip()
    value = _line(found.value) if isinstance(found.value, str) else found.value
    if not key or value in ("", None) or value_problems("$.value", value):
        return None
    written = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if len(written) > MAX_VALUE_CHARACTERS:
        return None
    evidence = _evidence(found.evidence, text)
    content = _line(found.content)[:MAX_CONTENT_CHARACTERS].rstrip() or f"{key}: {written}"
    return ProposedMemory(
        key=key,
        value=value,
        content=content,
        category=found.category,
        confidence=min(max(found.confidence, 0.0), 1.0),
        language=language_of(content),
        evidence=evidence,
    )


def _evidence(quoted: str, text: str) -> Evidence:
    """Return the place of the *quoted* words in *text*; the whole text when it does not contain them."""
    start = text.find(quoted.strip()) if quoted.strip() else -1
    return Evidence(0, len(text)) if start < 0 else Evidence(start, start + len(quoted.strip()))


def _line(text: str) -> str:
    """Return *text* on one line, without characters that cannot be stored."""
    return _SPACE.sub(" ", clean_text(text)).strip()
