"""Conversation memory and long-term memory for AI agents, as typed effects.

Everything that a user needs by name can be imported from here; each name loads its module when it is first used, so
that ``import chatmemory`` costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chatmemory.contracts import (
        ChatMemory as ChatMemory,
    )
    from chatmemory.contracts import (
        ChatMemoryService as ChatMemoryService,
    )
    from chatmemory.contracts import (
        HistoryStrategy as HistoryStrategy,
    )
    from chatmemory.contracts import (
        HistoryStrategyTag as HistoryStrategyTag,
    )
    from chatmemory.contracts import (
        MessageRepository as MessageRepository,
    )
    from chatmemory.contracts import (
        MessageRepositoryTag as MessageRepositoryTag,
    )
    from chatmemory.contracts import (
        SkillRequest as SkillRequest,
    )
    from chatmemory.contracts import (
        SkillRunner as SkillRunner,
    )
    from chatmemory.contracts import (
        SkillRunnerTag as SkillRunnerTag,
    )
    from chatmemory.contracts import (
        TokenCounter as TokenCounter,
    )
    from chatmemory.contracts import (
        TokenCounterTag as TokenCounterTag,
    )
    from chatmemory.effect import (
        Do as Do,
    )
    from chatmemory.effect import (
        Effect as Effect,
    )
    from chatmemory.effect import (
        EffectFailed as EffectFailed,
    )
    from chatmemory.effect import (
        Failure as Failure,
    )
    from chatmemory.effect import (
        Layer as Layer,
    )
    from chatmemory.effect import (
        ManagedRuntime as ManagedRuntime,
    )
    from chatmemory.effect import (
        Outcome as Outcome,
    )
    from chatmemory.effect import (
        Success as Success,
    )
    from chatmemory.effect import (
        Tag as Tag,
    )
    from chatmemory.effect import (
        TestClock as TestClock,
    )
    from chatmemory.effect import (
        catch as catch,
    )
    from chatmemory.effect import (
        wire as wire,
    )
    from chatmemory.errors import (
        ConversationNotFoundError as ConversationNotFoundError,
    )
    from chatmemory.errors import (
        DataValidationError as DataValidationError,
    )
    from chatmemory.errors import (
        GenericMemoryError as GenericMemoryError,
    )
    from chatmemory.errors import (
        MessageConflictError as MessageConflictError,
    )
    from chatmemory.errors import (
        RepositoryError as RepositoryError,
    )
    from chatmemory.errors import (
        SkillExecutionError as SkillExecutionError,
    )
    from chatmemory.errors import (
        VersionConflictError as VersionConflictError,
    )
    from chatmemory.messages import (
        AddReport as AddReport,
    )
    from chatmemory.messages import (
        ChatMessage as ChatMessage,
    )
    from chatmemory.messages import (
        Conversation as Conversation,
    )
    from chatmemory.messages import (
        HistoryReport as HistoryReport,
    )
    from chatmemory.messages import (
        MessagePage as MessagePage,
    )
    from chatmemory.messages import (
        NewMessage as NewMessage,
    )
    from chatmemory.settings import (
        Settings as Settings,
    )
    from chatmemory.settings import (
        StrategySettings as StrategySettings,
    )

_HOME = {
    "chatmemory.contracts": (
        "ChatMemory ChatMemoryService HistoryStrategy HistoryStrategyTag MessageRepository MessageRepositoryTag "
        "SkillRequest SkillRunner SkillRunnerTag TokenCounter TokenCounterTag"
    ),
    "chatmemory.effect": (
        "Do Effect EffectFailed Failure Layer ManagedRuntime Outcome Success Tag TestClock catch wire"
    ),
    "chatmemory.errors": (
        "ConversationNotFoundError DataValidationError GenericMemoryError MessageConflictError RepositoryError "
        "SkillExecutionError VersionConflictError"
    ),
    "chatmemory.messages": "AddReport ChatMessage Conversation HistoryReport MessagePage NewMessage",
    "chatmemory.settings": "Settings StrategySettings",
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names.split()}


def __getattr__(name: str) -> object:
    """Import *name* from where it is defined."""
    if name not in _MODULE_OF:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    value: object = getattr(import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(_MODULE_OF)
