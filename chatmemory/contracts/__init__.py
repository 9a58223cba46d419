"""Every service contract, one file each: what a user implements to bring a backend, a model or a strategy of their own.

Each contract is a Protocol and the Tag under which layers provide it.  ``chatmemory.laws`` is how an implementation
knows that it is right.  Time and ids are contracts of the kernel: ``chatmemory.effect.clock``, ``chatmemory.effect.ids``.
"""

from chatmemory.contracts.chat_context import ChatContextBuilder, ChatContextService
from chatmemory.contracts.chat_memory import ChatMemory, ChatMemoryService
from chatmemory.contracts.embedder import USUAL_THRESHOLD, Embedder, EmbedderTag, Matrix, Vector
from chatmemory.contracts.history_files import FoundFiles, HistoryFiles, HistoryFilesTag, TrackedReader
from chatmemory.contracts.history_format import (
    HEAD_BYTES,
    LEAST_CONFIDENCE,
    Claim,
    Head,
    HistoryFormat,
    HistoryReader,
    KnownRoot,
    UnreadableHistoryError,
)
from chatmemory.contracts.history_strategy import HistoryStrategy, HistoryStrategyTag
from chatmemory.contracts.long_term_memory import LongTermMemory, LongTermMemoryService
from chatmemory.contracts.memory_extractor import MemoryExtractor, MemoryExtractorTag
from chatmemory.contracts.memory_repository import (
    Attachment,
    Candidate,
    Candidates,
    Forgetting,
    MemoryDraft,
    MemoryListing,
    MemoryRepository,
    MemoryRepositoryTag,
    MemorySearch,
)
from chatmemory.contracts.message_repository import (
    Append,
    Appended,
    HistoryWork,
    MessageDraft,
    MessageRepository,
    MessageRepositoryTag,
    PageQuery,
    Summary,
    WorkIsDue,
)
from chatmemory.contracts.past_chats import (
    PastChats,
    PastChatsIndex,
    PastChatsIndexService,
    PastChatsService,
    SearchMode,
)
from chatmemory.contracts.prompt_ranker import PromptRanker, PromptRankerTag
from chatmemory.contracts.prompt_repository import (
    MOST_CANDIDATES,
    PromptCandidate,
    PromptCandidates,
    PromptRecord,
    PromptRepository,
    PromptRepositoryTag,
    PromptSearch,
)
from chatmemory.contracts.query_embedder import QueryEmbedder, QueryEmbedderTag
from chatmemory.contracts.recall_ranker import RecallRanker, RecallRankerTag
from chatmemory.contracts.skill_runner import SkillRequest, SkillRunner, SkillRunnerTag
from chatmemory.contracts.token_counter import TokenCounter, TokenCounterTag

__all__ = [
    "HEAD_BYTES",
    "LEAST_CONFIDENCE",
    "MOST_CANDIDATES",
    "USUAL_THRESHOLD",
    "Append",
    "Appended",
    "Attachment",
    "Candidate",
    "Candidates",
    "ChatContextBuilder",
    "ChatContextService",
    "ChatMemory",
    "ChatMemoryService",
    "Claim",
    "Embedder",
    "EmbedderTag",
    "Forgetting",
    "FoundFiles",
    "Head",
    "HistoryFiles",
    "HistoryFilesTag",
    "HistoryFormat",
    "HistoryReader",
    "HistoryStrategy",
    "HistoryStrategyTag",
    "HistoryWork",
    "KnownRoot",
    "LongTermMemory",
    "LongTermMemoryService",
    "Matrix",
    "MemoryDraft",
    "MemoryExtractor",
    "MemoryExtractorTag",
    "MemoryListing",
    "MemoryRepository",
    "MemoryRepositoryTag",
    "MemorySearch",
    "MessageDraft",
    "MessageRepository",
    "MessageRepositoryTag",
    "PageQuery",
    "PastChats",
    "PastChatsIndex",
    "PastChatsIndexService",
    "PastChatsService",
    "PromptCandidate",
    "PromptCandidates",
    "PromptRanker",
    "PromptRankerTag",
    "PromptRecord",
    "PromptRepository",
    "PromptRepositoryTag",
    "PromptSearch",
    "QueryEmbedder",
    "QueryEmbedderTag",
    "RecallRanker",
    "RecallRankerTag",
    "SearchMode",
    "SkillRequest",
    "SkillRunner",
    "SkillRunnerTag",
    "Summary",
    "TokenCounter",
    "TokenCounterTag",
    "TrackedReader",
    "UnreadableHistoryError",
    "Vector",
    "WorkIsDue",
]
