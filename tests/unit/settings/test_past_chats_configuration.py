"""The settings of past chats: the ones that everybody reads, and nothing loaded where nothing is set."""

from pathlib import Path

from attrs import fields

from chatmemory import EmbeddingSettings, Failure, PastChatsSettings, Success
from chatmemory.errors import InvalidValue
from chatmemory_layers.configuration import read_settings
from chatmemory_layers.past_chats_configuration import _PLAIN, PastChatsPart, read_past_chats_settings
from tests.for_each import for_each
from tests.forked import modules_loaded_by


def test_a_file_and_a_variable_are_heard(tmp_path: Path) -> None:
    file = tmp_path / "记忆.toml"
    file.write_text('[memory.embedding]\nprovider = "none"\n', encoding="utf-8")
    environment = {"CHATMEMORY_MEMORY_PAST_CHATS_RECALL_TOKENS": "500"}
    expected = PastChatsPart(PastChatsSettings(recall_tokens=500), EmbeddingSettings(provider="none"))
    assert read_past_chats_settings(file, environment=environment) == Success(expected)


@for_each("name", ["CHATMEMORY_MEMORY_RECALL_TOKEN", "CHATMEMORY_PAST_CHATS_PATH"])
def test_a_misspelt_variable_is_told_although_there_is_no_file(name: str) -> None:
    outcome = read_past_chats_settings(environment={name: "1"})
    (problem,) = outcome.failure().problems
    assert isinstance(problem, InvalidValue)
    assert problem.path == name


ALONE = """
[memory.pastChats]
path = "~/聊天.db"
redactSecrets = false
exclude = "**/a,**/b"
recallTokens = 900
hookTokens = 90
busyTimeoutSeconds = 2.5
useSqliteVec = false
"""


@for_each(
    "text",
    [
        "",
        ALONE,
        "[memory.pastChats]\nbusyTimeoutSeconds = 3\n",
        "[memory.pastChats]\nrecallTokens = 0\n",
        "[memory.pastChats]\nbusyTimeoutSeconds = inf\n",
        "[memory.pastChats]\nbusyTimeoutSeconds = nan\n",
        "[memory.pastChats]\nbusyTimeoutSeconds = -1.0\n",
        "[memory.pastChats]\nrecallTokens = true\n",
        "[memory.pastChats]\nrecallToken = 5\n",
        "[memory]\npastChats = 3\n",
        "memory = 3\n",
        "[server]\nport = -1\n",
        "[memory.pastChats\n",
        "\xff",
    ],
)
def test_a_file_means_the_same_whoever_reads_it(tmp_path: Path, text: str) -> None:
    file = tmp_path / "记忆.toml"
    file.write_bytes(text.encode("latin-1") if text == "\xff" else text.encode())
    quick, whole = read_past_chats_settings(file, environment={}), read_settings(file, environment={})
    if isinstance(whole, Failure):
        assert quick == whole
    else:
        memory = whole.unwrap().memory
        assert quick == Success(PastChatsPart(memory.past_chats, memory.embedding))


def test_every_setting_of_past_chats_is_known_to_the_quick_reader() -> None:
    names = {attribute for attribute, _ in _PLAIN.values()}
    assert names == {field.name for field in fields(PastChatsSettings)}


def test_a_file_of_past_chats_alone_loads_nothing_that_reads_other_settings(tmp_path: Path) -> None:
    file = tmp_path / "记忆.toml"
    file.write_text(ALONE, encoding="utf-8")
    script = (
        "import sys; from chatmemory_layers.past_chats_configuration import read_past_chats_settings\n"
        "read_past_chats_settings(sys.argv[1], environment={}).unwrap()"
    )
    assert {"cattrs", "chatmemory.settings.memory_settings"} & modules_loaded_by(script, file) == set()
