"""How reading and writing a conversation can fail, beside its input and its store."""

from typing import Literal, final

from attrs import frozen


@final
@frozen
class ConversationNotFoundError:
    """No message is stored under this conversation."""

    conversation_id: str
    tag: Literal["ConversationNotFoundError"] = "ConversationNotFoundError"

    @property
    def retry_is_safe(self) -> bool:
        """False: it stays unknown until somebody adds a message to it."""
        return False

    def __str__(self) -> str:
        return f"no conversation {self.conversation_id!r}: add a message to it first"


@final
@frozen
class MessageConflictError:
    """These ids are stored in this conversation with another role, content or metadata; nothing was stored."""

    conversation_id: str
    message_ids: tuple[str, ...]
    tag: Literal["MessageConflictError"] = "MessageConflictError"

    @property
    def retry_is_safe(self) -> bool:
        """False: the id stays taken."""
        return False

    def __str__(self) -> str:
        taken = ", ".join(map(repr, self.message_ids))
        return f"{taken} already stored in {self.conversation_id!r} with another content: give the new message an id of its own"


@final
@frozen
class VersionConflictError:
    """The conversation is at another version than the writer expected; nothing was stored."""

    conversation_id: str
    expected: int
    actual: int
    tag: Literal["VersionConflictError"] = "VersionConflictError"

    @property
    def retry_is_safe(self) -> bool:
        """False: read the conversation again and decide anew."""
        return False

    def __str__(self) -> str:
        return (
            f"{self.conversation_id!r} is at version {self.actual}, not {self.expected}: "
            f"read it again and add with expected_version={self.actual}"
        )
