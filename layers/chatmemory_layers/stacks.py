"""Ready-made stacks: layers that need nothing and give a whole chat memory.

``embedded`` keeps it in a file, ``postgres`` in a database, ``testing`` in dictionaries; ``configured`` and
``from_configuration`` do what the settings say.  Wiring only: what is wired is defined elsewhere, and a layer of one's
own can take the place of any part.
"""

import os
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Literal, Never, TypeAlias, assert_never

from returns.result import Failure, Success

from chatmemory.contracts import (
    ChatMemoryService,
    HistoryStrategyTag,
    MessageRepositoryTag,
    SkillRunnerTag,
    TokenCounterTag,
)
from chatmemory.conversation.chat_memory import chat_memory
from chatmemory.conversation.history_strategy import history_strategy
from chatmemory.conversation.token_count import token_counter
from chatmemory.effect import Layer
from chatmemory.effect.clock import ClockTag, TestClock
from chatmemory.effect.config_error import ConfigError, InvalidValue
from chatmemory.effect.ids import IdsTag, SequentialIds
from chatmemory.errors import RepositoryError
from chatmemory.observe import observed
from chatmemory.settings import (
    ChatSettings,
    MemorySettings,
    PostgresSettings,
    Settings,
    SkillSettings,
    SqliteSettings,
    StoreSettings,
    StrategySettings,
)
from chatmemory_layers.configuration import SettingsTags, read_settings, settings_given
from chatmemory_layers.in_memory.message_repository import message_repository as in_memory
from chatmemory_layers.skills.extractive import extractive
from chatmemory_layers.skills.openai_compatible import openai_compatible
from chatmemory_layers.sqlite.database import database as sqlite_database
from chatmemory_layers.sqlite.message_repository import message_repository as sqlite

MemoryTags: TypeAlias = (
    ChatMemoryService | MessageRepositoryTag | HistoryStrategyTag | SkillRunnerTag | TokenCounterTag
)
StackError: TypeAlias = RepositoryError | ConfigError
Stack: TypeAlias = Layer[MemoryTags, StackError]
Skills: TypeAlias = Layer[SkillRunnerTag, StackError, SettingsTags]
Repository: TypeAlias = Layer[MessageRepositoryTag, StackError, SettingsTags]

KEEP_EVERYTHING = StrategySettings()


def embedded(
    path: str | os.PathLike[str],
    *,
    strategy: StrategySettings = KEEP_EVERYTHING,
    durability: Literal["full", "process"] = "full",
    skills: Skills | None = None,
) -> Stack:
    """Keep conversations in the SQLite file *path*, which is made when it is not there.

    Args:
        path: the file; its folder must exist.
        strategy: how a long history is kept short.
        durability: ``full``: an acknowledged message survives a power loss; ``process``: the end of the process.
        skills: what writes summaries; None: offline, by choosing sentences.
    """
    store = StoreSettings(
        backend="sqlite", sqlite=SqliteSettings(path=os.fspath(path), durability=durability)
    )
    return configured(_settings(store, strategy), skills=skills)


def postgres(
    dsn: str,
    *,
    reader_dsn: str = "",
    strategy: StrategySettings = KEEP_EVERYTHING,
    skills: Skills | None = None,
) -> Stack:
    """Keep conversations in PostgreSQL; *reader_dsn* names a replica for reads that may lag behind."""
    store = StoreSettings(backend="postgres", postgres=PostgresSettings(dsn=dsn, reader_dsn=reader_dsn))
    return configured(_settings(store, strategy), skills=skills)


def testing(
    *,
    strategy: StrategySettings = KEEP_EVERYTHING,
    skills: Skills | None = None,
    clock: TestClock | None = None,
) -> Stack:
    """Keep conversations until the runtime ends, at a time that stands still, with ids that can be foreseen.

    Write ``stacks.testing()``: pytest takes an imported function whose name begins with "test" for a test.
    """
    return configured(
        _settings(StoreSettings(backend="in_memory"), strategy),
        skills=skills,
        surroundings=Layer.succeed(ClockTag, clock or TestClock()) | Layer.sync(IdsTag, SequentialIds),
    )


def configured(
    settings: Settings, *, skills: Skills | None = None, surroundings: Layer[Never] | None = None
) -> Stack:
    """Build what *settings* say.

    Args:
        settings: ``configuration.read_settings`` reads them.
        skills: in the place of the configured ones.
        surroundings: a clock, ids or other references in the place of the real ones.
    """
    given = settings_given(settings) | token_counter
    if surroundings is not None:
        given |= surroundings
    parts = given.feed_keep(_repository(settings.memory.store) | (skills or _skills(settings.memory.skill)))
    return parts.feed_keep(history_strategy).feed_keep(chat_memory >> observed)


def from_configuration(
    path: str | os.PathLike[str] | None = None, *, environment: Mapping[str, str] | None = None
) -> Stack:
    """Build what the file *path* and the environment say; they are read when the layer is built."""

    def choose() -> Stack:
        match read_settings(path, environment=environment):
            case Success(settings):
                return configured(settings)
            case Failure(error):
                return (
                    Layer.fail(ChatMemoryService, error)
                    | Layer.fail(MessageRepositoryTag, error)
                    | Layer.fail(HistoryStrategyTag, error)
                    | Layer.fail(SkillRunnerTag, error)
                    | Layer.fail(TokenCounterTag, error)
                )

    return Layer.suspend(choose)


def _settings(store: StoreSettings, strategy: StrategySettings) -> Settings:
    return Settings(memory=MemorySettings(chat=ChatSettings(strategy=strategy), store=store))


def _repository(store: StoreSettings) -> Repository:
    match store.backend:
        case "in_memory":
            return in_memory
        case "sqlite":
            return sqlite_database >> sqlite
        case "postgres" if find_spec("asyncpg") is None:
            needed = "needs asyncpg: pip install 'chatmemory-effect[postgres]'"
            return Layer.fail(
                MessageRepositoryTag, ConfigError((InvalidValue("memory.store.backend", needed),))
            )
        case "postgres":
            from chatmemory_layers.postgres.database import database  # noqa: PLC0415  asyncpg is optional
            from chatmemory_layers.postgres.message_repository import message_repository  # noqa: PLC0415  likewise

            return database >> message_repository
        case _:
            assert_never(store.backend)


def _skills(skill: SkillSettings) -> Skills:
    match skill.runner:
        case "extractive":
            return extractive
        case "openai_compatible":
            return openai_compatible
        case _:
            assert_never(skill.runner)
