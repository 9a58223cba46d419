"""One example of every error that a service can fail with: an error that is added gets its row here."""

from typing import Final

from chatmemory.errors import (
    AccessDeniedError,
    ConversationNotFoundError,
    DataValidationError,
    EmbeddingError,
    GenericMemoryError,
    MemoryChangedError,
    MemoryConflictError,
    MemoryNotFoundError,
    MessageConflictError,
    NotUndoableError,
    Problem,
    PromptNotFoundError,
    RepositoryError,
    ServiceError,
    SkillExecutionError,
    VersionConflictError,
)

SERVICE_ERRORS: Final[tuple[ServiceError, ...]] = (
    DataValidationError((Problem("$.limit", "negative"),)),
    ConversationNotFoundError("会"),
    AccessDeniedError("write", "会"),
    MessageConflictError("会", ("m1",)),
    VersionConflictError("会", expected=1, actual=2),
    MemoryNotFoundError("m"),
    MemoryConflictError(("m",)),
    MemoryChangedError("m", expected=1, actual=2),
    NotUndoableError("m", 7, "its content was forgotten"),
    PromptNotFoundError("聊天.json#1"),
    GenericMemoryError(EmbeddingError("e", "not_configured")),
    GenericMemoryError(RepositoryError("append", "damaged", cause=OSError())),
    GenericMemoryError(SkillExecutionError("s", "unauthorized", retry_after_seconds=2.5)),
)
