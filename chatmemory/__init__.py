"""Conversation memory, long-term memory and past chats for AI agents, as typed effects.

Everything that a user needs by name can be imported from here; each name loads its module when it is first used, so
that ``import chatmemory`` costs next to nothing.
"""

from chatmemory.effect.lazy_names import lazy_names
from chatmemory.namesake import warn_of_namesake

__distribution__ = "chatmemory-effect"  # by which chatmemory_layers knows us from another chatmemory
warn_of_namesake(__path__[0])

TYPE_CHECKING = False  # for the checkers it is True; to import typing takes longer than all of this

if TYPE_CHECKING:
    from chatmemory.chat_context import (
        ChatContext as ChatContext,
        Instructions as Instructions,
    )
    from chatmemory.contracts import (
        ChatContextBuilder as ChatContextBuilder,
        ChatContextService as ChatContextService,
        ChatMemory as ChatMemory,
        ChatMemoryService as ChatMemoryService,
        Embedder as Embedder,
        EmbedderTag as EmbedderTag,
        HistoryStrategy as HistoryStrategy,
        HistoryStrategyTag as HistoryStrategyTag,
        LongTermMemory as LongTermMemory,
        LongTermMemoryService as LongTermMemoryService,
        MemoryExtractor as MemoryExtractor,
        MemoryExtractorTag as MemoryExtractorTag,
        MemoryRepository as MemoryRepository,
        MemoryRepositoryTag as MemoryRepositoryTag,
        MessageRepository as MessageRepository,
        MessageRepositoryTag as MessageRepositoryTag,
        PastChats as PastChats,
        PastChatsIndex as PastChatsIndex,
        PastChatsIndexService as PastChatsIndexService,
        PastChatsService as PastChatsService,
        RecallRanker as RecallRanker,
        RecallRankerTag as RecallRankerTag,
        SkillRequest as SkillRequest,
        SkillRunner as SkillRunner,
        SkillRunnerTag as SkillRunnerTag,
        TokenCounter as TokenCounter,
        TokenCounterTag as TokenCounterTag,
    )
    from chatmemory.conversation.agent_prompt import (
        AgentPrompt as AgentPrompt,
        AgentTurn as AgentTurn,
        agent_messages as agent_messages,
        agent_prompt as agent_prompt,
    )
    from chatmemory.conversation.streamed_reply import streamed_reply as streamed_reply
    from chatmemory.effect import (
        Do as Do,
        Effect as Effect,
        EffectFailed as EffectFailed,
        Failure as Failure,
        Fiber as Fiber,
        Layer as Layer,
        ManagedRuntime as ManagedRuntime,
        Outcome as Outcome,
        Stream as Stream,
        Success as Success,
        Tag as Tag,
        TestClock as TestClock,
        ThreadRuntime as ThreadRuntime,
        catch as catch,
        wire as wire,
    )
    from chatmemory.errors import (
        ConversationNotFoundError as ConversationNotFoundError,
        DataValidationError as DataValidationError,
        EmbeddingError as EmbeddingError,
        GenericMemoryError as GenericMemoryError,
        MemoryChangedError as MemoryChangedError,
        MemoryConflictError as MemoryConflictError,
        MemoryNotFoundError as MemoryNotFoundError,
        MessageConflictError as MessageConflictError,
        PromptNotFoundError as PromptNotFoundError,
        RepositoryError as RepositoryError,
        SkillExecutionError as SkillExecutionError,
        VersionConflictError as VersionConflictError,
    )
    from chatmemory.longterm.save_form import (
        SaveForm as SaveForm,
        fill_form as fill_form,
        opened_form as opened_form,
    )
    from chatmemory.memories import (
        Duplicate as Duplicate,
        Embedding as Embedding,
        ForgetReceipt as ForgetReceipt,
        Memory as Memory,
        MemoryChanges as MemoryChanges,
        MemoryPage as MemoryPage,
        Namespace as Namespace,
        NewMemory as NewMemory,
        Provenance as Provenance,
        RememberReport as RememberReport,
        Skipped as Skipped,
        Stored as Stored,
    )
    from chatmemory.messages import (
        AddReport as AddReport,
        ChatMessage as ChatMessage,
        Conversation as Conversation,
        ConversationPage as ConversationPage,
        HistoryReport as HistoryReport,
        MessagePage as MessagePage,
        NewMessage as NewMessage,
    )
    from chatmemory.past_chats import (
        IndexProgress as IndexProgress,
        IndexReport as IndexReport,
        IndexRequest as IndexRequest,
        PastConversation as PastConversation,
        PastConversationPage as PastConversationPage,
        PastTurnPage as PastTurnPage,
    )
    from chatmemory.prompt import (
        Prompt as Prompt,
        PromptFilter as PromptFilter,
    )
    from chatmemory.prompt_hits import (
        Exchange as Exchange,
        PastRecall as PastRecall,
        PromptHit as PromptHit,
        PromptSearchResult as PromptSearchResult,
    )
    from chatmemory.proposals import (
        Extraction as Extraction,
        MemoryUpdate as MemoryUpdate,
        ProposedMemory as ProposedMemory,
        StatedFact as StatedFact,
    )
    from chatmemory.recall import (
        Recall as Recall,
        RecallHit as RecallHit,
    )
    from chatmemory.settings import (
        EmbeddingSettings as EmbeddingSettings,
        PastChatsSettings as PastChatsSettings,
        Settings as Settings,
        StrategySettings as StrategySettings,
    )
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "chatmemory.chat_context": "ChatContext Instructions",
            "chatmemory.contracts": (
                "ChatContextBuilder ChatContextService ChatMemory ChatMemoryService Embedder EmbedderTag "
                "HistoryStrategy HistoryStrategyTag LongTermMemory LongTermMemoryService MemoryExtractor "
                "MemoryExtractorTag MemoryRepository MemoryRepositoryTag MessageRepository "
                "MessageRepositoryTag PastChats PastChatsIndex PastChatsIndexService PastChatsService "
                "RecallRanker RecallRankerTag SkillRequest SkillRunner SkillRunnerTag TokenCounter "
                "TokenCounterTag"
            ),
            "chatmemory.conversation.agent_prompt": "AgentPrompt AgentTurn agent_messages agent_prompt",
            "chatmemory.conversation.streamed_reply": "streamed_reply",
            "chatmemory.effect": (
                "Do Effect EffectFailed Failure Fiber Layer ManagedRuntime Outcome Stream Success Tag TestClock "
                "ThreadRuntime catch wire"
            ),
            "chatmemory.errors": (
                "ConversationNotFoundError DataValidationError EmbeddingError GenericMemoryError "
                "MemoryChangedError MemoryConflictError MemoryNotFoundError MessageConflictError "
                "PromptNotFoundError RepositoryError SkillExecutionError VersionConflictError"
            ),
            "chatmemory.longterm.save_form": "SaveForm fill_form opened_form",
            "chatmemory.memories": (
                "Duplicate Embedding ForgetReceipt Memory MemoryChanges MemoryPage Namespace NewMemory "
                "Provenance RememberReport Skipped Stored"
            ),
            "chatmemory.messages": (
                "AddReport ChatMessage Conversation ConversationPage HistoryReport MessagePage NewMessage"
            ),
            "chatmemory.past_chats": (
                "IndexProgress IndexReport IndexRequest PastConversation PastConversationPage PastTurnPage"
            ),
            "chatmemory.prompt": "Prompt PromptFilter",
            "chatmemory.prompt_hits": "Exchange PastRecall PromptHit PromptSearchResult",
            "chatmemory.proposals": "Extraction MemoryUpdate ProposedMemory StatedFact",
            "chatmemory.recall": "Recall RecallHit",
            "chatmemory.settings": "EmbeddingSettings PastChatsSettings Settings StrategySettings",
        },
    )
