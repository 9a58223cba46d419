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


def parse(config: Config[Any], data: Mapping[str, object]) -> Outcome[Any, ConfigError]:
    return config.parse(MappingProvider(data))


@frozen
class Logging:
    level: Literal["info", "debug"]


host_and_port = Config.all({"a": Config.of(str, "b"), "c": Config.of(int, "d")})


def test_with_default_uses_the_parsed_value_when_present_and_the_default_when_absent() -> None:
    config = Config.of(int, "a").with_default(0)
    assert parse(config, {"a": "1"}) == Success(1)
    assert parse(config, {}) == Success(0)
    assert parse(config, {"a": "value"}) == failed(InvalidValue("a", "expected an integer, not 'value'"))


def test_with_default_does_not_recover_from_invalid_union_input() -> None:
    config = Config.of(Logging, "logging").with_default(Logging("info"))
    assert parse(config, {}) == Success(Logging("info"))
    assert parse(config, {"logging": {"level": "debug"}}) == Success(Logging("debug"))
    assert parse(config, {"logging": {"level": "DEBUG"}}) == failed(
        InvalidValue("logging.level", "expected one of 'info', 'debug', not 'DEBUG'")
    )


def test_with_default_defaults_wholly_absent_products_and_rejects_partial_products() -> None:
    config = host_and_port.with_default({"a": "a", "c": 0})
    assert parse(config, {"b": "b", "d": "1"}) == Success({"a": "b", "c": 1})
    assert parse(config, {}) == Success({"a": "a", "c": 0})
    assert parse(config, {"b": "b"}) == failed(MissingKey("d"))
    assert parse(config, {"d": "1"}) == failed(MissingKey("b"))


def test_with_default_treats_ignored_empty_env_strings_as_absent() -> None:
    config = Config.of(str, "a").with_default("default")
    assert config.parse(EnvironmentProvider({"A": ""})) == Success("default")
    assert config.parse(EnvironmentProvider({"A": "set"})) == Success("set")


def test_with_default_supports_redacted_default_values() -> None:
    config = Config.of(Redacted[str], "a").with_default(Redacted("default"))
    assert parse(config, {"a": "value"}) == Success(Redacted("value"))
    assert parse(config, {}) == Success(Redacted("default"))


def test_or_else_evaluates_the_fallback_after_absence() -> None:
    asked: list[str] = []

    def fallback() -> Config[int]:
        asked.append("fallback")
        return Config.of(int, "b")

    config = Config.of(str, "a").or_else(fallback)
    assert parse(config, {"a": "value", "b": "1"}) == Success("value")
    assert asked == []
    assert parse(config, {"b": "1"}) == Success(1)
    assert parse(config, {"a": 5, "b": "1"}) == failed(InvalidValue("a", "expected text, not 5"))


def test_nested_composes_multiple_prefixes_from_outermost_to_innermost() -> None:
    config = Config.of(int, "port").nested("primary").nested("store.postgres")
    assert parse(config, {"store": {"postgres": {"primary": {"port": 5432}}}}) == Success(5432)
    assert config.parse(EnvironmentProvider({"STORE_POSTGRES_PRIMARY_PORT": "5432"})) == Success(5432)
    assert parse(config, {}) == failed(MissingKey("store.postgres.primary.port"))


def test_redacted_values_are_never_shown() -> None:
    secret = Redacted("hunter2")
    assert "hunter2" not in f"{secret} {secret!r} {[secret]} {Success(secret)}"
    assert secret.reveal() == "hunter2"
    assert secret == Redacted("hunter2")
    assert parse(Config.of(Redacted[int], "pin"), {"pin": "hunter2"}) == failed(
        InvalidValue("pin", "expected a secret int")
    )


def test_all_combines_named_fields_and_preserves_their_keys() -> None:
    assert parse(host_and_port, {"b": "x", "d": "1"}) == Success({"a": "x", "c": 1})
    assert parse(host_and_port, {"b": 1, "d": "x"}) == failed(
        InvalidValue("b", "expected text, not 1"), InvalidValue("d", "expected an integer, not 'x'")
    )


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


def test_provider_failures_are_propagated_from_a_single_field() -> None:
    config = Config.of(Logging, "logging").with_default(Logging("info"))
    assert config.parse(LockedFile("level")) == failed(PERMISSION_DENIED)


def test_provider_failures_are_propagated_alongside_absence() -> None:
    config = Config.all({"missing": Config.of(str, "missing"), "key": Config.of(str, "key")})
    assert config.with_default({}).parse(LockedFile("key")) == failed(
        MissingKey("missing"), PERMISSION_DENIED
    )


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


@for_each(
    ("type_", "raw", "value"),
    [
        (int, "7", 7),
        (int, True, None),
        (int, 7.0, None),
        (int, "7.0", None),
        (float, 7, 7.0),
        (float, "0.5", 0.5),
        (float, "nan", None),
        (float, "inf", None),
        (float, True, None),
        (bool, "Yes", True),
        (bool, "off", False),
        (bool, False, False),
        (bool, "", None),
        (bool, 0, None),
        (str, "记忆", "记忆"),
        (str, 7, None),
        (str, None, None),
    ],
)
def test_nothing_is_converted_but_what_an_environment_variable_must_write_as_text(
    type_: type, raw: object, value: object
) -> None:
    outcome: Outcome[object, ConfigError] = structure(type_, raw)
    if value is None:
        assert type(outcome) is Failure
    else:
        assert outcome == Success(value)
        assert type(outcome.unwrap()) is type_


def test_the_content_of_a_table_in_the_wrong_place_is_not_shown() -> None:
    assert structure(str, {"password": "hunter2"}, "path") == failed(
        InvalidValue("path", "expected text, not dict")
    )


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


@for_each(
    ("path", "variable"),
    [
        (("memory", "chat", "strategy", "summarizeEveryN"), "CM_MEMORY_CHAT_STRATEGY_SUMMARIZE_EVERY_N"),
        (("sha256Sum",), "CM_SHA256_SUM"),
    ],
)
def test_the_variable_of_a_setting_is_its_path_in_capitals(path: Path, variable: str) -> None:
    assert EnvironmentProvider({}, "CM").variable(path) == variable


def test_cattrs_is_imported_when_there_is_something_to_structure() -> None:
    script = "import sys, chatmemory.effect.config.config; sys.exit('cattrs' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
