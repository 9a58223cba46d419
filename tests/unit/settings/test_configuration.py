"""Settings from a file, the environment and a command: which wins, and how every mistake is told."""

import os
import re
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import attrs
import pytest
from jsonschema import Draft202012Validator

from chatmemory import EffectFailed, Failure, ManagedRuntime, Settings, Success
from chatmemory.errors import ConfigError, ConfigProblem, InvalidValue, UnreadableSource
from chatmemory.input.structuring import structure
from chatmemory.programs.json_schema import json_schema
from chatmemory.settings.memory_settings import PostgresSettingsTag, StrategySettings, StrategySettingsTag
from chatmemory_layers import stacks
from chatmemory_layers.configuration import NAME, read_settings, setting_paths, settings_given
from tests.for_each import for_each

CONFIG = Path(__file__).parents[3] / "config"
NOTHING: dict[str, str] = {}


def written(folder: Path, text: str) -> Path:
    file = folder / "settings.toml"
    file.write_text(text, encoding="utf-8")
    return file


def problems_of(path: Path | None, environment: dict[str, str] = NOTHING) -> tuple[ConfigProblem, ...]:
    outcome = read_settings(path, environment=environment)
    assert isinstance(outcome, Failure), outcome
    return outcome.failure().problems


def flat(table: dict[str, Any], path: tuple[str, ...] = ()) -> dict[tuple[str, ...], object]:
    leaves: dict[tuple[str, ...], object] = {}
    for key, value in table.items():
        leaves |= flat(value, (*path, key)) if isinstance(value, dict) else {(*path, key): value}
    return leaves


def test_the_documented_file_names_every_setting_and_its_default_and_says_something_about_it() -> None:
    text = (CONFIG / "chatmemory.toml").read_text(encoding="utf-8")
    assert structure(Settings, tomllib.loads(text)) == Success(Settings())
    # What is not set by default stands there as a comment.
    every = re.sub(r"^# (\w+ = |\[)", r"\1", text, flags=re.MULTILINE)
    assert set(flat(tomllib.loads(every))) == set(setting_paths())
    pairs = pairwise(text.splitlines())
    bare = [line for before, line in pairs if " = " in line and not before.startswith("#")]
    assert [line for line in bare if not line.startswith("#")] == []


@for_each("file", sorted(CONFIG.glob("*.toml")))
def test_every_file_that_ships_can_be_read_and_obeys_the_schema(file: Path) -> None:
    assert isinstance(read_settings(file, environment=NOTHING), Success)
    Draft202012Validator(json_schema(Settings)).validate(tomllib.loads(file.read_text(encoding="utf-8")))


def test_without_a_file_and_variables_of_settings_there_are_the_defaults() -> None:
    no_settings = {
        "CHATMEMORY_TEST_DSN": "postgresql://me@localhost/test",
        "CHATMEMORY_DEBUG": "1",
        "CHATMEMORY_CONFIG": "a.toml",
        "CHATMEMORY_MEMORY_STORE_BACKEND": "",
    }
    for environment in (NOTHING, no_settings):
        assert read_settings(environment=environment) == Success(Settings())


def test_a_command_wins_over_the_environment_that_over_the_file_over_the_default(tmp_path: Path) -> None:
    file = written(tmp_path, '[server]\nport = 1\nuser = "file"\n[memory.store.sqlite]\npath = "file.db"\n')
    environment = {"CHATMEMORY_SERVER_PORT": "2", "CHATMEMORY_SERVER_USER": "variable"}
    told = {"port": 3, "user": None, "host": None}
    given = {"server": told, "memory": {"store": {"sqlite": {"path": None}}}}
    settings = read_settings(file, environment=environment, given=given).unwrap()
    assert (settings.server.port, settings.server.user, settings.server.host) == (3, "variable", "127.0.0.1")
    assert settings.memory.store.sqlite.path == "file.db"
    assert settings.memory.chat.strategy.skill_id == "conversation-summary"


def test_what_a_command_is_told_obeys_the_rules_and_hides_no_mistake_of_the_file(tmp_path: Path) -> None:
    refused = read_settings(environment=NOTHING, given={"server": {"port": 65_536, "user": ""}})
    assert [problem.path for problem in refused.failure().problems] == ["server.port", "server.user"]
    file = written(tmp_path, "[server]\nprot = 1\n")
    refused = read_settings(file, environment=NOTHING, given={"server": {"port": 3}})
    assert refused.failure().problems == (InvalidValue("server.prot", "unknown key: did you mean 'port'?"),)
    untold = {"server": {"port": None, "user": None}}
    assert read_settings(environment=NOTHING, given=untold) == Success(Settings())


@for_each("path", [path for path in setting_paths() if NAME not in path])
def test_every_setting_has_a_variable(path: tuple[str, ...]) -> None:
    default = read_settings(environment=NOTHING).unwrap()
    value: Any = default
    for key in path:
        value = getattr(value, "".join(f"_{c.lower()}" if c.isupper() else c for c in key))
    name = "_".join(
        ("CHATMEMORY", *("".join(f"_{c}" if c.isupper() else c.upper() for c in key) for key in path))
    )
    text = "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    assert read_settings(environment={name: text}) == Success(default)
    if not isinstance(value, str):
        (problem,) = problems_of(None, {name: "many"})
        assert isinstance(problem, InvalidValue)
        assert problem.path == ".".join(path)


def test_the_limit_of_a_recall_is_heard_by_its_plain_name_too(tmp_path: Path) -> None:
    file = written(tmp_path, "[memory.retrieval]\nlimit = 2\n")
    plain = {"MEMORY_RETRIEVAL_LIMIT": "7"}
    assert read_settings(file, environment=plain).unwrap().memory.retrieval.limit == 7
    both = {**plain, "CHATMEMORY_MEMORY_RETRIEVAL_LIMIT": "9"}
    assert read_settings(file, environment=both).unwrap().memory.retrieval.limit == 9


def test_two_settings_are_read_by_the_names_of_document_001_too_under_the_same_rules(tmp_path: Path) -> None:
    text = "[memory.retrieval]\nRagSimilarityThreshold = 0.4\nRagTimeDecayRate = 0.002\n"
    retrieval = read_settings(written(tmp_path, text), environment=NOTHING).unwrap().memory.retrieval
    assert (retrieval.similarity_threshold, retrieval.decay_per_day) == (0.4, 0.002)
    Draft202012Validator(json_schema(Settings)).validate(tomllib.loads(text))
    text = '[memory.retrieval]\nRagSimilarityThreshold = 1.5\nRagTimeDecayRate = "fast"\n'
    found = {problem.path for problem in problems_of(written(tmp_path, text))}
    assert found == {"memory.retrieval.similarityThreshold", "memory.retrieval.decayPerDay"}
    (problem,) = problems_of(None, {"CHATMEMORY_MEMORY_RETRIEVAL_SIMILARITY_THRESHOLD": "1.5"})
    assert isinstance(problem, InvalidValue)


@for_each("of_file", ["similarityThreshold", "RagSimilarityThreshold"])
@for_each("of_variable", ["SIMILARITY_THRESHOLD", "RAG_SIMILARITY_THRESHOLD"])
def test_the_environment_wins_whichever_name_is_used(tmp_path: Path, of_file: str, of_variable: str) -> None:
    file = written(tmp_path, f"[memory.retrieval]\n{of_file} = 0.4\n")
    environment = {f"CHATMEMORY_MEMORY_RETRIEVAL_{of_variable}": "0.6"}
    retrieval = read_settings(file, environment=environment).unwrap().memory.retrieval
    assert retrieval.similarity_threshold == 0.6


def test_a_setting_that_one_source_names_twice_is_refused(tmp_path: Path) -> None:
    file = written(tmp_path, "[memory.retrieval]\ndecayPerDay = 0.1\nRagTimeDecayRate = 0.2\n")
    (problem,) = problems_of(file)
    assert problem.path == "memory.retrieval.RagTimeDecayRate"
    name = "CHATMEMORY_MEMORY_RETRIEVAL"
    (problem,) = problems_of(None, {f"{name}_DECAY_PER_DAY": "0.1", f"{name}_RAG_TIME_DECAY_RATE": "0.2"})
    assert problem.path == f"{name}_RAG_TIME_DECAY_RATE"


def test_the_environment_of_the_process_is_read_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("CHATMEMORY_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("CHATMEMORY_MEMORY_CHAT_STRATEGY_KEEP_LAST", "3")
    assert read_settings().unwrap().memory.chat.strategy.keep_last == 3


def test_all_problems_are_told_at_once_with_their_paths(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        """
        [memory.chat.strategy]
        type = "sumarize"
        summarizeEveryN = 0
        timeoutSecond = 30
        [memroy]
        """,
    )
    environment = {
        "CHATMEMORY_MEMORY_SKILL_MAX_RETRIES": "-1",
        "CHATMEMORY_MEMORY_SKIL_MODEL": "x",
        "CHATMEMORY_COLOUR": "red",
    }
    strategy = "memory.chat.strategy"
    assert set(problems_of(file, environment)) == {
        InvalidValue(
            f"{strategy}.type",
            "expected one of 'none', 'summarize', 'token_budget', not 'sumarize': did you mean 'summarize'?",
        ),
        InvalidValue(f"{strategy}.summarizeEveryN", "'summarizeEveryN' must be >= 1: 0"),
        InvalidValue(f"{strategy}.timeoutSecond", "unknown key: did you mean 'timeoutSeconds'?"),
        InvalidValue("memroy", "unknown key: did you mean 'memory'?"),
        InvalidValue("memory.skill.maxRetries", "'maxRetries' must be >= 0: -1"),
        InvalidValue(
            "CHATMEMORY_MEMORY_SKIL_MODEL", "unknown variable: did you mean 'CHATMEMORY_MEMORY_SKILL_MODEL'?"
        ),
        InvalidValue("CHATMEMORY_COLOUR", "unknown variable"),
    }


def test_settings_that_contradict_each_other_are_refused() -> None:
    strategy = "CHATMEMORY_MEMORY_CHAT_STRATEGY"
    (problem,) = problems_of(None, {f"{strategy}_TYPE": "summarize", f"{strategy}_KEEP_LAST": "20"})
    expected = "keepLast (20) must be less than summarizeEveryN (20)"
    assert problem == InvalidValue("memory.chat.strategy", expected)


@for_each(
    ("make", "reason"),
    [
        (lambda path: None, "No such file or directory"),
        (lambda path: path.mkdir(), "Is a directory"),
        (lambda path: path.write_bytes(b"\xff\xfe"), "utf-8"),
        (lambda path: path.write_text("[memory]\n\nchat = \n"), "line 3"),
    ],
)
def test_a_file_that_cannot_be_read_is_told_with_the_reason_and_the_environment_is_checked_all_the_same(
    tmp_path: Path, make: Any, reason: str
) -> None:
    path = tmp_path / f"{len(reason)}.toml"
    make(path)
    unreadable, unknown = problems_of(path, {"CHATMEMORY_X": "1"})
    assert isinstance(unreadable, UnreadableSource)
    assert unreadable.source == str(path)
    assert reason in unreadable.message
    assert unknown == InvalidValue("CHATMEMORY_X", "unknown variable")


async def test_a_layer_gives_each_part_under_its_tag(tmp_path: Path) -> None:
    text = "[memory.chat.strategy]\nkeepLast = 1\n[memory.store.postgres]\npoolSize = 3\n"
    settings = read_settings(written(tmp_path, text), environment=NOTHING).unwrap()
    async with ManagedRuntime(settings_given(settings)) as runtime:
        assert (await runtime.service(StrategySettingsTag)).keep_last == 1
        assert (await runtime.service(PostgresSettingsTag)).pool_size == 3


async def test_a_wrong_configuration_is_the_typed_failure_of_the_stack() -> None:
    layer = stacks.from_configuration(environment={"CHATMEMORY_MEMORY_STORE_BACKEND": "oracle"})
    with pytest.raises(EffectFailed, match=r"memory\.store\.backend: expected .*, not 'oracle'") as failed:
        await ManagedRuntime(layer).__aenter__()
    assert isinstance(failed.value.error, ConfigError)


@for_each("token", ["0123456789abcdef\\n", " 0123456789abcdef", "一二三四五六七八九十一二三四五六", " " * 20])
@for_each("table", ["[server]", '[server.tokens.harbor]\nuser = "mei"'])
def test_a_token_that_no_client_could_send_is_refused(tmp_path: Path, table: str, token: str) -> None:
    (problem,) = problems_of(written(tmp_path, f'{table}\ntoken = "{token}"\n'), NOTHING)
    assert "no client could send it" in str(problem)


def choices(kind: type[Any] = Settings) -> list[tuple[type[Any], str, tuple[str, ...]]]:
    """Return each setting that is one of several words: its class, its name and the words."""
    found: list[tuple[type[Any], str, tuple[str, ...]]] = []
    for field in attrs.fields(kind):
        if get_origin(field.type) is Literal:
            found.append((kind, field.name, get_args(field.type)))
        elif isinstance(field.type, type) and attrs.has(field.type):
            found += choices(field.type)
    return found


@for_each(("kind", "name", "words"), choices())
def test_a_word_that_is_no_choice_is_refused_where_it_is_written(
    kind: type[Any], name: str, words: tuple[str, ...]
) -> None:
    assert [getattr(kind(**{name: word}), name) for word in words] == list(words)
    with pytest.raises(ValueError, match=f"^{name}: expected one of '{words[0]}', .*, not '不存在'$"):
        kind(**{name: "不存在"})


@for_each(
    ("name", "value", "expected"),
    [
        ("summarize_every_n", "4", "a whole number, not '4'"),
        ("keep_last", 1.5, "a whole number, not 1.5"),
        ("timeout_seconds", None, "a number, not None"),
    ],
)
def test_a_setting_that_is_no_number_is_refused_by_its_name(name: str, value: Any, expected: str) -> None:
    with pytest.raises(ValueError, match=f"^{name}: expected {expected}$"):
        StrategySettings(**{name: value})
