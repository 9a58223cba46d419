"""Every way in which a memory can fail, as values with a literal tag.

    ChatMemoryError (no class: the unions at the end name what each operation can answer)
    ├── DataValidationError         the input breaks a rule; all problems at once, with their paths
    ├── ConversationNotFoundError   nothing is stored under this conversation
    ├── AccessDeniedError           who acts may not do this with the conversation
    ├── MessageConflictError        a message id is taken by another content
    ├── VersionConflictError        somebody wrote between the caller's read and its write
    ├── MemoryNotFoundError         the namespace sees no memory of this id
    ├── MemoryConflictError         a memory id is taken by another content
    ├── MemoryChangedError          somebody changed the memory between the caller's read and its write
    ├── NotUndoableError            what the change took away is gone, or has changed since
    ├── PromptNotFoundError         nothing is indexed from this source of past chats
    └── GenericMemoryError          what lies beneath the service failed; ``reason`` says how
        ├── RepositoryError         the store: busy, full, damaged, unreachable, outcome unknown ...
        ├── SkillExecutionError     the model: refused, too slow, empty, oversized, malformed ...
        └── EmbeddingError          the embedder: refused, too slow, vectors missing, malformed ...

Errors are compared by value, say in their text what to do next, keep the exception that caused them, and answer
``retry_is_safe``: whether the same call may be made again, unchanged, without harm and with hope.
Configuration has an error of its own, ``chatmemory.effect.config.config_error.ConfigError``, because it fails before any memory exists.
Each name loads its module when it is first used.
"""

from chatmemory.effect.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
