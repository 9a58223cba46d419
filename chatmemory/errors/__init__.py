"""Every way in which a memory can fail, as values with a literal tag.

    ChatMemoryError (no class: the unions at the end name what each operation can answer)
    ├── DataValidationError         the input breaks a rule; all problems at once, with their paths
    ├── ConversationNotFoundError   nothing is stored under this conversation
    ├── MessageConflictError        a message id is taken by another content
    ├── VersionConflictError        somebody wrote between the caller's read and its write
    ├── MemoryNotFoundError         the namespace sees no memory of this id
    ├── MemoryConflictError         a memory id is taken by another content
    ├── MemoryChangedError          somebody changed the memory between the caller's read and its write
    ├── PromptNotFoundError         nothing is indexed from this source of past chats
    └── GenericMemoryError          what lies beneath the service failed; ``reason`` says how
        ├── RepositoryError         the store: busy, full, damaged, unreachable, outcome unknown ...
        ├── SkillExecutionError     the model: refused, too slow, empty, oversized, malformed ...
        └── EmbeddingError          the embedder: refused, too slow, vectors missing, malformed ...

Errors are compared by value, say in their text what to do next, keep the exception that caused them, and answer
``retry_is_safe``: whether the same call may be made again, unchanged, without harm and with hope.
Configuration has an error of its own, ``chatmemory.effect.config.config.ConfigError``, because it fails before any memory exists.
Each name loads its module when it is first used.
"""

from typing import TYPE_CHECKING

from chatmemory.effect.lazy_names import lazy_names

if TYPE_CHECKING:
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
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "chatmemory.errors.conversation_errors": "ConversationNotFoundError MessageConflictError VersionConflictError",
            "chatmemory.errors.data_validation_error": "DataValidationError Problem",
            "chatmemory.errors.embedding_error": "EmbeddingError EmbeddingProblem",
            "chatmemory.errors.memory_errors": "MemoryChangedError MemoryConflictError MemoryNotFoundError",
            "chatmemory.errors.prompt_not_found_error": "PromptNotFoundError",
            "chatmemory.errors.repository_error": "RepositoryError RepositoryProblem",
            "chatmemory.errors.service_errors": (
                "AddError AppendError GenericMemoryError MemoryChangeError MemoryReadError MemoryStoreError "
                "PastChatsError ReadError RecallError RememberError memory_error"
            ),
            "chatmemory.errors.skill_execution_error": "SkillExecutionError SkillProblem",
        },
    )
