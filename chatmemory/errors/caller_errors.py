"""Errors that a caller can correct: invalid input, an unknown name, a missing right, or a change by another writer.

``Problem`` is one broken rule in a ``DataValidationError``.
"""

from typing import ClassVar, Final, Literal, final

from attrs import field, frozen

LONGEST_TEXT: Final = 1_000
"""The largest number of characters of a problem's path and message: both may repeat input of any length."""


def _bounded(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT - 3]}..."


@final
@frozen
class Problem:
    """One broken rule: *path* is its place in the input, for example ``$.messages[2].content``."""

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
    retry_is_safe: ClassVar[bool] = False  # the same input breaks the same rules

    def __str__(self) -> str:
        return "; ".join(map(str, self.problems))


@final
@frozen
class ConversationNotFoundError:
    """No message is stored under this conversation."""

    conversation_id: str
    tag: Literal["ConversationNotFoundError"] = "ConversationNotFoundError"
    retry_is_safe: ClassVar[bool] = False  # the conversation does not exist until a message is added to it

    def __str__(self) -> str:
        return f"no conversation {self.conversation_id!r}: add a message to it first"


@final
@frozen
class AccessDeniedError:
    """The principal lacks a right on the conversation; nothing was changed.

    Attributes:
        needs: the missing right, ``write`` for example, or the role that the principal may not write.
    """

    needs: str
    conversation_id: str
    tag: Literal["AccessDeniedError"] = "AccessDeniedError"
    retry_is_safe: ClassVar[bool] = False  # the right must be granted first

    def __str__(self) -> str:
        return f"no grant to {self.needs} in conversation {self.conversation_id!r}: use another id, or ask for the grant"


@final
@frozen
class MessageConflictError:
    """These ids are stored in this conversation with another role, content or metadata; nothing was stored."""

    conversation_id: str
    message_ids: tuple[str, ...]
    tag: Literal["MessageConflictError"] = "MessageConflictError"
    retry_is_safe: ClassVar[bool] = False  # the id stays taken

    def __str__(self) -> str:
        taken = ", ".join(map(repr, self.message_ids))
        return f"{taken} already stored in {self.conversation_id!r} with another content: give the new message another id"


@final
@frozen
class VersionConflictError:
    """The conversation is at another version than the writer expected; nothing was stored."""

    conversation_id: str
    expected: int
    actual: int
    tag: Literal["VersionConflictError"] = "VersionConflictError"
    retry_is_safe: ClassVar[bool] = False  # the caller must read the conversation again first

    def __str__(self) -> str:
        if self.actual == self.expected:  # a summary of messages that another one covers
            return f"{self.conversation_id!r} has changed at version {self.actual}: read it again"
        if self.expected == 0:
            return f"{self.conversation_id!r} exists already, at version {self.actual}: choose another id, or read it"
        return (
            f"{self.conversation_id!r} is at version {self.actual}, not {self.expected}: "
            f"read it again, and repeat the call with version {self.actual}"
        )


@final
@frozen
class MemoryNotFoundError:
    """No memory with this id is visible in the namespace."""

    memory_id: str
    tag: Literal["MemoryNotFoundError"] = "MemoryNotFoundError"
    retry_is_safe: ClassVar[bool] = False  # it was forgotten, or belongs to another namespace

    def __str__(self) -> str:
        return f"no memory {self.memory_id!r} in this namespace: list the memories to see their ids"


@final
@frozen
class MemoryConflictError:
    """These ids are stored with other content; nothing was stored."""

    memory_ids: tuple[str, ...]
    tag: Literal["MemoryConflictError"] = "MemoryConflictError"
    retry_is_safe: ClassVar[bool] = False  # the id stays taken

    def __str__(self) -> str:
        taken = ", ".join(map(repr, self.memory_ids))
        return f"{taken} already stored with another content: correct that memory, or give the new memory another id"


@final
@frozen
class MemoryChangedError:
    """The memory is at another version than the writer expected; nothing was changed."""

    memory_id: str
    expected: int
    actual: int
    tag: Literal["MemoryChangedError"] = "MemoryChangedError"
    retry_is_safe: ClassVar[bool] = False  # the caller must read the memory again first

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
    retry_is_safe: ClassVar[bool] = False  # deleted data stays deleted, and later changes stay

    def __str__(self) -> str:
        return f"change {self.number} of {self.target!r} cannot be undone: {self.reason}"


@final
@frozen
class PromptNotFoundError:
    """Nothing is indexed from this source."""

    source: str
    tag: Literal["PromptNotFoundError"] = "PromptNotFoundError"
    retry_is_safe: ClassVar[bool] = True  # the source may have been indexed in the meantime

    def __str__(self) -> str:
        return f"nothing is indexed as {self.source!r}: name a source as search and recall print it, or index it first"
