from chatmemory.access.namespace import Namespace as Namespace
from chatmemory.access.principal import (
    EVERYBODY as EVERYBODY,
    Granted as Granted,
    Principal as Principal,
    acting_as as acting_as,
    principal as principal,
)
from chatmemory.context.agent_prompt import (
    AgentPrompt as AgentPrompt,
    AgentTurn as AgentTurn,
    agent_messages as agent_messages,
    agent_prompt as agent_prompt,
)
from chatmemory.context.chat_context import ChatContext as ChatContext, Instructions as Instructions
from chatmemory.context.contract import (
    ChatContextBuilder as ChatContextBuilder,
    ChatContextService as ChatContextService,
)
from chatmemory.conversation.contract import ChatMemory as ChatMemory, ChatMemoryService as ChatMemoryService
from chatmemory.conversation.message_repository import (
    Append as Append,
    Appended as Appended,
    ConversationListing as ConversationListing,
    Fork as Fork,
    HistoryWork as HistoryWork,
    MessageDraft as MessageDraft,
    MessageRepository as MessageRepository,
    MessageRepositoryTag as MessageRepositoryTag,
    PageQuery as PageQuery,
    Summary as Summary,
    WorkThreshold as WorkThreshold,
)
from chatmemory.conversation.message_search import (
    MessageSearch as MessageSearch,
    search_messages as search_messages,
)
from chatmemory.conversation.messages import (
    AddReport as AddReport,
    ChatMessage as ChatMessage,
    Conversation as Conversation,
    ConversationPage as ConversationPage,
    Forked as Forked,
    ForkOrigin as ForkOrigin,
    HistoryReport as HistoryReport,
    MessagePage as MessagePage,
    Undone as Undone,
)
from chatmemory.conversation.new_message import NewMessage as NewMessage
from chatmemory.conversation.skill_runner import (
    SkillRequest as SkillRequest,
    SkillRunner as SkillRunner,
    SkillRunnerTag as SkillRunnerTag,
)
from chatmemory.conversation.strategies.contract import (
    HistoryStrategy as HistoryStrategy,
    HistoryStrategyTag as HistoryStrategyTag,
)
from chatmemory.conversation.streamed_reply import streamed_reply as streamed_reply
from chatmemory.conversation.token_counter import (
    TokenCounter as TokenCounter,
    TokenCounterTag as TokenCounterTag,
)
from chatmemory.effect import (
    Delegating as Delegating,
    Do as Do,
    Effect as Effect,
    EffectFailed as EffectFailed,
    Failure as Failure,
    Layer as Layer,
    ManagedRuntime as ManagedRuntime,
    Outcome as Outcome,
    Stream as Stream,
    Success as Success,
    Tag as Tag,
    TestClock as TestClock,
    ThreadRuntime as ThreadRuntime,
    catch as catch,
)
from chatmemory.embedding.embedder import (
    USUAL_THRESHOLD as USUAL_THRESHOLD,
    Embedder as Embedder,
    EmbedderTag as EmbedderTag,
    Matrix as Matrix,
    Vector as Vector,
)
from chatmemory.embedding.query_embedder import (
    QueryEmbedder as QueryEmbedder,
    QueryEmbedderTag as QueryEmbedderTag,
)
from chatmemory.embedding.space import Embedding as Embedding
from chatmemory.errors import (
    AccessDeniedError as AccessDeniedError,
    AddError as AddError,
    AppendError as AppendError,
    ConversationNotFoundError as ConversationNotFoundError,
    DataValidationError as DataValidationError,
    EmbeddingError as EmbeddingError,
    GenericMemoryError as GenericMemoryError,
    MemoryChangedError as MemoryChangedError,
    MemoryConflictError as MemoryConflictError,
    MemoryNotFoundError as MemoryNotFoundError,
    MessageConflictError as MessageConflictError,
    NotUndoableError as NotUndoableError,
    PromptNotFoundError as PromptNotFoundError,
    ReadError as ReadError,
    RepositoryError as RepositoryError,
    SkillExecutionError as SkillExecutionError,
    VersionConflictError as VersionConflictError,
)
from chatmemory.events.audit import (
    AuditEntry as AuditEntry,
    AuditTrail as AuditTrail,
    AuditTrailTag as AuditTrailTag,
)
from chatmemory.events.event import Event as Event, EventAction as EventAction, EventKind as EventKind
from chatmemory.events.event_log import (
    AuditQuery as AuditQuery,
    EventLog as EventLog,
    EventLogTag as EventLogTag,
)
from chatmemory.items.item_repository import (
    Condition as Condition,
    ItemChange as ItemChange,
    ItemName as ItemName,
    ItemPut as ItemPut,
    ItemRepository as ItemRepository,
    ItemRepositoryTag as ItemRepositoryTag,
    ItemSearch as ItemSearch,
    Labels as Labels,
    StoredItem as StoredItem,
)
from chatmemory.longterm.contract import (
    LongTermMemory as LongTermMemory,
    LongTermMemoryService as LongTermMemoryService,
)
from chatmemory.longterm.extraction.memory_extractor import (
    Evidence as Evidence,
    Extraction as Extraction,
    MemoryExtractor as MemoryExtractor,
    MemoryExtractorTag as MemoryExtractorTag,
    MemoryUpdate as MemoryUpdate,
    ProposedMemory as ProposedMemory,
    StatedFact as StatedFact,
)
from chatmemory.longterm.memories import (
    Duplicate as Duplicate,
    EarlierContent as EarlierContent,
    ForgetReceipt as ForgetReceipt,
    Memory as Memory,
    MemoryChanges as MemoryChanges,
    MemoryHistory as MemoryHistory,
    MemoryPage as MemoryPage,
    NewMemory as NewMemory,
    Provenance as Provenance,
    RememberReport as RememberReport,
    Skipped as Skipped,
    Stored as Stored,
)
from chatmemory.longterm.memory_repository import (
    MemoryRepository as MemoryRepository,
    MemoryRepositoryTag as MemoryRepositoryTag,
)
from chatmemory.longterm.recall.recall import Recall as Recall, RecallHit as RecallHit
from chatmemory.longterm.recall.recall_ranker import (
    RecallRanker as RecallRanker,
    RecallRankerTag as RecallRankerTag,
)
from chatmemory.longterm.repository_values import (
    Attachment as Attachment,
    Candidate as Candidate,
    Candidates as Candidates,
    Forgetting as Forgetting,
    MemoryDraft as MemoryDraft,
    MemoryListing as MemoryListing,
    MemorySearch as MemorySearch,
)
from chatmemory.longterm.saving.memory_drafts import (
    SaveForm as SaveForm,
    fill_form as fill_form,
    opened_form as opened_form,
)
from chatmemory.pastchats.contract import (
    PastChats as PastChats,
    PastChatsIndex as PastChatsIndex,
    PastChatsIndexService as PastChatsIndexService,
    PastChatsService as PastChatsService,
    SearchMode as SearchMode,
)
from chatmemory.pastchats.finding.prompt_hits import (
    Exchange as Exchange,
    PastRecall as PastRecall,
    PromptHit as PromptHit,
    PromptRanker as PromptRanker,
    PromptRankerTag as PromptRankerTag,
    PromptSearchResult as PromptSearchResult,
)
from chatmemory.pastchats.formats.history_format import (
    HEAD_BYTES as HEAD_BYTES,
    LEAST_CONFIDENCE as LEAST_CONFIDENCE,
    Claim as Claim,
    Head as Head,
    HistoryFormat as HistoryFormat,
    HistoryReader as HistoryReader,
    KnownRoot as KnownRoot,
    UnreadableHistoryError as UnreadableHistoryError,
)
from chatmemory.pastchats.indexing.history_files import (
    FoundFiles as FoundFiles,
    HistoryFiles as HistoryFiles,
    HistoryFilesTag as HistoryFilesTag,
    TrackedReader as TrackedReader,
)
from chatmemory.pastchats.past_chats import (
    IndexProgress as IndexProgress,
    IndexReport as IndexReport,
    IndexRequest as IndexRequest,
    PastConversation as PastConversation,
    PastConversationPage as PastConversationPage,
    PastTurnPage as PastTurnPage,
)
from chatmemory.pastchats.prompt import Prompt as Prompt, PromptFilter as PromptFilter
from chatmemory.pastchats.prompt_repository import (
    MOST_CANDIDATES as MOST_CANDIDATES,
    PromptCandidate as PromptCandidate,
    PromptCandidates as PromptCandidates,
    PromptRecord as PromptRecord,
    PromptRepository as PromptRepository,
    PromptRepositoryTag as PromptRepositoryTag,
    PromptSearch as PromptSearch,
)
from chatmemory.settings.embedding_settings import EmbeddingSettings as EmbeddingSettings
from chatmemory.settings.memory_settings import (
    ServerSettings as ServerSettings,
    Settings as Settings,
    StrategySettings as StrategySettings,
)
from chatmemory.settings.past_chats_settings import PastChatsSettings as PastChatsSettings
