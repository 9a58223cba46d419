"""Every service contract, one file each: what a user implements to bring a backend, a model or a strategy of their own.

Each contract is a Protocol and the Tag under which layers provide it.  ``chatmemory.laws`` is how an implementation
knows that it is right.  Time and ids are contracts of the kernel: ``chatmemory.effect.services.clock``, ``chatmemory.effect.services.ids``.
Each name loads its module when it is first used.
"""

from typing import TYPE_CHECKING

from chatmemory.effect.lazy_names import lazy_names

if TYPE_CHECKING:
    from chatmemory.contracts.chat_context import (
        ChatContextBuilder as ChatContextBuilder,
        ChatContextService as ChatContextService,
    )
    from chatmemory.contracts.chat_memory import (
        ChatMemory as ChatMemory,
        ChatMemoryService as ChatMemoryService,
    )
    from chatmemory.contracts.embedder import (
        USUAL_THRESHOLD as USUAL_THRESHOLD,
        Embedder as Embedder,
        EmbedderTag as EmbedderTag,
        Matrix as Matrix,
        Vector as Vector,
    )
    from chatmemory.contracts.history_files import (
        FoundFiles as FoundFiles,
        HistoryFiles as HistoryFiles,
        HistoryFilesTag as HistoryFilesTag,
        TrackedReader as TrackedReader,
    )
    from chatmemory.contracts.history_format import (
        HEAD_BYTES as HEAD_BYTES,
        LEAST_CONFIDENCE as LEAST_CONFIDENCE,
        Claim as Claim,
        Head as Head,
        HistoryFormat as HistoryFormat,
        HistoryReader as HistoryReader,
        KnownRoot as KnownRoot,
        UnreadableHistoryError as UnreadableHistoryError,
    )
    from chatmemory.contracts.history_strategy import (
        HistoryStrategy as HistoryStrategy,
        HistoryStrategyTag as HistoryStrategyTag,
    )
    from chatmemory.contracts.item_condition import Condition as Condition
    from chatmemory.contracts.item_repository import (
        ItemChange as ItemChange,
        ItemName as ItemName,
        ItemPut as ItemPut,
        ItemRepository as ItemRepository,
        ItemRepositoryTag as ItemRepositoryTag,
        ItemSearch as ItemSearch,
        Labels as Labels,
        StoredItem as StoredItem,
    )
    from chatmemory.contracts.long_term_memory import (
        LongTermMemory as LongTermMemory,
        LongTermMemoryService as LongTermMemoryService,
    )
    from chatmemory.contracts.memory_extractor import (
        MemoryExtractor as MemoryExtractor,
        MemoryExtractorTag as MemoryExtractorTag,
    )
    from chatmemory.contracts.memory_repository import (
        Attachment as Attachment,
        Candidate as Candidate,
        Candidates as Candidates,
        Forgetting as Forgetting,
        MemoryDraft as MemoryDraft,
        MemoryListing as MemoryListing,
        MemoryRepository as MemoryRepository,
        MemoryRepositoryTag as MemoryRepositoryTag,
        MemorySearch as MemorySearch,
    )
    from chatmemory.contracts.message_repository import (
        Append as Append,
        Appended as Appended,
        ConversationListing as ConversationListing,
        HistoryWork as HistoryWork,
        MessageDraft as MessageDraft,
        MessageRepository as MessageRepository,
        MessageRepositoryTag as MessageRepositoryTag,
        PageQuery as PageQuery,
        Summary as Summary,
        WorkThreshold as WorkThreshold,
    )
    from chatmemory.contracts.past_chats import (
        PastChats as PastChats,
        PastChatsIndex as PastChatsIndex,
        PastChatsIndexService as PastChatsIndexService,
        PastChatsService as PastChatsService,
        SearchMode as SearchMode,
    )
    from chatmemory.contracts.prompt_ranker import (
        PromptRanker as PromptRanker,
        PromptRankerTag as PromptRankerTag,
    )
    from chatmemory.contracts.prompt_repository import (
        MOST_CANDIDATES as MOST_CANDIDATES,
        PromptCandidate as PromptCandidate,
        PromptCandidates as PromptCandidates,
        PromptRecord as PromptRecord,
        PromptRepository as PromptRepository,
        PromptRepositoryTag as PromptRepositoryTag,
        PromptSearch as PromptSearch,
    )
    from chatmemory.contracts.query_embedder import (
        QueryEmbedder as QueryEmbedder,
        QueryEmbedderTag as QueryEmbedderTag,
    )
    from chatmemory.contracts.recall_ranker import (
        RecallRanker as RecallRanker,
        RecallRankerTag as RecallRankerTag,
    )
    from chatmemory.contracts.skill_runner import (
        SkillRequest as SkillRequest,
        SkillRunner as SkillRunner,
        SkillRunnerTag as SkillRunnerTag,
    )
    from chatmemory.contracts.token_counter import (
        TokenCounter as TokenCounter,
        TokenCounterTag as TokenCounterTag,
    )
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "chatmemory.contracts.chat_context": "ChatContextBuilder ChatContextService",
            "chatmemory.contracts.chat_memory": "ChatMemory ChatMemoryService",
            "chatmemory.contracts.embedder": "Embedder EmbedderTag Matrix USUAL_THRESHOLD Vector",
            "chatmemory.contracts.history_files": "FoundFiles HistoryFiles HistoryFilesTag TrackedReader",
            "chatmemory.contracts.history_format": (
                "Claim HEAD_BYTES Head HistoryFormat HistoryReader KnownRoot LEAST_CONFIDENCE "
                "UnreadableHistoryError"
            ),
            "chatmemory.contracts.history_strategy": "HistoryStrategy HistoryStrategyTag",
            "chatmemory.contracts.item_condition": "Condition",
            "chatmemory.contracts.item_repository": (
                "ItemChange ItemName ItemPut ItemRepository ItemRepositoryTag ItemSearch Labels StoredItem"
            ),
            "chatmemory.contracts.long_term_memory": "LongTermMemory LongTermMemoryService",
            "chatmemory.contracts.memory_extractor": "MemoryExtractor MemoryExtractorTag",
            "chatmemory.contracts.memory_repository": (
                "Attachment Candidate Candidates Forgetting MemoryDraft MemoryListing MemoryRepository "
                "MemoryRepositoryTag MemorySearch"
            ),
            "chatmemory.contracts.message_repository": (
                "Append Appended ConversationListing HistoryWork MessageDraft MessageRepository "
                "MessageRepositoryTag PageQuery Summary WorkThreshold"
            ),
            "chatmemory.contracts.past_chats": (
                "PastChats PastChatsIndex PastChatsIndexService PastChatsService SearchMode"
            ),
            "chatmemory.contracts.prompt_ranker": "PromptRanker PromptRankerTag",
            "chatmemory.contracts.prompt_repository": (
                "MOST_CANDIDATES PromptCandidate PromptCandidates PromptRecord PromptRepository "
                "PromptRepositoryTag PromptSearch"
            ),
            "chatmemory.contracts.query_embedder": "QueryEmbedder QueryEmbedderTag",
            "chatmemory.contracts.recall_ranker": "RecallRanker RecallRankerTag",
            "chatmemory.contracts.skill_runner": "SkillRequest SkillRunner SkillRunnerTag",
            "chatmemory.contracts.token_counter": "TokenCounter TokenCounterTag",
        },
    )
