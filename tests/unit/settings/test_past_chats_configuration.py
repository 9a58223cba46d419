"""The settings of past chats: the ones that everybody reads, and nothing loaded where nothing is set."""

import subprocess
import sys
from pathlib import Path

import pytest

from chatmemory.effect import Failure, Success
from chatmemory.effect.config.config_error import InvalidValue
from chatmemory.settings.embedding_settings import EmbeddingSettings
from chatmemory.settings.past_chats_settings import PastChatsSettings
from chatmemory_layers.configuration import read_settings
from chatmemory_layers.past_chats_configuration import PastChatsPart, read_past_chats_settings


def test_where_nothing_is_set_the_defaults_hold() -> None:
    expected = PastChatsPart(PastChatsSettings(), EmbeddingSettings())
    assert read_past_chats_settings(environment={"PATH": "/bin"}) == Success(expected)


def test_a_file_and_a_variable_are_heard(tmp_path: Path) -> None:
    file = tmp_path / "记忆.toml"
    file.write_text('[memory.embedding]\nprovider = "none"\n', encoding="utf-8")
    environment = {"CHATMEMORY_MEMORY_PAST_CHATS_RECALL_TOKENS": "500"}
    expected = PastChatsPart(PastChatsSettings(recall_tokens=500), EmbeddingSettings(provider="none"))
    assert read_past_chats_settings(file, environment=environment) == Success(expected)


@pytest.mark.parametrize("name", ["CHATMEMORY_MEMORY_RECALL_TOKEN", "CHATMEMORY_PAST_CHATS_PATH"])
def test_a_misspelt_variable_is_told_although_there_is_no_file(name: str) -> None:
    outcome = read_past_chats_settings(environment={name: "1"})
    assert isinstance(outcome, Failure)
    (problem,) = outcome.failure().problems
    assert isinstance(problem, InvalidValue)
    assert problem.path == name


def test_the_variable_that_names_the_file_is_no_mistake() -> None:
    assert isinstance(read_settings(environment={"CHATMEMORY_CONFIG": "a.toml"}), Success)


def test_nothing_that_reads_settings_is_loaded_where_nothing_is_set() -> None:
    program = (
        "import sys; from chatmemory_layers.past_chats_configuration import read_past_chats_settings\n"
        "read_past_chats_settings(environment={}).unwrap(); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    heavy = {"cattrs", "tomllib", "chatmemory.settings.memory_settings", "chatmemory.errors", "asyncio"}
    assert heavy & set(done.stdout.split()) == set()
