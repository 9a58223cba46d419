"""Ready-made stacks: layers that need nothing and give a whole memory, of conversations and beyond them.

``embedded`` keeps it in a file, ``postgres`` in a database, ``testing`` in dictionaries; ``configured`` and
``from_configuration`` do what the settings say.  Wiring only: what is wired is defined elsewhere, and a layer of one's
own can take the place of any part.
"""

import os
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Literal, Never, TypeAlias, assert_never

from chatmemory.contracts import (
    ChatContextService,
    ChatMemoryService,
    EmbedderTag,
    HistoryStrategyTag,
    ItemRepositoryTag,
    LongTermMemoryService,
    MemoryExtractorTag,
    MemoryRepositoryTag,
    MessageRepositoryTag,
    RecallRankerTag,
    SkillRunnerTag,
    TokenCounterTag,
)
from chatmemory.conversation.chat_context import chat_context
from chatmemory.conversation.chat_memory import chat_memory
from chatmemory.conversation.history_strategy import history_strategy
from chatmemory.conversation.token_count import token_counter
from chatmemory.effect import EffectFailed, Failure, Layer, Success
from chatmemory.effect.config.config_error import ConfigError, InvalidValue
from chatmemory.effect.services.clock import ClockTag, TestClock
from chatmemory.effect.services.ids import IdsTag, SequentialIds
from chatmemory.errors import RepositoryError
from chatmemory.longterm.embedding_guard import guarded
from chatmemory.longterm.extraction.extractors import memory_extractor
from chatmemory.longterm.long_term_memory import long_term_memory
from chatmemory.longterm.recall_ranking import recall_ranker
from chatmemory.longterm.timed_embedder import timed
from chatmemory.observe import observed, observed_long_term
from chatmemory.settings import (
    ChatSettings,
    MemorySettings,
    PostgresSettings,
    Settings,
    SqliteSettings,
    StoreSettings,
    StrategySettings,
)
from chatmemory.tracing import traced
from chatmemory_layers.configuration import SettingsTags, read_settings, settings_given
from chatmemory_layers.embedding.chosen import chosen_embedder
from chatmemory_layers.skills.chosen import chosen_skills
from chatmemory_layers.sqlite.database import database as sqlite_database
from chatmemory_layers.sqlite.item_repository import item_repository as sqlite_items
from chatmemory_layers.sqlite.memory_repository import memory_repository as sqlite_memories
from chatmemory_layers.sqlite.message_repository import message_repository as sqlite_messages

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
)
StackError: TypeAlias = RepositoryError | ConfigError
Stack: TypeAlias = Layer[MemoryTags, StackError]
Skills: TypeAlias = Layer[SkillRunnerTag, StackError, SettingsTags]
Embedders: TypeAlias = Layer[EmbedderTag, StackError, SettingsTags]
Repositories: TypeAlias = Layer[
    MessageRepositoryTag | MemoryRepositoryTag | ItemRepositoryTag, StackError, SettingsTags
]

KEEP_EVERYTHING = StrategySettings()


def embedded(
    path: str | os.PathLike[str],
    *,
    strategy: StrategySettings = KEEP_EVERYTHING,
    durability: Literal["full", "process"] = "full",
    skills: Skills | None = None,
    embedder: Embedders | None = None,
) -> Stack:
    """Keep everything in the SQLite file *path*, which is made when it is not there.

    Args:
        path: the file; its folder must exist.
        strategy: how a long history is kept short.
        durability: ``full``: what was acknowledged survives a power loss; ``process``: the end of the process.
        skills: what writes summaries; None: offline, by choosing sentences.
        embedder: what makes vectors of memories; None: the one that ships with the package, offline.
    """
    store = StoreSettings(
        backend="sqlite", sqlite=SqliteSettings(path=os.fspath(path), durability=durability)
    )
    return configured(_settings(store, strategy), skills=skills, embedder=embedder)


def postgres(
    dsn: str,
    *,
    reader_dsn: str = "",
    strategy: StrategySettings = KEEP_EVERYTHING,
    skills: Skills | None = None,
    embedder: Embedders | None = None,
) -> Stack:
    """Keep everything in PostgreSQL; *reader_dsn* names a replica for reads that may lag behind."""
    store = StoreSettings(backend="postgres", postgres=PostgresSettings(dsn=dsn, reader_dsn=reader_dsn))
    return configured(_settings(store, strategy), skills=skills, embedder=embedder)


def testing(
    *,
    strategy: StrategySettings = KEEP_EVERYTHING,
    skills: Skills | None = None,
    embedder: Embedders | None = None,
    clock: TestClock | None = None,
) -> Stack:
    """Keep everything until the runtime ends, at a time that stands still, with ids that can be foreseen.

    Write ``stacks.testing()``: pytest takes an imported function whose name begins with "test" for a test.
    """
    return configured(
        _settings(StoreSettings(backend="in_memory"), strategy),
        skills=skills,
        embedder=embedder,
        surroundings=Layer.succeed(ClockTag, clock or TestClock()) | Layer.sync(IdsTag, SequentialIds),
    )


def configured(
    settings: Settings,
    *,
    skills: Skills | None = None,
    embedder: Embedders | None = None,
    surroundings: Layer[Never] | None = None,
) -> Stack:
    """Build what *settings* say.

    Args:
        settings: ``configuration.read_settings`` reads them.
        skills: in the place of the configured ones.
        embedder: in the place of the configured one; timed, and guarded like it.
        surroundings: a clock, ids or other references in the place of the real ones.
    """
    given = settings_given(settings) | token_counter | traced
    if surroundings is not None:
        given |= surroundings
    memory = settings.memory
    parts = given.feed_keep(
        _repositories(memory.store)
        | (skills or chosen_skills(memory.skill))
        | ((embedder >> timed if embedder else chosen_embedder(memory.embedding)) >> guarded)
    )
    return (
        parts.feed_keep(history_strategy | memory_extractor | recall_ranker)
        .feed_keep((chat_memory >> observed) | (long_term_memory >> observed_long_term))
        .feed_keep(chat_context)
    )


def from_configuration(
    path: str | os.PathLike[str] | None = None, *, environment: Mapping[str, str] | None = None
) -> Stack:
    """Build what the file *path* and the environment say; they are read when the layer is built."""

    def choose() -> Stack:
        match read_settings(path, environment=environment):
            case Success(settings):
                return configured(settings)
            case Failure(error):
                raise EffectFailed(error)

    return Layer.suspend(choose).failing_with(ConfigError)


def _settings(store: StoreSettings, strategy: StrategySettings) -> Settings:
    return Settings(memory=MemorySettings(chat=ChatSettings(strategy=strategy), store=store))


def _repositories(store: StoreSettings) -> Repositories:
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
    from chatmemory_layers.in_memory.item_repository import item_repository  # noqa: PLC0415  for tests, mostly
    from chatmemory_layers.in_memory.memory_repository import memory_repository  # noqa: PLC0415  likewise
    from chatmemory_layers.in_memory.message_repository import message_repository  # noqa: PLC0415  likewise

    return message_repository | memory_repository | item_repository


def _postgres_repositories() -> Repositories:
    if find_spec("asyncpg") is None:
        needed = "needs asyncpg: pip install 'chatmemory-effect[postgres]'"
        raise EffectFailed(ConfigError((InvalidValue("memory.store.backend", needed),)))
    from chatmemory_layers.postgres.database import database  # noqa: PLC0415  asyncpg is optional
    from chatmemory_layers.postgres.item_repository import item_repository  # noqa: PLC0415  likewise
    from chatmemory_layers.postgres.memory_repository import memory_repository  # noqa: PLC0415  likewise
    from chatmemory_layers.postgres.message_repository import message_repository  # noqa: PLC0415  likewise

    return database >> (message_repository | memory_repository | item_repository)
