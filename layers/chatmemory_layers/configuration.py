"""Where settings come from: defaults, a TOML file, the environment, a command's options; each wins over the one before.

A setting is written ``memory.chat.strategy.summarizeEveryN`` in the file, and
``CHATMEMORY_MEMORY_CHAT_STRATEGY_SUMMARIZE_EVERY_N`` in the environment.  ``config/chatmemory.toml`` explains them all;
``chatmemory.settings.memory_settings`` defines them.  Nothing is guessed: what is misspelt is an error, with all the others.
"""

import os
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias, final

from attrs import frozen

from chatmemory.effect import EffectFailed, Failure, Layer, Outcome, Success
from chatmemory.effect.config.config import Config, EnvironmentProvider, LayeredProvider, MappingProvider
from chatmemory.effect.config.config_error import ConfigError, ConfigProblem, InvalidValue, UnreadableSource
from chatmemory.effect.config.structuring import by_own_keys, fields_of, named_tables_of, other_keys_of
from chatmemory.effect.likeness import did_you_mean
from chatmemory.settings.embedding_settings import EmbeddingSettingsTag
from chatmemory.settings.memory_settings import (
    ContextSettingsTag,
    ExpirySettingsTag,
    ExtractionSettingsTag,
    PostgresSettingsTag,
    PromotionSettingsTag,
    RetrievalSettingsTag,
    Settings,
    SkillSettingsTag,
    SqliteSettingsTag,
    StrategySettingsTag,
)
from chatmemory.settings.past_chats_settings import PastChatsSettingsTag
from chatmemory_layers.setting_names import PLAIN, PREFIX, is_anything_set, is_set

SettingsTags: TypeAlias = (
    StrategySettingsTag
    | RetrievalSettingsTag
    | EmbeddingSettingsTag
    | ExtractionSettingsTag
    | ContextSettingsTag
    | PromotionSettingsTag
    | ExpirySettingsTag
    | PastChatsSettingsTag
    | SkillSettingsTag
    | SqliteSettingsTag
    | PostgresSettingsTag
)

NAME = "NAME"


def read_settings(
    path: str | os.PathLike[str] | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    given: Mapping[str, object] | None = None,
) -> Outcome[Settings, ConfigError]:
    """Read every setting, or fail with everything that is wrong.

    Args:
        path: the TOML file; None: there is none.
        environment: None: that of this process.
        given: tables as in the file, of what a command was told; None stands for what it was not told.
    """
    environment = os.environ if environment is None else environment
    if path is None and given is None and not is_anything_set(environment):
        return Success(Settings())  # without cattrs, which takes longer to import than a command may take
    table, problems = _read_toml(path)
    variables = _variables(environment)
    plain = EnvironmentProvider({name: environment[name] for name in PLAIN if name in environment})
    others = LayeredProvider(variables, LayeredProvider(plain, MappingProvider(table)))
    read = Config.of(Settings).parse(LayeredProvider(_Single(given or {}), others))
    if isinstance(read, Failure):
        problems += read.failure().problems
    problems += _unknown_variables(variables)
    return Failure(ConfigError(tuple(problems))) if problems else read


def settings_layer(
    path: str | os.PathLike[str] | None = None, *, environment: Mapping[str, str] | None = None
) -> Layer[SettingsTags, ConfigError]:
    """Give what ``read_settings`` reads when the layer is built."""

    def read() -> Layer[SettingsTags, ConfigError]:
        match read_settings(path, environment=environment):
            case Success(settings):
                return settings_given(settings)
            case Failure(error):
                raise EffectFailed(error)

    return Layer.suspend(read).failing_with(ConfigError)


def settings_given(settings: Settings) -> Layer[SettingsTags]:
    """Return a layer that gives each part of *settings* under its own tag."""
    memory = settings.memory
    return (
        Layer.succeed(StrategySettingsTag, memory.chat.strategy)
        | Layer.succeed(RetrievalSettingsTag, memory.retrieval)
        | Layer.succeed(EmbeddingSettingsTag, memory.embedding)
        | Layer.succeed(ExtractionSettingsTag, memory.extraction)
        | Layer.succeed(ContextSettingsTag, memory.context)
        | Layer.succeed(PromotionSettingsTag, memory.promotion)
        | Layer.succeed(ExpirySettingsTag, memory.expiry)
        | Layer.succeed(PastChatsSettingsTag, memory.past_chats)
        | Layer.succeed(SkillSettingsTag, memory.skill)
        | Layer.succeed(SqliteSettingsTag, memory.store.sqlite)
        | Layer.succeed(PostgresSettingsTag, memory.store.postgres)
    )


def setting_paths(kind: Any = Settings, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Return the path of every single setting: ``("memory", "chat", "strategy", "summarizeEveryN")``.

    ``NAME`` stands in it for a name that whoever sets it chooses.
    """
    for key, inner in fields_of(kind).items():
        if table := named_tables_of(inner):
            yield from setting_paths(table, (*path, key, NAME))
        elif fields_of(inner):
            yield from setting_paths(inner, (*path, key))
        else:
            yield (*path, key)


def other_paths(kind: Any = Settings, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Return the path by which a document names a setting, and the setting's own key there, of each that has two."""
    for other, key in other_keys_of(kind).items():
        yield (*path, other), key
    for key, inner in fields_of(kind).items():
        yield from other_paths(inner, (*path, key))


@final
@frozen
class _Single:
    """Single settings; a table as a whole is left to others, so that a key which nobody knows is seen there."""

    tables: Mapping[str, object]

    def load(self, path: tuple[str, ...]) -> Outcome[object, ConfigError]:
        """Return what is at *path*, unless it is a table."""
        found = MappingProvider(self.tables).load(path)
        return Success(None) if isinstance(found.unwrap(), Mapping) else found


def _read_toml(path: str | os.PathLike[str] | None) -> tuple[Mapping[str, object], list[ConfigProblem]]:
    if path is None:
        return {}, []
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8")), []
    except OSError as error:
        reason = error.strerror or str(error)
    except ValueError as error:  # no UTF-8, or no TOML; says where
        reason = str(error)
    return {}, [UnreadableSource(os.fspath(path), reason)]


def _variables(environment: Mapping[str, str]) -> EnvironmentProvider:
    named = EnvironmentProvider({}, PREFIX).variable
    others = {named(path): named((*path[:-1], key)) for path, key in other_paths()}
    return EnvironmentProvider(by_own_keys(environment, others), PREFIX)


def _unknown_variables(variables: EnvironmentProvider) -> list[ConfigProblem]:
    known = [variables.variable(path) for path in setting_paths() if NAME not in path]
    ours = (name for name in variables.variables if is_set(name) and name not in PLAIN)
    unknown = sorted(set(ours) - set(known))
    return [InvalidValue(name, f"unknown variable{did_you_mean(name, known)}") for name in unknown]
