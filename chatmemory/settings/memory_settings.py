"""Every setting, its default and its rule.

Field names are Python's; in files and documents the same words are written as ``memory.chat.strategy.summarizeEveryN``.
Where settings are read from is none of this module's business: ``chatmemory_layers.configuration`` does that.
"""

# ruff: noqa: PLC0414  what is passed on has a small module of its own, for those who need no more

from math import inf
from typing import Final, Literal, final

from attrs import field, frozen, validators

from chatmemory.effect import Tag
from chatmemory.settings.embedding_settings import (
    EmbeddingSettings as EmbeddingSettings,
    EmbeddingSettingsTag as EmbeddingSettingsTag,
)
from chatmemory.settings.past_chats_settings import (
    PastChatsSettings as PastChatsSettings,
    PastChatsSettingsTag as PastChatsSettingsTag,
)
from chatmemory.settings.server_settings import (
    ServerSettings as ServerSettings,
    ServerSettingsTag as ServerSettingsTag,
    TokenSettings as TokenSettings,
)
from chatmemory.settings.setting_rules import NOT_NEGATIVE, POSITIVE, SOME_TIME, literals_checked

MOST_RECALLED: Final = 200
"""The highest limit of a recall."""

LONGEST_DAYS: Final = 36_525  # a century: an age beyond the calendar would be no date
MOST_MESSAGES: Final = 1_000_000


@final
@frozen(kw_only=True, field_transformer=literals_checked)
class StrategySettings:
    """``memory.chat.strategy``: how a long history is kept short.

    Attributes:
        type: ``none`` keeps every message in view; ``summarize`` acts on the number of messages, ``token_budget`` on
            their size.
        summarize_every_n: messages without a summary that make one due.
        keep_last: the newest messages, which are never summarized; fewer than *summarize_every_n*.
        token_budget: tokens that the model's view may have before its oldest part is summarized.
        skill_id: the skill that writes summaries.
        delete_summarized_messages: delete what a summary covers.  Otherwise it stays in the full view.
        rolling: the new summary covers the earlier one too, so that the view holds one.
        execution: ``inline``: the add waits for the summary.  ``background``: it does not.
        timeout_seconds: how long a skill may take.
        max_summary_characters: a longer summary is refused.
        retry_seconds: the first pause after a failure; it doubles with every further one, up to an hour.
    """

    type: Literal["none", "summarize", "token_budget"] = "none"
    summarize_every_n: int = field(default=20, validator=POSITIVE)
    keep_last: int = field(default=4, validator=NOT_NEGATIVE)
    token_budget: int = field(default=8000, validator=POSITIVE)
    skill_id: str = field(default="conversation-summary", validator=validators.min_len(1))
    delete_summarized_messages: bool = False
    rolling: bool = True
    execution: Literal["inline", "background"] = "inline"
    timeout_seconds: float = field(default=30.0, validator=SOME_TIME)
    max_summary_characters: int = field(default=4000, validator=POSITIVE)
    retry_seconds: float = field(default=5.0, validator=SOME_TIME)

    def __attrs_post_init__(self) -> None:
        if self.type == "summarize" and self.keep_last >= self.summarize_every_n:
            msg = f"keepLast ({self.keep_last}) must be less than summarizeEveryN ({self.summarize_every_n})"
            raise ValueError(msg)


@final
@frozen(kw_only=True)
class ChatSettings:
    """``memory.chat``."""

    strategy: StrategySettings = field(factory=StrategySettings)


@final
@frozen(kw_only=True, field_transformer=literals_checked)
class SkillSettings:
    """``memory.skill``: what runs the skills.

    Attributes:
        runner: ``extractive`` works offline; ``openai_compatible`` asks a model over HTTP.
        base_url: of the endpoint, up to and without ``/chat/completions``.
        api_key: sent as a bearer token; empty: none is sent.
        timeout_seconds: for one request.
        max_retries: further requests after one that failed for a passing reason.
    """

    runner: Literal["extractive", "openai_compatible"] = "extractive"
    base_url: str = "http://localhost:11434/v1"
    api_key: str = field(default="", repr=False)
    model: str = ""
    timeout_seconds: float = field(default=20.0, validator=SOME_TIME)
    max_retries: int = field(default=2, validator=NOT_NEGATIVE)


@final
@frozen(kw_only=True, field_transformer=literals_checked)
class SqliteSettings:
    """``memory.store.sqlite``.

    Attributes:
        path: the file; its folder must exist.
        durability: ``full``: what was acknowledged survives a power loss.  ``process``: it survives the end of the
            process, and the last moments before a power loss may be gone.
        busy_timeout_seconds: how long a write waits for writers of other processes.
        legacy_file: what to do with a file of the desktop application (schema version 5 or 6).  ``backup``: copy it
            beside itself (``<file>.v5.backup``, which keeps what is forgotten later: delete it in time), then migrate
            it.  ``in_place``: migrate it.  ``refuse``: leave it alone.
        legacy_user: whose memories those of such a file are; it names nobody.
    """

    path: str = "chatmemory.db"
    durability: Literal["full", "process"] = "full"
    busy_timeout_seconds: float = field(default=10.0, validator=SOME_TIME)
    legacy_file: Literal["backup", "in_place", "refuse"] = "backup"
    legacy_user: str = field(default="default", validator=validators.min_len(1))


@final
@frozen(kw_only=True)
class PostgresSettings:
    """``memory.store.postgres``.

    Attributes:
        dsn: of the primary, ``postgresql://user@host/database``.
        reader_dsn: of a read replica for reads that may lag behind; empty: the primary answers them.
        pool_size: connections at most, for each of the two.
        statement_cache_size: prepared statements per connection; 0 behind a PgBouncer older than 1.21 in transaction mode.
        timeout_seconds: for opening the store, and for one transaction.
    """

    dsn: str = field(default="", repr=False)
    reader_dsn: str = field(default="", repr=False)
    pool_size: int = field(default=10, validator=POSITIVE)
    statement_cache_size: int = field(default=100, validator=NOT_NEGATIVE)
    timeout_seconds: float = field(default=30.0, validator=SOME_TIME)


@final
@frozen(kw_only=True, field_transformer=literals_checked)
class StoreSettings:
    """``memory.store``: where messages are kept."""

    backend: Literal["in_memory", "sqlite", "postgres"] = "sqlite"
    sqlite: SqliteSettings = field(factory=SqliteSettings)
    postgres: PostgresSettings = field(factory=PostgresSettings)


@final
@frozen(kw_only=True)
class RetrievalSettings:
    """``memory.retrieval``: how long-term memories are recalled.

    Attributes:
        limit: memories at most, when the caller names no limit (``MEMORY_RETRIEVAL_LIMIT``, spec 002).
        similarity_threshold: cosine below which a vector is no evidence (spec 001, D2); None: the embedder's own, which
            is 0.3 unless it knows better.
        decay_per_day: a memory's weight is ``1 / (1 + days * decay_per_day)``; 0: nothing decays (spec 001, D2).
        lexical_share: how much of the score the words have, the rest is the vectors'.
    """

    limit: int = field(default=5, validator=[POSITIVE, validators.le(MOST_RECALLED)])
    similarity_threshold: float | None = field(
        default=None, validator=validators.optional([validators.ge(-1.0), validators.le(1.0)])
    )
    decay_per_day: float = field(default=0.01, validator=[validators.ge(0.0), validators.lt(inf)])
    lexical_share: float = field(default=0.5, validator=[validators.ge(0.0), validators.le(1.0)])


@final
@frozen(kw_only=True, field_transformer=literals_checked)
class ExtractionSettings:
    """``memory.extraction``: what finds memories in a text.

    Attributes:
        extractor: ``rules`` works offline; ``skill`` asks the skill runner, and falls back to the rules.
        skill_id: the skill that extracts.
        timeout_seconds: how long the skill may take.
        least_confidence: what is less sure is not saved by itself.
    """

    extractor: Literal["rules", "skill"] = "rules"
    skill_id: str = field(default="memory-extraction", validator=validators.min_len(1))
    timeout_seconds: float = field(default=30.0, validator=SOME_TIME)
    least_confidence: float = field(default=0.5, validator=[validators.ge(0.0), validators.le(1.0)])


@final
@frozen(kw_only=True)
class PromotionSettings:
    """``memory.promotion``: when a short-term memory becomes long-term without a person.

    Attributes:
        after_sessions: once it was used in so many sessions, if the user stated it; 0: never.
    """

    after_sessions: int = field(default=0, validator=NOT_NEGATIVE)


@final
@frozen(kw_only=True)
class ExpirySettings:
    """``memory.expiry``: when a short-term memory goes by itself.

    Attributes:
        at_session_end: with the end of its session.
        short_term_days: at this age; 0: never.
    """

    at_session_end: bool = False
    short_term_days: float = field(
        default=0.0, validator=[validators.ge(0.0), validators.le(float(LONGEST_DAYS))]
    )


@final
@frozen(kw_only=True, field_transformer=literals_checked)
class ContextSettings:
    """``memory.context``: what a model receives for a user's message.

    Attributes:
        tokens: of all messages together, at most.
        memory_share: how much of *tokens* memories may take; what they leave belongs to the conversation.
        memory_role: whose message they stand in.  ``system``: in the one system message.  ``user``: in a message of
            their own, which models trust less.
        window_messages: the newest messages of the conversation, at most.
        recall: whether long-term memories are recalled at all; how many, ``memory.retrieval.limit`` says.
    """

    tokens: int = field(default=8000, validator=POSITIVE)
    memory_share: float = field(default=0.25, validator=[validators.ge(0.0), validators.le(1.0)])
    memory_role: Literal["system", "user"] = "system"
    window_messages: int = field(default=50, validator=[NOT_NEGATIVE, validators.le(MOST_MESSAGES)])
    recall: bool = True


@final
@frozen(kw_only=True)
class MemorySettings:
    """``memory``."""

    chat: ChatSettings = field(factory=ChatSettings)
    retrieval: RetrievalSettings = field(factory=RetrievalSettings)
    embedding: EmbeddingSettings = field(factory=EmbeddingSettings)
    extraction: ExtractionSettings = field(factory=ExtractionSettings)
    promotion: PromotionSettings = field(factory=PromotionSettings)
    expiry: ExpirySettings = field(factory=ExpirySettings)
    context: ContextSettings = field(factory=ContextSettings)
    past_chats: PastChatsSettings = field(factory=PastChatsSettings)
    skill: SkillSettings = field(factory=SkillSettings)
    store: StoreSettings = field(factory=StoreSettings)


@final
@frozen(kw_only=True)
class Settings:
    """Every setting of chatmemory, as ``config/chatmemory.toml`` explains them."""

    memory: MemorySettings = field(factory=MemorySettings)
    server: ServerSettings = field(factory=ServerSettings)


class StrategySettingsTag(Tag[StrategySettings]):
    """Where layers provide ``StrategySettings``."""


class SkillSettingsTag(Tag[SkillSettings]):
    """Where layers provide ``SkillSettings``."""


class SqliteSettingsTag(Tag[SqliteSettings]):
    """Where layers provide ``SqliteSettings``."""


class PostgresSettingsTag(Tag[PostgresSettings]):
    """Where layers provide ``PostgresSettings``."""


class RetrievalSettingsTag(Tag[RetrievalSettings]):
    """Where layers provide ``RetrievalSettings``."""


class ExtractionSettingsTag(Tag[ExtractionSettings]):
    """Where layers provide ``ExtractionSettings``."""


class PromotionSettingsTag(Tag[PromotionSettings]):
    """Where layers provide ``PromotionSettings``."""


class ExpirySettingsTag(Tag[ExpirySettings]):
    """Where layers provide ``ExpirySettings``."""


class ContextSettingsTag(Tag[ContextSettings]):
    """Where layers provide ``ContextSettings``."""
