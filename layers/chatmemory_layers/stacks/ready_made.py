"""``embedded``, ``postgres``, ``testing``, ``configured`` and ``from_configuration``: the ready-made stacks.

Wiring only: the parts are defined elsewhere, and any part can be replaced, see ``Parts``.
The log, the audit trail and the first answers come from the repositories, so a stack whose repositories are all replaced
opens no store.
"""

import os
from collections.abc import Mapping
from importlib.util import find_spec
from inspect import getattr_static
from typing import TYPE_CHECKING, Any, Literal, Never, TypeAlias, TypedDict, assert_never

from typing_extensions import Unpack

from chatmemory.context.chat_context_live import chat_context
from chatmemory.context.contract import ChatContextService
from chatmemory.conversation.chat_memory_live import chat_memory
from chatmemory.conversation.contract import ChatMemoryService
from chatmemory.conversation.message_repository import MessageRepositoryTag
from chatmemory.conversation.skill_runner import SkillRunner, SkillRunnerTag
from chatmemory.conversation.strategies.contract import HistoryStrategy, HistoryStrategyTag
from chatmemory.conversation.strategies.history_strategy import history_strategy
from chatmemory.conversation.token_counter import TokenCounterTag, token_counter
from chatmemory.effect import Do, Effect, EffectFailed, Failure, Layer, Success
from chatmemory.effect.lazy import LazyModule
from chatmemory.effect.services.clock import Clock, ClockTag, TestClock
from chatmemory.effect.services.ids import IdsTag, SequentialIds
from chatmemory.embedding.embedder import Embedder, EmbedderTag
from chatmemory.embedding.embedding_guard import guarded, timed
from chatmemory.errors import ConfigError, InvalidValue, RepositoryError
from chatmemory.events.audit import AuditTrail, AuditTrailTag
from chatmemory.events.event_log import EventLogTag
from chatmemory.extra import needed
from chatmemory.input.first_answers import FirstAnswersTag
from chatmemory.items.item_repository import ItemRepositoryTag
from chatmemory.longterm.contract import LongTermMemoryService
from chatmemory.longterm.extraction.extractors import memory_extractor
from chatmemory.longterm.extraction.memory_extractor import MemoryExtractor, MemoryExtractorTag
from chatmemory.longterm.long_term_memory_live import long_term_memory
from chatmemory.longterm.memory_repository import MemoryRepositoryTag
from chatmemory.longterm.recall.recall_ranker import RecallRanker, RecallRankerTag
from chatmemory.longterm.recall.recall_ranking import recall_ranker
from chatmemory.observe.operations import observed, observed_long_term
from chatmemory.observe.tracing import traced
from chatmemory.settings.embedding_settings import EmbeddingSettings
from chatmemory.settings.memory_settings import (
    MemorySettings,
    PostgresSettings,
    Settings,
    SkillSettings,
    SqliteSettings,
    StoreSettings,
    StrategySettings,
    StrategySettingsTag,
)
from chatmemory_layers.configuration import SettingsTags, read_settings, settings_given
from chatmemory_layers.embedding.from_settings import embedder_from_settings
from chatmemory_layers.skills.extractive import extractive
from chatmemory_layers.skills.openai_compatible import openai_compatible
from chatmemory_layers.sqlite.engine.database import database as sqlite_database
from chatmemory_layers.sqlite.items.item_repository import item_repository as sqlite_items
from chatmemory_layers.sqlite.memories.memory_repository import memory_repository as sqlite_memories
from chatmemory_layers.sqlite.messages.message_repository import message_repository as sqlite_messages
from chatmemory_layers.stacks.part_layer import check_names, chosen, layer_of

if TYPE_CHECKING:
    from chatmemory_layers.in_memory import (
        database,
        item_repository as items,
        memory_repository as memories,
        message_repository as messages,
    )
else:
    database = LazyModule("chatmemory_layers.in_memory.database")
    items = LazyModule("chatmemory_layers.in_memory.item_repository")
    memories = LazyModule("chatmemory_layers.in_memory.memory_repository")
    messages = LazyModule("chatmemory_layers.in_memory.message_repository")

__all__ = [
    "MemoryTags",
    "Stack",
    "configured",
    "embedded",
    "from_configuration",
    "postgres",
    "testing",
]

MemoryTags: TypeAlias = (
    ChatMemoryService
    | LongTermMemoryService
    | ChatContextService
    | MessageRepositoryTag
    | MemoryRepositoryTag
    | ItemRepositoryTag
    | HistoryStrategyTag
    | SkillRunnerTag
    | EmbedderTag
    | MemoryExtractorTag
    | RecallRankerTag
    | TokenCounterTag
    | AuditTrailTag
    | EventLogTag
    | FirstAnswersTag
)
StackError: TypeAlias = RepositoryError | ConfigError
Stack: TypeAlias = Layer[MemoryTags, StackError]

Stores: TypeAlias = MessageRepositoryTag | MemoryRepositoryTag | ItemRepositoryTag
Given: TypeAlias = SettingsTags | TokenCounterTag
Around: TypeAlias = Given | Stores | SkillRunnerTag | EmbedderTag
"""The services that a strategy, an extractor and a ranker may use."""

Repositories: TypeAlias = Layer[Stores, StackError, Given]
MessageStores: TypeAlias = Layer[MessageRepositoryTag, StackError, Given | Stores]
MemoryStores: TypeAlias = Layer[MemoryRepositoryTag, StackError, Given | Stores]
ItemStores: TypeAlias = Layer[ItemRepositoryTag, StackError, Given | Stores]
SomeRepositories: TypeAlias = MessageStores | MemoryStores | ItemStores
"""A layer of one, two or all three repositories; one that requires the repository that it provides wraps the stack's own."""

Skills: TypeAlias = Layer[SkillRunnerTag, StackError, Given]
Embedders: TypeAlias = Layer[EmbedderTag, StackError, Given]
Strategies: TypeAlias = Layer[HistoryStrategyTag, StackError, Around]
Extractors: TypeAlias = Layer[MemoryExtractorTag, StackError, Around]
Rankers: TypeAlias = Layer[RecallRankerTag, StackError, Around]
Clocks: TypeAlias = Layer[Never]


class Parts(TypedDict, total=False):
    """The parts to replace.  None, or leaving a part out, keeps the part of the stack.

    Attributes:
        repositories: a layer of one, two or all three repositories; when all are replaced, the store of the stack is
            not opened.
        strategy: keeps a long conversation short: settings, a strategy, or a layer of one.
        skills: writes summaries.
        embedder: makes vectors of memories; it is timed and guarded as the stack's own is.
        extractor: finds memories in messages.
        ranker: orders the memories of a recall.
        clock: gives the present time.
    """

    repositories: SomeRepositories | None
    strategy: StrategySettings | HistoryStrategy | Strategies | None
    skills: SkillRunner | Skills | None
    embedder: Embedder | Embedders | None
    extractor: MemoryExtractor | Extractors | None
    ranker: RecallRanker | Rankers | None
    clock: Clock | Clocks | None


def embedded(
    path: str | os.PathLike[str],
    *,
    durability: Literal["full", "process"] = "full",
    **parts: Unpack[Parts],
) -> Stack:
    """Return a stack that keeps everything in one SQLite file, which is created if it does not exist.

    Args:
        path: the file; its folder must exist.
        durability: ``full``: an acknowledged write survives a power loss; ``process``: it survives the end of the process.
        parts: the parts to replace: ``repositories``, ``strategy``, ``skills``, ``embedder``, ``extractor``, ``ranker``,
            ``clock``, each by a layer or a plain object (see ``Parts``).

    Raises:
        TypeError: *path* is no path, or a part has an unknown name.
    """
    try:
        name = os.fspath(path)
    except TypeError as error:
        raise TypeError(f"path: {error}") from None
    store = StoreSettings(backend="sqlite", sqlite=SqliteSettings(path=name, durability=durability))
    return configured(Settings(memory=MemorySettings(store=store)), **parts)


def postgres(dsn: str, *, reader_dsn: str = "", **parts: Unpack[Parts]) -> Stack:
    """Return a stack that keeps everything in PostgreSQL.

    Args:
        dsn: the address of the database, ``postgresql://user@host/database``.
        reader_dsn: the address of a replica, for reads that may be stale; empty: there is none.
        parts: as for ``embedded``.
    """
    store = StoreSettings(backend="postgres", postgres=PostgresSettings(dsn=dsn, reader_dsn=reader_dsn))
    return configured(Settings(memory=MemorySettings(store=store)), **parts)


def testing(**parts: Unpack[Parts]) -> Stack:
    """Return a stack that keeps everything in memory until the runtime is closed, with a fixed clock and predictable ids.

    Write ``stacks.testing()``: pytest takes an imported function whose name begins with "test" for a test.

    Args:
        parts: as for ``embedded``; the clock is a ``TestClock`` if no other is given.
    """
    if parts.get("clock") is None:
        parts["clock"] = TestClock()
    settings = Settings(memory=MemorySettings(store=StoreSettings(backend="in_memory")))
    return Layer.sync(IdsTag, SequentialIds).feed_keep(configured(settings, **parts))


def configured(settings: Settings, **parts: Unpack[Parts]) -> Stack:
    """Return the stack that *settings* describe.

    Args:
        settings: ``configuration.read_settings`` reads them.
        parts: as for ``embedded``; they replace the configured ones.

    Raises:
        TypeError: a part has an unknown name.
    """
    check_names(parts, Parts)
    memory = settings.memory
    ground = _ground(settings, parts)
    built = ground.feed_keep(
        _repositories(memory.store, parts) | _skills(memory.skill, parts) | _embedder(memory.embedding, parts)
    )
    extractor: Extractors = chosen(MemoryExtractorTag, parts.get("extractor"), memory_extractor)
    ranker: Rankers = chosen(RecallRankerTag, parts.get("ranker"), recall_ranker)
    return (
        built.feed_keep(_strategy(parts) | extractor | ranker | event_log | audit_trail | first_answers)
        .feed_keep((chat_memory >> observed) | (long_term_memory >> observed_long_term))
        .feed_keep(chat_context)
    )


def from_configuration(
    path: str | os.PathLike[str] | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    **parts: Unpack[Parts],
) -> Stack:
    """Return the stack that a file and the environment describe; both are read when the layer is built.

    Args:
        path: the file; None: the file that the environment names, if any.
        environment: used instead of the environment of the process; None: the environment of the process.
        parts: as for ``embedded``; they replace the configured ones.

    Raises:
        TypeError: a part has an unknown name.
    """
    check_names(parts, Parts)

    def choose() -> Stack:
        match read_settings(path, environment=environment):
            case Success(settings):
                return configured(settings, **parts)
            case Failure(error):
                raise EffectFailed(error)

    return Layer.suspend(choose).failing_with(ConfigError)


@Effect.gen
async def _part(do: Do[Never, MessageRepositoryTag | MemoryRepositoryTag], name: str) -> Any:
    """Return the attribute *name* of the first repository that has it, see ``KeepsLog`` and ``KeepsAnswers``."""
    for repository in (do.service(MessageRepositoryTag), do.service(MemoryRepositoryTag)):
        # Looked up statically: a stub has every attribute, and fails when one is read.
        if getattr_static(repository, name, None) is not None:
            return getattr(repository, name)
    # Repositories of other packages may keep neither: the log stays empty, and answers end with the process.
    return getattr(messages.InMemoryMessageRepository(database.Database()), name)


event_log = Layer.effect(EventLogTag, _part("log"), needs=[MessageRepositoryTag, MemoryRepositoryTag])
first_answers = Layer.effect(
    FirstAnswersTag, _part("answers"), needs=[MessageRepositoryTag, MemoryRepositoryTag]
)
audit_trail = event_log >> Layer.effect(
    AuditTrailTag, Effect.service(EventLogTag).map(AuditTrail), needs=[EventLogTag]
)


def _ground(settings: Settings, parts: Parts) -> Layer[SettingsTags | TokenCounterTag]:
    ground = settings_given(settings) | token_counter | traced
    if isinstance(strategy := parts.get("strategy"), StrategySettings):
        ground |= Layer.succeed(StrategySettingsTag, strategy)
    clock = parts.get("clock")
    return ground if clock is None else ground | layer_of(ClockTag, clock)


def _repositories(settings: StoreSettings, parts: Parts) -> Repositories:
    stored = _stored(settings)
    own = parts.get("repositories")
    return stored if own is None else stored.replace(own)


def _skills(settings: SkillSettings, parts: Parts) -> Skills:
    own = parts.get("skills")
    if own is not None:
        return layer_of(SkillRunnerTag, own)
    match settings.runner:
        case "extractive":
            return extractive
        case "openai_compatible":
            return openai_compatible
        case _:
            assert_never(settings.runner)


def _embedder(settings: EmbeddingSettings, parts: Parts) -> Embedders:
    own = parts.get("embedder")
    if own is None:
        return embedder_from_settings(settings) >> guarded
    given: Embedders = layer_of(EmbedderTag, own)
    return given >> timed >> guarded


def _strategy(parts: Parts) -> Strategies:
    own = parts.get("strategy")
    if own is None or isinstance(own, StrategySettings):
        return history_strategy
    return layer_of(HistoryStrategyTag, own)


def _stored(store: StoreSettings) -> Repositories:
    match store.backend:
        case "in_memory":
            return Layer.suspend(_in_memory_repositories)
        case "sqlite":
            return sqlite_database >> (sqlite_messages | sqlite_memories | sqlite_items)
        case "postgres":
            return Layer.suspend(_postgres_repositories).failing_with(ConfigError)
        case _:
            assert_never(store.backend)


def _in_memory_repositories() -> Repositories:
    return messages.message_repository | memories.memory_repository | items.item_repository


def _postgres_repositories() -> Repositories:
    if find_spec("asyncpg") is None:
        reason = needed("asyncpg", extra="postgres")
        raise EffectFailed(ConfigError((InvalidValue("memory.store.backend", reason),)))
    from chatmemory_layers.postgres.engine.database import database
    from chatmemory_layers.postgres.items.item_repository import item_repository
    from chatmemory_layers.postgres.memories.memory_repository import memory_repository
    from chatmemory_layers.postgres.messages.message_repository import message_repository

    return database >> (message_repository | memory_repository | item_repository)


def trail_from_settings(settings: Settings) -> Layer[AuditTrailTag, StackError]:
    """Return the layer of the audit trail of the store that *settings* describe; it builds no other part of a stack."""
    return (settings_given(settings) | token_counter) >> _stored(settings.memory.store) >> audit_trail
