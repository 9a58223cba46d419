from chatmemory.errors.conversation_errors import (
    ConversationNotFoundError as ConversationNotFoundError,
    MessageConflictError as MessageConflictError,
    VersionConflictError as VersionConflictError,
)
from chatmemory.errors.data_validation_error import (
    DataValidationError as DataValidationError,
    Problem as Problem,
)
from chatmemory.errors.embedding_error import (
    EmbeddingError as EmbeddingError,
    EmbeddingProblem as EmbeddingProblem,
)
from chatmemory.errors.memory_errors import (
    MemoryChangedError as MemoryChangedError,
    MemoryConflictError as MemoryConflictError,
    MemoryNotFoundError as MemoryNotFoundError,
)
from chatmemory.errors.prompt_not_found_error import PromptNotFoundError as PromptNotFoundError
from chatmemory.errors.repository_error import (
    RepositoryError as RepositoryError,
    RepositoryProblem as RepositoryProblem,
)
from chatmemory.errors.service_errors import (
    AddError as AddError,
    AppendError as AppendError,
    GenericMemoryError as GenericMemoryError,
    MemoryChangeError as MemoryChangeError,
    MemoryReadError as MemoryReadError,
    MemoryStoreError as MemoryStoreError,
    PastChatsError as PastChatsError,
    ReadError as ReadError,
    RecallError as RecallError,
    RememberError as RememberError,
    memory_error as memory_error,
)
from chatmemory.errors.skill_execution_error import (
    SkillExecutionError as SkillExecutionError,
    SkillProblem as SkillProblem,
)
