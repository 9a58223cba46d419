from chatmemory.settings.embedding_settings import (
    EmbeddingSettings as EmbeddingSettings,
    EmbeddingSettingsTag as EmbeddingSettingsTag,
)
from chatmemory.settings.memory_settings import (
    LONGEST_DAYS as LONGEST_DAYS,
    MOST_MESSAGES as MOST_MESSAGES,
    MOST_RECALLED as MOST_RECALLED,
    ChatSettings as ChatSettings,
    ContextSettings as ContextSettings,
    ContextSettingsTag as ContextSettingsTag,
    ExpirySettings as ExpirySettings,
    ExpirySettingsTag as ExpirySettingsTag,
    ExtractionSettings as ExtractionSettings,
    ExtractionSettingsTag as ExtractionSettingsTag,
    MemorySettings as MemorySettings,
    PostgresSettings as PostgresSettings,
    PostgresSettingsTag as PostgresSettingsTag,
    PromotionSettings as PromotionSettings,
    PromotionSettingsTag as PromotionSettingsTag,
    RetrievalSettings as RetrievalSettings,
    RetrievalSettingsTag as RetrievalSettingsTag,
    Settings as Settings,
    SkillSettings as SkillSettings,
    SkillSettingsTag as SkillSettingsTag,
    SqliteSettings as SqliteSettings,
    SqliteSettingsTag as SqliteSettingsTag,
    StoreSettings as StoreSettings,
    StrategySettings as StrategySettings,
    StrategySettingsTag as StrategySettingsTag,
)
from chatmemory.settings.past_chats_settings import (
    PastChatsSettings as PastChatsSettings,
    PastChatsSettingsTag as PastChatsSettingsTag,
)
from chatmemory.settings.server_settings import (
    HIGHEST_PORT as HIGHEST_PORT,
    SENDABLE as SENDABLE,
    SHORTEST_TOKEN as SHORTEST_TOKEN,
    ServerSettings as ServerSettings,
    ServerSettingsTag as ServerSettingsTag,
    TokenSettings as TokenSettings,
)
