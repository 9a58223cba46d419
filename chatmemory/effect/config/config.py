"""Settings: ``Config`` says what to read and of which type it must be; a ``ConfigProvider`` is the source.

``chatmemory.settings.memory_settings`` defines the settings, ``chatmemory_layers.configuration`` which files and
variables are read, ``structuring.py`` how raw data becomes classes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Generic, Protocol, TypeAlias, cast, final

from attrs import frozen
from typing_extensions import TypeVar

from chatmemory.effect.config.config_error import (
    ConfigError,
    ConfigProblem,
    InvalidValue,
    MissingKey,
    UnreadableSource,
)
from chatmemory.effect.config.structuring import Redacted, by_own_keys, fields_of, other_keys_of, structure
from chatmemory.effect.outcome import Failure, Outcome, Success

__all__ = [
    "Config",
    "ConfigError",
    "ConfigProblem",
    "ConfigProvider",
    "EnvironmentProvider",
    "InvalidValue",
    "LayeredProvider",
    "MappingProvider",
    "MissingKey",
    "Path",
    "Redacted",
    "UnreadableSource",
    "structure",
]

A = TypeVar("A")
B = TypeVar("B")
A_co = TypeVar("A_co", covariant=True)

Path: TypeAlias = tuple[str, ...]  # ("memory", "chat", "strategy")


class ConfigProvider(Protocol):
    """A source of raw values."""

    def load(self, path: Path) -> Outcome[object, ConfigError]:
        """Return the value at *path*, or None when there is none; fail when the source itself cannot be read."""
        ...


@final
@frozen
class MappingProvider:
    """Reads nested mappings, as parsers of TOML and JSON return them."""

    data: Mapping[str, object]

    def load(self, path: Path) -> Outcome[object, ConfigError]:
        """Return the value at *path*."""
        value: Any = self.data
        for key in path:
            if not isinstance(value, Mapping):
                return Success(None)
            value = cast("Mapping[str, Any]", value).get(key)
        return Success(value)


@final
@frozen
class EnvironmentProvider:
    """Reads environment variables: ``MEMORY_CHAT_STRATEGY_SUMMARIZE_EVERY_N`` for ``memory.chat.strategy.summarizeEveryN``.

    An empty variable counts as absent, because a shell or a compose file may set it without a value.
    """

    variables: Mapping[str, str]
    prefix: str = ""

    def load(self, path: Path) -> Outcome[object, ConfigError]:
        """Return the text of the variable for *path*."""
        return Success(self.variables.get(self.variable(path)) or None)

    def variable(self, path: Path) -> str:
        """Return the name of the variable for *path*."""
        words = (re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key).upper() for key in path)
        return "_".join(filter(None, (self.prefix, *words)))


@final
@frozen
class LayeredProvider:
    """Reads from *first*, and from *second* what *first* does not have."""

    first: ConfigProvider
    second: ConfigProvider

    def load(self, path: Path) -> Outcome[object, ConfigError]:
        """Return the value at *path* from the first provider that has one."""
        found = self.first.load(path)
        return self.second.load(path) if found == Success(None) else found


@final
@frozen
class Reading(Generic[A_co]):
    """The result of reading a ``Config``.

    Attributes:
        outcome: the value, or the problems.
        found: whether there was a value to read; a default replaces a missing value, never a wrong one.
    """

    outcome: Outcome[A_co, ConfigError]
    found: bool


@final
@frozen
class Config(Generic[A_co]):
    """A description of settings, read when it is parsed.

    >>> port = Config.of(int, "port").with_default(5432).nested("postgres")
    >>> port.parse(EnvironmentProvider({"POSTGRES_PORT": "6543"}))
    <Success: 6543>
    """

    read: Callable[[ConfigProvider, Path], Reading[A_co]]

    def parse(self, provider: ConfigProvider) -> Outcome[A_co, ConfigError]:
        """Read the value from *provider*; fail with all problems at once."""
        return self.read(provider, ()).outcome

    @staticmethod
    def of(type_: type[A], key: str = "") -> Config[A]:
        """Return a config that reads the value at *key* as a *type_*, as ``structure`` does.

        Each field of an attrs class is looked up separately, so one provider may override a single field of another.

        Args:
            type_: an attrs class, or a plain type.
            key: a dotted path; empty: the root.
        """
        keys = _split(key)

        def read(provider: ConfigProvider, path: Path) -> Reading[A]:
            place = (*path, *keys)
            gathered = _gather(type_, provider, place)
            if type(gathered) is not Success:
                return Reading(gathered, found=True)
            data = gathered.unwrap()
            if data is None and not fields_of(type_):
                return Reading(Failure(ConfigError((MissingKey(".".join(place)),))), found=False)
            return Reading(
                structure(type_, {} if data is None else data, ".".join(place)), found=data is not None
            )

        return Config(read)

    @staticmethod
    def all(configs: Mapping[str, Config[A]]) -> Config[dict[str, A]]:
        """Return a config that reads all *configs* under their names; it fails with the problems of all of them."""

        def read(provider: ConfigProvider, path: Path) -> Reading[dict[str, A]]:
            values: dict[str, A] = {}
            problems: list[ConfigProblem] = []
            found = False
            for name, config in configs.items():
                reading = config.read(provider, path)
                found |= reading.found
                if type(reading.outcome) is Success:
                    values[name] = reading.outcome.unwrap()
                else:
                    problems += reading.outcome.failure().problems
            return Reading(Failure(ConfigError(tuple(problems))) if problems else Success(values), found)

        return Config(read)

    def with_default(self, default: B) -> Config[A_co | B]:
        """Return a config that gives *default* when nothing is set; a wrong or incomplete value is still an error."""
        return self._where_nothing_is(lambda _provider, _path: Reading(Success(default), found=False))

    def or_else(self, other: Callable[[], Config[B]]) -> Config[A_co | B]:
        """Return a config that continues with the one that *other* returns when nothing is set."""
        return self._where_nothing_is(lambda provider, path: other().read(provider, path))

    def nested(self, prefix: str) -> Config[A_co]:
        """Return the same config under *prefix*, a dotted path; a prefix that is added later comes first in the path."""
        keys = _split(prefix)
        return Config(lambda provider, path: self.read(provider, (*path, *keys)))

    def _where_nothing_is(self, read: Callable[[ConfigProvider, Path], Reading[B]]) -> Config[A_co | B]:
        def read_both(provider: ConfigProvider, path: Path) -> Reading[A_co | B]:
            reading = self.read(provider, path)
            return reading if reading.found else read(provider, path)

        return Config(read_both)


def _split(key: str) -> Path:
    return tuple(filter(None, key.split(".")))


def _gather(type_: Any, provider: ConfigProvider, path: Path) -> Outcome[object, ConfigError]:
    """Return the raw data for a *type_*: the value at *path*, overridden field by field; None when there is nothing."""
    loaded = provider.load(path)
    if type(loaded) is not Success:
        return loaded
    data = loaded.unwrap()
    fields = fields_of(type_)
    if not fields or not isinstance(data, Mapping | None):
        return loaded
    table = by_own_keys(cast("Mapping[str, object]", data or {}), other_keys_of(type_))
    for key, field_type in fields.items():
        field = _gather(field_type, provider, (*path, key))
        if type(field) is not Success:
            return field
        if field.unwrap() is not None:
            table[key] = field.unwrap()
    return loaded if data is None and not table else Success(table)
