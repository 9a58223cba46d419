"""What a caller can act on: its input breaks rules, what it names is not there, or somebody was faster.

``Problem`` is one broken rule of ``DataValidationError``.
"""

from typing import Final, Literal, final

from attrs import field, frozen

LONGEST_TEXT: Final = 1_000
"""Characters of the path or the message of a problem: both may repeat names and texts of the input, of any length."""


def _bounded(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT - 3]}..."


@final
@frozen
class Problem:
    """One broken rule: *path* points into the input as ``$.messages[2].content`` does."""

    path: str = field(converter=_bounded)
    message: str = field(converter=_bounded)

    def __str__(self) -> str:
        return f"{self.message} @ {self.path}"


@final
@frozen
class DataValidationError:
    """The input breaks rules; nothing was stored."""

    problems: tuple[Problem, ...]
    tag: Literal["DataValidationError"] = "DataValidationError"

    @property
    def retry_is_safe(self) -> bool:
        """False: the same input breaks the same rules."""
        return False

    def __str__(self) -> str:
        return "; ".join(map(str, self.problems))


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
class AccessDeniedError:
    """Whoever acts may not do this with the conversation; nothing was changed.

    Attributes:
        needs: the right that is missing, ``write`` for example, or the role that they may not write.
    """

    needs: str
    conversation_id: str
    tag: Literal["AccessDeniedError"] = "AccessDeniedError"

    @property
    def retry_is_safe(self) -> bool:
        """False: somebody has to grant it first."""
        return False

    def __str__(self) -> str:
        return f"no grant to {self.needs} in conversation {self.conversation_id!r}: use an id of your own, or have it granted"


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


@final
@frozen
class MemoryNotFoundError:
    """The namespace sees no memory of this id."""

    memory_id: str
    tag: Literal["MemoryNotFoundError"] = "MemoryNotFoundError"

    @property
    def retry_is_safe(self) -> bool:
        """False: it was forgotten, or belongs to another namespace."""
        return False

    def __str__(self) -> str:
        return f"no memory {self.memory_id!r} in this namespace: list them to see those that are there"


@final
@frozen
class MemoryConflictError:
    """These ids are taken by memories that say something else; nothing was stored."""

    memory_ids: tuple[str, ...]
    tag: Literal["MemoryConflictError"] = "MemoryConflictError"

    @property
    def retry_is_safe(self) -> bool:
        """False: the id stays taken."""
        return False

    def __str__(self) -> str:
        taken = ", ".join(map(repr, self.memory_ids))
        return f"{taken} already stored with another content: correct that memory, or give the new memory an id of its own"


@final
@frozen
class MemoryChangedError:
    """The memory is at another version than the writer expected; nothing was changed."""

    memory_id: str
    expected: int
    actual: int
    tag: Literal["MemoryChangedError"] = "MemoryChangedError"

    @property
    def retry_is_safe(self) -> bool:
        """False: read the memory again and decide anew."""
        return False

    def __str__(self) -> str:
        return (
            f"memory {self.memory_id!r} is at version {self.actual}, not {self.expected}: "
            f"read it again and change it with expected_version={self.actual}"
        )


@final
@frozen
class NotUndoableError:
    """The change cannot be undone, or no longer; nothing was changed."""

    target: str
    number: int
    reason: str
    tag: Literal["NotUndoableError"] = "NotUndoableError"

    @property
    def retry_is_safe(self) -> bool:
        """False: what is gone does not come back, and what has changed since stays changed."""
        return False

    def __str__(self) -> str:
        return f"change {self.number} of {self.target!r} cannot be undone: {self.reason}"


@final
@frozen
class PromptNotFoundError:
    """Nothing is indexed from this source."""

    source: str
    tag: Literal["PromptNotFoundError"] = "PromptNotFoundError"

    @property
    def retry_is_safe(self) -> bool:
        """True: it may be indexed meanwhile."""
        return True

    def __str__(self) -> str:
        return f"nothing is indexed as {self.source!r}: name a source as search and recall print it, or index it first"
