"""``structure``: raw data becomes classes, and every problem is told at once with its path."""

from __future__ import annotations

from typing import Literal

import pytest
from attrs import field, frozen, validators

from chatmemory.effect import Failure, Outcome, Success
from chatmemory.errors import (
    ConfigError,
    ConfigProblem,
    InvalidValue,
    MissingKey,
    UnreadableSource,
)
from chatmemory.input.structuring import structure
from tests.for_each import for_each
from tests.forked import modules_loaded_by


def failed(*problems: ConfigProblem) -> Failure[ConfigError]:
    return Failure(ConfigError(problems))


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


def test_a_problem_does_not_show_what_is_in_a_table() -> None:
    refused = failed(InvalidValue("a", "expected text, not dict"))
    assert structure(str, {"password": "hunter2"}, "a") == refused


def test_cattrs_is_imported_when_there_is_something_to_structure() -> None:
    assert "cattrs" not in modules_loaded_by("import chatmemory.input.structuring")
