"""The errors of the services: values with a literal tag.

    ChatMemoryError (not a class: the unions in ``service_errors.py`` name the errors of each operation)
    ├── DataValidationError         the input breaks a rule; all problems at once, with their paths
    ├── ConversationNotFoundError   nothing is stored under this conversation
    ├── AccessDeniedError           the principal lacks a right on the conversation
    ├── MessageConflictError        the message id is stored with other content
    ├── VersionConflictError        the conversation changed between the caller's read and its write
    ├── MemoryNotFoundError         no memory with this id is visible in the namespace
    ├── MemoryConflictError         the memory id is stored with other content
    ├── MemoryChangedError          the memory changed between the caller's read and its write
    ├── NotUndoableError            the data that the undo needs was deleted, or has changed since
    ├── PromptNotFoundError         nothing is indexed from this source of past chats
    └── GenericMemoryError          a part below the service failed; ``reason`` is its error
        ├── RepositoryError         the store: busy, full, damaged, unreachable, outcome unknown ...
        ├── SkillExecutionError     the model: refused, too slow, empty, oversized, malformed ...
        └── EmbeddingError          the embedder: refused, too slow, vectors missing, malformed ...

Errors are compared by value.  Their text says what to do next, and they keep the exception that caused them.
``retry_is_safe`` says whether repeating the same call does no harm and may succeed.
A wrong configuration has another error, ``ConfigError`` (``config_error.py``), because it is found before
any memory exists.  Each name loads its module when it is first used.
"""

from chatmemory.effect.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
