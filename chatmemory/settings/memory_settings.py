"""Every setting of ``memory``, its default and its rule.

Field names are Python's; files and documents write them as ``memory.chat.strategy.summarizeEveryN``.
``chatmemory_layers.configuration`` reads the settings from files and the environment.
"""

# ruff: noqa: PLC0414  what is passed on has a small module of its own, for those who need no more

from math import inf
from typing import Final, Literal, final

from attrs import field, frozen, validators

from chatmemory.effect import Tag
from chatmemory.input.structuring import ALSO
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

LONGEST_DAYS: Final = 36_525  # a century: an older date could be outside the calendar
MOST_MESSAGES: Final = 1_000_000


@final
@frozen(kw_only=True, field_transformer=literals_checked)
class StrategySettings:
    """``memory.chat.strategy``: how a long conversation is kept short.

    Attributes:
        type: ``none`` keeps every message in the model's view; ``summarize`` summarizes after a number of messages,
            ``token_budget`` after a number of tokens.
        summarize_every_n: how many messages without a summary make a new summary due.  The messages that *keep_last*
            keeps count again, so summaries come every *summarize_every_n* - *keep_last* messages after the first:
            with 20 and 4 when there are 20 messages, 36, 52 ...
        keep_last: how many of the newest messages a summary leaves as they are; less than *summarize_every_n*.
        token_budget: how many tokens the model's view may have before its oldest part is summarized.
        skill_id: the skill that writes summaries.
        delete_summarized_messages: delete the messages that a summary covers; otherwise they stay in the full view.
        rolling: a new summary also covers the earlier summary, so that the view has only one.
        execution: ``inline``: an add waits for the summary.  ``background``: it does not wait.
        timeout_seconds: the time limit of the skill.
        max_summary_characters: a summary with more characters is rejected.
        retry_seconds: the pause after the first failure; it doubles after each further failure, up to an hour.
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
    """``memory.skill``: how skills are run.

    Attributes:
        runner: ``extractive`` works offline; ``openai_compatible`` calls a model over HTTP.
        base_url: the address of the endpoint, without ``/chat/completions`` at its end.
        api_key: sent as a bearer token; empty: none is sent.
        model: the name of the model.
        timeout_seconds: the time limit of one request.
        max_retries: how often a request is repeated after a temporary failure.
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
    """``memory.store.sqlite``: the SQLite file.

    Attributes:
        path: the path of the file; its folder must exist.
        durability: ``full``: an acknowledged write survives a power loss.  ``process``: it survives the end of the
            process, but the last writes before a power loss may be lost.
        busy_timeout_seconds: how long a write waits for writers of other processes.
        legacy_file: what to do with a file of the desktop application (schema version 5 or 6).  ``backup``: copy it
            to ``<file>.v5.backup`` and migrate it; the copy keeps what is forgotten later, so delete it in time.
            ``in_place``: migrate it without a copy.  ``refuse``: do not open it.
        legacy_user: the user who owns the memories of such a file, because the file itself names no user.
    """

    path: str = "chatmemory.db"
    durability: Literal["full", "process"] = "full"
    busy_timeout_seconds: float = field(default=10.0, validator=SOME_TIME)
    legacy_file: Literal["backup", "in_place", "refuse"] = "backup"
    legacy_user: str = field(default="default", validator=validators.min_len(1))


@final
@frozen(kw_only=True)
class PostgresSettings:
    """``memory.store.postgres``: the PostgreSQL database.

    Attributes:
        dsn: the address of the primary, ``postgresql://user@host/database``.
        reader_dsn: the address of a read replica, for reads that may lag behind; empty: the primary answers them.
        pool_size: the largest number of connections to each of the two.
        statement_cache_size: prepared statements per connection; 0 behind a PgBouncer older than 1.21 in transaction mode.
        timeout_seconds: the time limit for opening the store, and for one transaction.
        row_security: the database server itself limits reads and changes to the rights of the principal; the database
            role must be neither a superuser nor have BYPASSRLS.
    """

    dsn: str = field(default="", repr=False)
    reader_dsn: str = field(default="", repr=False)
    pool_size: int = field(default=10, validator=POSITIVE)
    statement_cache_size: int = field(default=100, validator=NOT_NEGATIVE)
    timeout_seconds: float = field(default=30.0, validator=SOME_TIME)
    row_security: bool = False


@final
@frozen(kw_only=True, field_transformer=literals_checked)
class StoreSettings:
    """``memory.store``: where messages and memories are stored."""

    backend: Literal["in_memory", "sqlite", "postgres"] = "sqlite"
    sqlite: SqliteSettings = field(factory=SqliteSettings)
    postgres: PostgresSettings = field(factory=PostgresSettings)


@final
@frozen(kw_only=True)
class RetrievalSettings:
    """``memory.retrieval``: how long-term memories are recalled.

    Attributes:
        limit: the largest number of memories when the caller gives no limit (``MEMORY_RETRIEVAL_LIMIT``, spec 002).
        similarity_threshold: a vector with a lower cosine does not count; None: the threshold of the embedder, which is
            0.3 unless the embedder has its own.  Spec 001 (D2) names it ``RagSimilarityThreshold``, and so may files.
        decay_per_day: the weight of a memory that was inferred or came from a system is ``1 / (1 + days *
            decay_per_day)``, unless it is pinned; what the user stated keeps its weight.  0: no decay.  Spec 001 (D2)
            names it ``RagTimeDecayRate``, and so may files.
        lexical_share: the share of words in the score, 0 to 1; the rest is the share of vectors.
    """

    limit: int = field(default=5, validator=[POSITIVE, validators.le(MOST_RECALLED)])
    similarity_threshold: float | None = field(
        default=None,
        validator=validators.optional([validators.ge(-1.0), validators.le(1.0)]),
        metadata={ALSO: "RagSimilarityThreshold"},
    )
    decay_per_day: float = field(
        default=0.01,
        validator=[validators.ge(0.0), validators.lt(inf)],
        metadata={ALSO: "RagTimeDecayRate"},
    )
    lexical_share: float = field(default=0.5, validator=[validators.ge(0.0), validators.le(1.0)])


@final
@frozen(kw_only=True, field_transformer=literals_checked)
class ExtractionSettings:
    """``memory.extraction``: how memories are extracted from a text.

    Attributes:
        extractor: ``rules`` works offline; ``skill`` calls the skill runner, and uses the rules when that fails.
        skill_id: the skill that extracts.
        timeout_seconds: the time limit of the skill.
        least_confidence: a proposal with less confidence is not saved automatically.
    """

    extractor: Literal["rules", "skill"] = "rules"
    skill_id: str = field(default="memory-extraction", validator=validators.min_len(1))
    timeout_seconds: float = field(default=30.0, validator=SOME_TIME)
    least_confidence: float = field(default=0.5, validator=[validators.ge(0.0), validators.le(1.0)])


@final
@frozen(kw_only=True)
class PromotionSettings:
    """``memory.promotion``: when a short-term memory becomes long-term automatically.

    Attributes:
        after_sessions: in how many sessions a memory that the user stated has to be used; 0: never.  A context uses it
            when the user's message shares words with it, in another session than its own.
    """

    after_sessions: int = field(default=0, validator=NOT_NEGATIVE)


@final
@frozen(kw_only=True)
class ExpirySettings:
    """``memory.expiry``: when a short-term memory is removed automatically.

    Attributes:
        at_session_end: remove it when its session ends.
        short_term_days: remove it at this age, in days; 0: never.
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
        tokens: the largest number of tokens of all messages together.
        memory_share: the share of *tokens* that memories may use, 0 to 1; what they do not use is left to the
            conversation.
        memory_role: ``system``: memories are put into the system message.  ``user``: into a message of their own, which
            models trust less.
        window_messages: the largest number of messages of the conversation; the newest ones are used.
        recall: whether long-term memories are recalled at all; ``memory.retrieval.limit`` says how many.
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
    """The tag under which layers provide ``StrategySettings``."""


class SkillSettingsTag(Tag[SkillSettings]):
    """The tag under which layers provide ``SkillSettings``."""


class SqliteSettingsTag(Tag[SqliteSettings]):
    """The tag under which layers provide ``SqliteSettings``."""


class PostgresSettingsTag(Tag[PostgresSettings]):
    """The tag under which layers provide ``PostgresSettings``."""


class RetrievalSettingsTag(Tag[RetrievalSettings]):
    """The tag under which layers provide ``RetrievalSettings``."""


class ExtractionSettingsTag(Tag[ExtractionSettings]):
    """The tag under which layers provide ``ExtractionSettings``."""


class PromotionSettingsTag(Tag[PromotionSettings]):
    """The tag under which layers provide ``PromotionSettings``."""


class ExpirySettingsTag(Tag[ExpirySettings]):
    """The tag under which layers provide ``ExpirySettings``."""


class ContextSettingsTag(Tag[ContextSettings]):
    """The tag under which layers provide ``ContextSettings``."""
