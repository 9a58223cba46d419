"""Every setting, its default and its rule.

Field names are Python's; in files and documents the same words are written as ``memory.chat.strategy.summarizeEveryN``.
Where settings are read from is none of this module's business: ``chatmemory_layers.configuration`` does that.
"""

from typing import Literal, final

from attrs import field, frozen, validators

from chatmemory.effect import Tag

_positive = validators.ge(1)
_not_negative = validators.ge(0)
_some_time = validators.gt(0.0)


@final
@frozen(kw_only=True)
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
    summarize_every_n: int = field(default=20, validator=_positive)
    keep_last: int = field(default=4, validator=_not_negative)
    token_budget: int = field(default=8000, validator=_positive)
    skill_id: str = field(default="conversation-summary", validator=validators.min_len(1))
    delete_summarized_messages: bool = False
    rolling: bool = True
    execution: Literal["inline", "background"] = "inline"
    timeout_seconds: float = field(default=30.0, validator=_some_time)
    max_summary_characters: int = field(default=4000, validator=_positive)
    retry_seconds: float = field(default=5.0, validator=_some_time)

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
@frozen(kw_only=True)
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
    timeout_seconds: float = field(default=20.0, validator=_some_time)
    max_retries: int = field(default=2, validator=_not_negative)


@final
@frozen(kw_only=True)
class SqliteSettings:
    """``memory.store.sqlite``.

    Attributes:
        path: the file; its folder must exist.
        durability: ``full``: what was acknowledged survives a power loss.  ``process``: it survives the end of the
            process, and the last moments before a power loss may be gone.
        busy_timeout_seconds: how long a write waits for writers of other processes.
    """

    path: str = "chatmemory.db"
    durability: Literal["full", "process"] = "full"
    busy_timeout_seconds: float = field(default=10.0, validator=_some_time)


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
    pool_size: int = field(default=10, validator=_positive)
    statement_cache_size: int = field(default=100, validator=_not_negative)
    timeout_seconds: float = field(default=30.0, validator=_some_time)


@final
@frozen(kw_only=True)
class StoreSettings:
    """``memory.store``: where messages are kept."""

    backend: Literal["in_memory", "sqlite", "postgres"] = "sqlite"
    sqlite: SqliteSettings = field(factory=SqliteSettings)
    postgres: PostgresSettings = field(factory=PostgresSettings)


@final
@frozen(kw_only=True)
class MemorySettings:
    """``memory``."""

    chat: ChatSettings = field(factory=ChatSettings)
    skill: SkillSettings = field(factory=SkillSettings)
    store: StoreSettings = field(factory=StoreSettings)


@final
@frozen(kw_only=True)
class Settings:
    """Every setting of chatmemory, as ``config/chatmemory.toml`` explains them."""

    memory: MemorySettings = field(factory=MemorySettings)


class StrategySettingsTag(Tag[StrategySettings]):
    """Where layers provide ``StrategySettings``."""


class SkillSettingsTag(Tag[SkillSettings]):
    """Where layers provide ``SkillSettings``."""


class SqliteSettingsTag(Tag[SqliteSettings]):
    """Where layers provide ``SqliteSettings``."""


class PostgresSettingsTag(Tag[PostgresSettings]):
    """Where layers provide ``PostgresSettings``."""
