"""The errors of each operation of a service, and ``GenericMemoryError``, the failure of a part below the service."""

from typing import Literal, TypeAlias, TypeVar, final

from attrs import frozen

from chatmemory.effect.outcome import Die, Fail, Interrupt
from chatmemory.errors.caller_errors import (
    AccessDeniedError,
    ConversationNotFoundError,
    DataValidationError,
    MemoryChangedError,
    MemoryConflictError,
    MemoryNotFoundError,
    MessageConflictError,
    NotUndoableError,
    PromptNotFoundError,
    VersionConflictError,
)
from chatmemory.errors.part_errors import EmbeddingError, RepositoryError, SkillExecutionError

E = TypeVar("E")


@final
@frozen
class GenericMemoryError:
    """A part below the service failed: the store, a skill or an embedder."""

    reason: RepositoryError | SkillExecutionError | EmbeddingError
    tag: Literal["GenericMemoryError"] = "GenericMemoryError"

    @property
    def retry_is_safe(self) -> bool:
        """The ``retry_is_safe`` of the reason."""
        return self.reason.retry_is_safe

    @property
    def cause(self) -> BaseException | None:
        """The exception that caused the reason."""
        return self.reason.cause

    def __str__(self) -> str:
        return str(self.reason)


ReadError: TypeAlias = DataValidationError | ConversationNotFoundError | GenericMemoryError
AddError: TypeAlias = (
    DataValidationError | AccessDeniedError | MessageConflictError | VersionConflictError | GenericMemoryError
)
RemoveError: TypeAlias = ReadError | AccessDeniedError
ForkRefusal: TypeAlias = (
    DataValidationError | ConversationNotFoundError | AccessDeniedError | VersionConflictError
)
ForkError: TypeAlias = ForkRefusal | GenericMemoryError
ConversationUndoRefusal: TypeAlias = (
    ConversationNotFoundError | AccessDeniedError | VersionConflictError | NotUndoableError
)
ConversationUndoError: TypeAlias = DataValidationError | ConversationUndoRefusal | GenericMemoryError
AppendError: TypeAlias = AccessDeniedError | MessageConflictError | VersionConflictError | RepositoryError
RemovalError: TypeAlias = AccessDeniedError | RepositoryError
RecallError: TypeAlias = DataValidationError | GenericMemoryError
RememberError: TypeAlias = DataValidationError | MemoryConflictError | GenericMemoryError
MemoryReadError: TypeAlias = DataValidationError | MemoryNotFoundError | GenericMemoryError
MemoryChangeError: TypeAlias = (
    DataValidationError | MemoryNotFoundError | MemoryConflictError | MemoryChangedError | GenericMemoryError
)
MemoryUndoError: TypeAlias = MemoryChangeError | NotUndoableError
PastChatsError: TypeAlias = DataValidationError | PromptNotFoundError | GenericMemoryError
MemoryStoreError: TypeAlias = MemoryConflictError | MemoryNotFoundError | RepositoryError
MemoryRewriteError: TypeAlias = MemoryChangedError | RepositoryError
MemoryRestoreError: TypeAlias = MemoryNotFoundError | RepositoryError
ServiceError: TypeAlias = (
    ReadError | AddError | RememberError | MemoryReadError | MemoryUndoError | PastChatsError
)
"""Every error that an operation of a service can fail with."""


def memory_error(error: E | RepositoryError) -> E | GenericMemoryError:
    """Return *error* as an error of the service.

    A ``RepositoryError`` becomes the reason of a ``GenericMemoryError``; any other error stays as it is.
    """
    return GenericMemoryError(error) if isinstance(error, RepositoryError) else error


def kind_of(reason: Fail[object] | Die | Interrupt) -> str:
    """Return the tag of *reason*, or the name of its class; its text may contain private data."""
    if isinstance(reason, Die):
        return type(reason.defect).__name__
    if isinstance(reason, Interrupt):
        return reason.tag
    beneath = getattr(
        reason.error, "reason", reason.error
    )  # for a GenericMemoryError, the error of the part that failed
    return str(getattr(beneath, "tag", type(beneath).__name__))
