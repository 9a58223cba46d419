"""Where settings come from: defaults, a TOML file, the environment, a command's options; each wins over the one before.

A setting is written ``memory.chat.strategy.summarizeEveryN`` in the file, and
``CHATMEMORY_MEMORY_CHAT_STRATEGY_SUMMARIZE_EVERY_N`` in the environment.  ``config/chatmemory.toml`` explains them all;
``chatmemory.settings.memory_settings`` defines them.  A misspelt name is an error; all errors are reported at once.
"""

import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias, cast

from chatmemory.effect import Failure, Layer, Outcome, Success
from chatmemory.effect.likeness import did_you_mean
from chatmemory.errors import ConfigError, ConfigProblem, InvalidValue, UnreadableSource
from chatmemory.input.structuring import (
    by_own_keys,
    fields_of,
    named_tables_of,
    other_keys_of,
    structure,
)
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

SettingPath: TypeAlias = tuple[str, ...]  # ("memory", "chat", "strategy")


def read_settings(
    path: str | os.PathLike[str] | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    given: Mapping[str, object] | None = None,
) -> Outcome[Settings, ConfigError]:
    """Read every setting, or fail with everything that is wrong.

    Args:
        path: the TOML file; None: only the other two count.
        environment: the environment variables; None: the variables of this process.
        given: the options of a command, as tables like in the file; None in a table: the option was not given.
    """
    environment = os.environ if environment is None else environment
    if path is None and given is None and not is_anything_set(environment):
        return Success(Settings())  # without cattrs, which takes longer to import than a command may take
    table, problems = _read_toml(path)
    variables = _by_own_names(environment)
    said = {f"{PREFIX}_{name}": environment[name] for name in PLAIN if name in environment}
    said |= {name: text for name, text in variables.items() if text}  # a shell may set one without a value

    def find(path: SettingPath) -> object:
        told = _look_up(given or {}, path)
        # A table as a whole comes from the file, so that an unknown key in it is seen.
        if told is not None and not isinstance(told, Mapping):
            return told
        return said.get(variable_of(path)) or _look_up(table, path)

    read = structure(Settings, _gather(Settings, find, ()) or {})
    if isinstance(read, Failure):
        problems += read.failure().problems
    problems += _unknown_variables(variables)
    return Failure(ConfigError(tuple(problems))) if problems else read


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


def setting_paths(kind: Any = Settings, path: SettingPath = ()) -> Iterator[SettingPath]:
    """Return the path of every single setting: ``("memory", "chat", "strategy", "summarizeEveryN")``.

    ``NAME`` in a path means a name that the user of the setting chooses.
    """
    for key, inner in fields_of(kind).items():
        if table := named_tables_of(inner):
            yield from setting_paths(table, (*path, key, NAME))
        elif fields_of(inner):
            yield from setting_paths(inner, (*path, key))
        else:
            yield (*path, key)


def variable_of(path: SettingPath) -> str:
    """Return the name of the environment variable for the setting at *path*."""
    words = (re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key).upper() for key in path)
    return "_".join((PREFIX, *words))


def other_paths(kind: Any = Settings, path: SettingPath = ()) -> Iterator[tuple[SettingPath, str]]:
    """Return the path by which a document names a setting, and the setting's own key there, of each that has two."""
    for other, key in other_keys_of(kind).items():
        yield (*path, other), key
    for key, inner in fields_of(kind).items():
        yield from other_paths(inner, (*path, key))


def _gather(kind: Any, find: Callable[[SettingPath], object], path: SettingPath) -> object:
    """Return the raw data for a *kind*: the value at *path*, overridden field by field; None when there is nothing."""
    data = find(path)
    fields = fields_of(kind)
    if not fields or not isinstance(data, Mapping | None):
        return data
    table = by_own_keys(cast("Mapping[str, object]", data or {}), other_keys_of(kind))
    for key, inner in fields.items():
        value = _gather(inner, find, (*path, key))
        if value is not None:
            table[key] = value
    return None if data is None and not table else table


def _look_up(tables: Mapping[str, object], path: SettingPath) -> object:
    value: Any = tables
    for key in path:
        if not isinstance(value, Mapping):
            return None
        value = cast("Mapping[str, Any]", value).get(key)
    return value


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


def _by_own_names(environment: Mapping[str, str]) -> Mapping[str, str]:
    """Return *environment* with the variables of second names under the settings' own names."""
    return by_own_keys(
        environment, {variable_of(path): variable_of((*path[:-1], key)) for path, key in other_paths()}
    )


def _unknown_variables(variables: Mapping[str, str]) -> list[ConfigProblem]:
    known = [variable_of(path) for path in setting_paths() if NAME not in path]
    ours = (name for name in variables if is_set(name) and name not in PLAIN)
    unknown = sorted(set(ours) - set(known))
    return [InvalidValue(name, f"unknown variable{did_you_mean(name, known)}") for name in unknown]
