"""``SkillRunner``: runs a named skill, with or without a model."""

from typing import Protocol, final

from attrs import frozen

from chatmemory.conversation.messages import ChatMessage
from chatmemory.effect import Effect, Tag
from chatmemory.errors import SkillExecutionError


@final
@frozen
class SkillRequest:
    """The input of a skill.

    Attributes:
        messages: the messages to work on, oldest first.
        max_characters: the largest number of characters that the skill's text may have.
    """

    messages: tuple[ChatMessage, ...]
    max_characters: int


class SkillRunner(Protocol):
    """Runs a named skill, for example ``conversation-summary``, with or without a model."""

    def run(self, skill_id: str, request: SkillRequest) -> Effect[str, SkillExecutionError]:
        """Run a skill and return its text.

        Args:
            skill_id: the name of the skill, for example ``conversation-summary``.
            request: the messages to work on, and the size limit of the text.

        Fails with:
            SkillExecutionError: the skill is unknown, or the model failed, was too slow or gave no usable text.
        """
        ...


class SkillRunnerTag(Tag[SkillRunner]):
    """The tag under which layers provide ``SkillRunner``."""
