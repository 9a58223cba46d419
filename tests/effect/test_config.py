"""Reading settings.  The first part follows Effect's own suite (Config.test.ts, version 4)."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from typing import Any, Literal

import pytest
from attrs import field, frozen, validators

from chatmemory.effect.config.config import (
    Config,
    EnvironmentProvider,
    LayeredProvider,
    MappingProvider,
    Path,
)
from chatmemory.effect.config.config_error import (
    ConfigError,
    ConfigProblem,
    InvalidValue,
    MissingKey,
    UnreadableSource,
)
from chatmemory.effect.config.structuring import Redacted, structure
from chatmemory.effect.outcome import Failure, Outcome, Success
from tests.for_each import for_each


def failed(*problems: ConfigProblem) -> Failure[ConfigError]:
    return Failure(ConfigError(problems))


@frozen
class Logging:
    level: Literal["info", "debug"]


host_and_port = Config.all({"a": Config.of(str, "b"), "c": Config.of(int, "d")})


NUMBER = Config.of(int, "a").with_default(0)
LOGGING = Config.of(Logging, "logging").with_default(Logging("info"))
PAIR = host_and_port.with_default({"a": "a", "c": 0})
SECRET = Config.of(Redacted[str], "a").with_default(Redacted("default"))
EITHER = Config.of(str, "a").or_else(lambda: Config.of(int, "b"))
PORT = Config.of(int, "port").nested("primary").nested("store.postgres")
PARSED: list[tuple[Config[Any], Mapping[str, object], Outcome[Any, ConfigError]]] = [
    (NUMBER, {"a": "1"}, Success(1)),
    (NUMBER, {}, Success(0)),
    (NUMBER, {"a": "value"}, failed(InvalidValue("a", "expected an integer, not 'value'"))),
    (LOGGING, {}, Success(Logging("info"))),
    (LOGGING, {"logging": {"level": "debug"}}, Success(Logging("debug"))),
    (
        LOGGING,
        {"logging": {"level": "DEBUG"}},
        failed(InvalidValue("logging.level", "expected one of 'info', 'debug', not 'DEBUG'")),
    ),
    (PAIR, {"b": "b", "d": "1"}, Success({"a": "b", "c": 1})),
    (PAIR, {}, Success({"a": "a", "c": 0})),
    (PAIR, {"b": "b"}, failed(MissingKey("d"))),
    (PAIR, {"d": "1"}, failed(MissingKey("b"))),
    (
        host_and_port,
        {"b": 1, "d": "x"},
        failed(InvalidValue("b", "expected text, not 1"), InvalidValue("d", "expected an integer, not 'x'")),
    ),
    (SECRET, {"a": "value"}, Success(Redacted("value"))),
    (SECRET, {}, Success(Redacted("default"))),
    (
        Config.of(Redacted[int], "pin"),
        {"pin": "hunter2"},
        failed(InvalidValue("pin", "expected a secret int")),
    ),
    (EITHER, {"a": "value", "b": "1"}, Success("value")),
    (EITHER, {"b": "1"}, Success(1)),
    (EITHER, {"a": 5, "b": "1"}, failed(InvalidValue("a", "expected text, not 5"))),
    (
        Config.of(str, "a"),
        {"a": {"password": "hunter2"}},
        failed(InvalidValue("a", "expected text, not dict")),
    ),
    (PORT, {"store": {"postgres": {"primary": {"port": 5432}}}}, Success(5432)),
    (PORT, {}, failed(MissingKey("store.postgres.primary.port"))),
]


@for_each(("config", "data", "outcome"), PARSED)
def test_what_a_config_reads(config: Config[Any], data: Mapping[str, object], outcome: object) -> None:
    assert config.parse(MappingProvider(data)) == outcome


def test_a_fallback_is_not_made_before_it_is_needed() -> None:
    def fallback() -> Config[int]:
        raise AssertionError

    assert Config.of(str, "a").or_else(fallback).parse(MappingProvider({"a": "value"})) == Success("value")


def test_what_the_environment_says_and_that_an_empty_variable_is_absent() -> None:
    config = Config.of(str, "a").with_default("default")
    assert config.parse(EnvironmentProvider({"A": ""})) == Success("default")
    assert config.parse(EnvironmentProvider({"A": "set"})) == Success("set")
    assert PORT.parse(EnvironmentProvider({"STORE_POSTGRES_PRIMARY_PORT": "5432"})) == Success(5432)
    long = ("memory", "chat", "strategy", "summarizeEveryN")
    assert EnvironmentProvider({}, "CM").variable(long) == "CM_MEMORY_CHAT_STRATEGY_SUMMARIZE_EVERY_N"
    assert EnvironmentProvider({}, "CM").variable(("sha256Sum",)) == "CM_SHA256_SUM"


def test_redacted_values_are_never_shown() -> None:
    secret = Redacted("hunter2")
    assert "hunter2" not in f"{secret} {secret!r} {[secret]} {Success(secret)}"
    assert secret.reveal() == "hunter2"
    assert secret == Redacted("hunter2")


@frozen
class LockedFile:
    """A provider whose file cannot be read for the key *locked*, and has no other."""

    locked: str

    def load(self, path: Path) -> Outcome[object, ConfigError]:
        return failed(PERMISSION_DENIED) if path[-1:] == (self.locked,) else Success(None)


PERMISSION_DENIED = UnreadableSource("secrets.toml", "permission denied")


@for_each(
    "config",
    [
        Config.of(str, "key"),
        Config.of(str, "key").with_default("default"),
        Config.of(str, "key").or_else(lambda: Config.of(str, "other")),
        Config.of(Logging, "key").with_default(Logging("info")),
        Config.all({"key": Config.of(str, "key")}).with_default({}),
    ],
)
def test_provider_failures_are_propagated(config: Config[Any]) -> None:
    assert config.parse(LockedFile("key")) == failed(PERMISSION_DENIED)
    assert LOGGING.parse(LockedFile("level")) == failed(PERMISSION_DENIED)
    both = Config.all({"missing": Config.of(str, "missing"), "key": config}).with_default({})
    assert both.parse(LockedFile("key")) == failed(MissingKey("missing"), PERMISSION_DENIED)


# What chatmemory needs beyond that: classes, layers of providers, all problems at once.


@frozen
class Server:
    host: str
    request_timeout: float = field(default=1.5, validator=validators.gt(0))


@frozen
class Settings:
    mode: Literal["none", "summarize"] = "none"
    servers: tuple[Server, ...] = ()
    weights: dict[str, float] = field(factory=dict)
    rolling: bool = False
    main: Server | None = None


def test_all_problems_are_reported_at_once_with_dotted_paths() -> None:
    data = {
        "mode": "sumarize",
        "servers": [{"host": "a"}, {"requestTimeout": 0, "colour": 1}],
        "weights": {"recency": "much"},
        "rolling": 1,
        "main": "localhost",
    }
    assert structure(Settings, data, "memory.chat") == failed(
        InvalidValue(
            "memory.chat.mode",
            "expected one of 'none', 'summarize', not 'sumarize': did you mean 'summarize'?",
        ),
        MissingKey("memory.chat.servers[1].host"),
        InvalidValue("memory.chat.servers[1].requestTimeout", "'requestTimeout' must be > 0: 0.0"),
        InvalidValue("memory.chat.servers[1].colour", "unknown key"),
        InvalidValue("memory.chat.weights.recency", "expected a number, not 'much'"),
        InvalidValue("memory.chat.rolling", "expected true or false, not 1"),
        InvalidValue("memory.chat.main", "expected named fields, not 'localhost'"),
    )


def test_a_config_error_reads_as_one_line_per_problem() -> None:
    error = ConfigError(
        (MissingKey("a.b"), InvalidValue("a.c", "unknown key"), UnreadableSource("x.toml", "no such file"))
    )
    assert str(error) == "a.b: required, but missing\na.c: unknown key\nx.toml: no such file"
    assert error.tag == "ConfigError"
    assert not error.retry_is_safe


# The values that each type takes, and what it refuses.
CONVERTED: list[tuple[type, dict[object, object], list[object]]] = [
    (int, {"7": 7, 8: 8}, [True, 7.0, "7.0"]),
    (float, {7: 7.0, "0.5": 0.5}, ["nan", "inf", True]),
    (bool, {"Yes": True, "off": False, False: False}, ["", 0]),
    (str, {"记忆": "记忆"}, [7, None]),
]


@for_each(("type_", "values", "refused"), CONVERTED)
def test_nothing_is_converted_but_what_an_environment_variable_must_write_as_text(
    type_: type, values: dict[object, object], refused: list[object]
) -> None:
    for raw, value in values.items():
        outcome: Outcome[object, ConfigError] = structure(type_, raw)
        assert outcome == Success(value)
        assert type(outcome.unwrap()) is type_
    assert [raw for raw in refused if type(structure(type_, raw)) is not Failure] == []


def test_a_class_that_cannot_be_made_is_a_mistake_in_the_program_and_raises() -> None:
    with pytest.raises(Exception, match="Unsupported type"):
        structure(complex, "1j")


def test_a_variable_overrides_one_field_of_a_class_that_a_file_has() -> None:
    provider = LayeredProvider(
        EnvironmentProvider({"CHATMEMORY_MAIN_REQUEST_TIMEOUT": "9", "CHATMEMORY_MODE": ""}, "CHATMEMORY"),
        MappingProvider({"mode": "summarize", "main": {"host": "a", "requestTimeout": 2}}),
    )
    assert Config.of(Settings).parse(provider) == Success(Settings(mode="summarize", main=Server("a", 9.0)))


def test_unknown_keys_of_a_file_are_seen_behind_the_variables() -> None:
    provider = LayeredProvider(EnvironmentProvider({"MODE": "none"}), MappingProvider({"moed": "none"}))
    assert Config.of(Settings).parse(provider) == failed(
        InvalidValue("moed", "unknown key: did you mean 'mode'?")
    )


def test_a_class_of_defaults_needs_no_source_and_a_required_field_is_named() -> None:
    nothing = EnvironmentProvider({})
    assert Config.of(Settings).parse(nothing) == Success(Settings())
    assert Config.of(Server, "main").parse(nothing) == failed(MissingKey("main.host"))


def test_cattrs_is_imported_when_there_is_something_to_structure() -> None:
    script = "import sys, chatmemory.effect.config.config; sys.exit('cattrs' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
