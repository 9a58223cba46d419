from chatmemory.errors.caller_errors import (
    AccessDeniedError as AccessDeniedError,
    ConversationNotFoundError as ConversationNotFoundError,
    DataValidationError as DataValidationError,
    MemoryChangedError as MemoryChangedError,
    MemoryConflictError as MemoryConflictError,
    MemoryNotFoundError as MemoryNotFoundError,
    MessageConflictError as MessageConflictError,
    NotUndoableError as NotUndoableError,
    Problem as Problem,
    PromptNotFoundError as PromptNotFoundError,
    VersionConflictError as VersionConflictError,
)
from chatmemory.errors.config_error import (
    ConfigError as ConfigError,
    ConfigProblem as ConfigProblem,
    InvalidValue as InvalidValue,
    MissingKey as MissingKey,
    UnreadableSource as UnreadableSource,
)
from chatmemory.errors.embedding_error import (
    EmbeddingError as EmbeddingError,
    EmbeddingProblem as EmbeddingProblem,
)
from chatmemory.errors.repository_error import (
    RepositoryError as RepositoryError,
    RepositoryProblem as RepositoryProblem,
)
from chatmemory.errors.service_errors import (
    AddError as AddError,
    AppendError as AppendError,
    ConversationUndoError as ConversationUndoError,
    ConversationUndoRefusal as ConversationUndoRefusal,
    ForkError as ForkError,
    ForkRefusal as ForkRefusal,
    GenericMemoryError as GenericMemoryError,
    MemoryChangeError as MemoryChangeError,
    MemoryReadError as MemoryReadError,
    MemoryRestoreError as MemoryRestoreError,
    MemoryRewriteError as MemoryRewriteError,
    MemoryStoreError as MemoryStoreError,
    MemoryUndoError as MemoryUndoError,
    PastChatsError as PastChatsError,
    ReadError as ReadError,
    RecallError as RecallError,
    RememberError as RememberError,
    RemovalError as RemovalError,
    RemoveError as RemoveError,
    ServiceError as ServiceError,
    memory_error as memory_error,
)
from chatmemory.errors.skill_execution_error import (
    SkillExecutionError as SkillExecutionError,
    SkillProblem as SkillProblem,
)
