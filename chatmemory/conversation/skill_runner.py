"""``SkillRunner``: what runs a named skill, with or without a model."""

from typing import Protocol, final

from attrs import frozen

from chatmemory.conversation.messages import ChatMessage
from chatmemory.effect import Effect, Tag
from chatmemory.errors import SkillExecutionError


@final
@frozen
class SkillRequest:
    """What a skill works on: *messages* oldest first, and the most characters that its text may have."""

    messages: tuple[ChatMessage, ...]
    max_characters: int


class SkillRunner(Protocol):
    """Runs a named skill, ``conversation-summary`` for example, with or without a model."""

    def run(self, skill_id: str, request: SkillRequest) -> Effect[str, SkillExecutionError]:
        """Return the skill's text."""
        ...


class SkillRunnerTag(Tag[SkillRunner]):
    """Where layers provide ``SkillRunner``."""
