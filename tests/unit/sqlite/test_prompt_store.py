"""The file of past chats: private, refused untouched when it is not ours, and one of an earlier version loses nothing."""

import json
import os
import shutil
import sqlite3
import stat
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chatmemory import EffectFailed, Layer, ManagedRuntime, RepositoryError
from chatmemory.pastchats.prompt import EVERYTHING
from chatmemory.settings.memory_settings import SqliteSettings
from chatmemory.settings.past_chats_settings import PastChatsSettings, PastChatsSettingsTag
from chatmemory_layers.sqlite.engine import database
from chatmemory_layers.sqlite.engine.migrations import migrate
from chatmemory_layers.sqlite.prompts.packed_vectors import prepare_packing
from chatmemory_layers.sqlite.prompts.prompt_repository import prompt_reader, prompt_repository
from chatmemory_layers.sqlite.prompts.prompt_store import NEWEST, connect_writer, store_path, versions_of
from chatmemory_layers.sqlite.prompts.prompt_tables import PROMPT_MIGRATIONS, migrate_prompts
from tests.past_turns import MODEL, contents, draft, index, open_past_chats, read_past_chats
from tests.thorough import rounds
from tests.unit.sqlite.desktop_files import change, fetched
from tests.unit.sqlite.stores import schema_text

SCHEMA = Path(__file__).parents[3] / "schemas" / "pastchats.sql"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "索引.db"


def problem_of(layer: Layer[Any, RepositoryError, PastChatsSettingsTag], path: Path) -> RepositoryError:
    """Say why *path* cannot be opened, in the terms of whoever runs the layer."""
    settings = PastChatsSettings(path=str(path), busy_timeout_seconds=0.1)
    with (
        pytest.raises(EffectFailed) as failed,
        ManagedRuntime(Layer.succeed(PastChatsSettingsTag, settings) >> layer),
    ):
        pass
    assert isinstance(failed.value.error, RepositoryError)
    return failed.value.error


def make_index(path: Path) -> None:
    with open_past_chats(path):
        pass


def make_conversations(path: Path) -> None:
    settings = SqliteSettings(path=str(path))
    with closing(database.connect_writer(settings)) as connection:
        database.prepare(connection, settings)


def test_the_published_schema_is_that_of_a_fresh_file() -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrate_prompts(connection)
        fresh = schema_text(connection)
        assert connection.execute("PRAGMA user_version").fetchone() == (PROMPT_MIGRATIONS[-1].number,)
    assert SCHEMA.read_text() == fresh, f"write this to {SCHEMA.name}:\n{fresh}"


def test_a_new_file_and_its_folders_are_private(tmp_path: Path) -> None:
    path = tmp_path / "share" / "chatmemory" / "past.db"
    with open_past_chats(path) as past:
        index(past, [draft(0, "one")])
        modes = {
            file: stat.S_IMODE(file.stat().st_mode)
            for file in (path, *path.parents[:2], *path.parent.iterdir())
        }
    assert {mode for file, mode in modes.items() if file.is_dir()} == {0o700}
    assert {mode for file, mode in modes.items() if file.is_file()} == {0o600}
    assert tmp_path.joinpath("share", "chatmemory", "past.db-wal").exists() is False


def test_without_a_path_it_lies_in_the_data_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert store_path(PastChatsSettings()) == tmp_path / "chatmemory" / "pastchats.db"
    monkeypatch.setenv("HOME", "/home/梅")
    for relative in ("", "data"):
        monkeypatch.setenv("XDG_DATA_HOME", relative)
        assert store_path(PastChatsSettings()) == Path("/home/梅/.local/share/chatmemory/pastchats.db")
    assert store_path(PastChatsSettings(path="~/x.db")) == Path("/home/梅/x.db")


def test_a_reader_makes_no_file_and_says_what_to_do_also_where_a_writer_has_only_begun(path: Path) -> None:
    for is_begun in (False, True):
        if is_begun:
            path.touch()
        error = problem_of(prompt_reader, path)
        assert (error.problem, "pastchats-memory index" in str(error)) == ("missing", True)
        assert path.exists() is is_begun


def test_what_is_no_index_of_ours_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    names = ("foreign", "conversations", "newer", "cut_off", "misnamed", "text")
    foreign, conversations, newer, cut_off, misnamed, text = (tmp_path / f"{name}.db" for name in names)
    change(foreign, "CREATE TABLE prompts (id, title)")
    make_conversations(conversations)
    make_index(newer)
    later = f"INSERT INTO chatmemory_migration VALUES ({NEWEST + 1}, 'later', 'x', 1)"
    change(newer, later, f"PRAGMA user_version = {NEWEST + 1}")
    make_index(cut_off)
    os.truncate(cut_off, cut_off.stat().st_size - 4096)
    make_index(misnamed)  # SQLite will complain by a name that is not UTF-8
    bad = misnamed.read_bytes().replace(b"prompt_sources", b"\x8erompt_sources")
    misnamed.write_bytes(bad.replace(b"CREATE TABLE \x8e", b"CREXTE TABLE \x8e"))
    text.write_text("这不是数据库" * 1000)
    for path, problem in (
        (foreign, "not_a_store"),
        (conversations, "not_a_store"),
        (newer, "newer_schema"),
        (cut_off, "damaged"),
        (misnamed, "damaged"),
        (text, "not_a_store"),
    ):
        before = path.read_bytes()
        for layer in (prompt_repository, prompt_reader):
            assert problem_of(layer, path).problem == problem, path
            assert path.read_bytes() == before
    for layer in (prompt_repository, prompt_reader):
        assert problem_of(layer, tmp_path).problem == "unavailable"


def test_a_store_of_conversations_does_not_take_an_index_for_its_own(path: Path) -> None:
    make_index(path)
    with pytest.raises(EffectFailed):
        make_conversations(path)


def test_a_file_that_another_process_makes_meanwhile_is_not_taken_for_a_strangers(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def versions_before_it_was_made(connection: sqlite3.Connection) -> tuple[int, int]:
        seen = versions_of(connection)
        monkeypatch.undo()
        with open_past_chats(path):
            return seen

    monkeypatch.setattr(
        "chatmemory_layers.sqlite.prompts.prompt_store.versions_of", versions_before_it_was_made
    )
    with open_past_chats(path) as past:
        assert contents(past) == []


TURNS = 40
DIM = 1024

INSERT_PROMPT = """
INSERT INTO prompts (
    id, source_path, source_project, conversation_id, turn_index, role, content, content_hash, text_hash, created_at
)
VALUES (?, '/home/mei/a.jsonl', 'shop', 'role_list:a', ?, 'user', ?, ?, ?, '2025-01-01 00:00:00')
"""
INSERT_EMBEDDING = """
INSERT INTO prompt_embeddings (prompt_id, model, dim, vector, vector_json, created_at) VALUES (?, ?, ?, ?, ?, ?)
"""
SELECT_EMBEDDINGS = """
SELECT prompt_id, model, dim, vector_json, created_at FROM prompt_embeddings ORDER BY prompt_id
"""


def make_former(path: Path, version: int) -> list[Sequence[object]]:
    """Make the store that version *version* had; return its embeddings."""
    chance = np.random.default_rng(version)
    rows = (chance.integers(-128, 128, (TURNS, DIM)) * (chance.random((TURNS, DIM)) < 0.4)).astype(np.int8)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        migrate(connection, PROMPT_MIGRATIONS[:version])
        connection.execute("INSERT INTO prompt_models (model_key, model, dim) VALUES (1, ?, ?)", (MODEL, DIM))
        for number, row in enumerate(rows):
            connection.execute(INSERT_PROMPT, (number, number, f"turn {number}", f"c{number}", f"t{number}"))
            made = "2025-01-01 00:00:00" if number % 2 else "2025-02-02 10:20:30"
            text = json.dumps(row.tolist(), separators=(",", ":"))
            last = number == TURNS - 1  # a turn that had no vector yet
            vector = ("none", 0, b"", "[]", made) if last else (MODEL, DIM, row.tobytes(), text, made)
            connection.execute(INSERT_EMBEDDING, (number, *vector))
            connection.execute("INSERT INTO prompt_codes VALUES (?, 1, x'')", (number,))
        return connection.execute(SELECT_EMBEDDINGS).fetchall()


def embeddings(path: Path) -> list[Sequence[object]]:
    return fetched(path, SELECT_EMBEDDINGS)


def version_of(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return versions_of(connection)[1]


@pytest.mark.parametrize("version", [1, 2])
def test_what_an_earlier_version_wrote_is_read_takes_less_room_and_grows(path: Path, version: int) -> None:
    former = make_former(path, version)
    long = path.stat().st_size
    with read_past_chats(path) as past:
        (talk,) = past.conversations(EVERYTHING, limit=9).run_sync().unwrap().conversations
        assert talk.turns == TURNS
    assert (embeddings(path), version_of(path)) == (former, NEWEST)
    assert path.stat().st_size < 0.6 * long
    with open_past_chats(path) as past:
        index(past, [draft(0, "一")])
    assert embeddings(path)[:TURNS] == former
    question = "SELECT sql FROM sqlite_schema WHERE name = 'prompts_conversation_order'"
    assert "superseded_at" in fetched(path, question)[0][0]
    # A program that knew the table deletes a row of the view.
    count = "SELECT count(*) FROM prompt_vectors WHERE prompt_id = 3"
    assert fetched(path, count) == [(1,)]
    change(path, "DELETE FROM prompt_embeddings WHERE prompt_id = 3")
    assert fetched(path, count) == [(0,)]


def test_conversations_over_several_files_and_agents_of_two_sessions_are_put_in_order(path: Path) -> None:
    agents, resumed = "claude_code:agent-1", "codex_cli:t"
    rows = [  # source, conversation, place, metadata, time
        ("/a", resumed, 0, None, "2026-01-01T08:00:00.000000Z"),
        ("/b", resumed, 0, None, "2026-01-02T08:00:00.000000Z"),
        ("/a", resumed, 1, None, None),
        ("/b", resumed, 1, None, "2099-01-01T08:00:00.000000Z"),
        ("/c", agents, 0, '{"parent_session": "s1"}', None),
        ("/d", agents, 0, '{"parent_session": "s2"}', None),
    ]
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        prepare_packing(connection)
        migrate(connection, PROMPT_MIGRATIONS[:3])
        for number, row in enumerate(rows):
            columns = (
                "source_path, conversation_id, turn_index, metadata_json, timestamp, source_project, role"
            )
            values = (*row, "p", "user", f"{number}", f"{number}")
            connection.execute(
                f"INSERT INTO prompts ({columns}, content, content_hash) VALUES (?,?,?,?,?,?,?,?,?)", values
            )
    connect_writer(PastChatsSettings(path=str(path))).close()
    assert fetched(path, "SELECT conversation_id, turn_index, content FROM prompts ORDER BY 1, 2") == [
        ("claude_code:s1/agent-1", 0, "4"),
        ("claude_code:s2/agent-1", 0, "5"),
        *((resumed, number, content) for number, content in enumerate("0213")),
    ]


class Copying(sqlite3.Connection):
    """Copies the file and its log before each statement, as a process leaves them that is killed there."""

    folder: Path
    copies: int = 0

    def execute(self, *asked: Any) -> sqlite3.Cursor:
        (_, _, name) = super().execute("PRAGMA database_list").fetchone()
        for file in Path(name).parent.glob(f"{Path(name).name}*"):
            if not file.name.endswith("-shm"):
                shutil.copy(file, self.folder / f"{self.copies}{file.suffix}")
        self.copies += 1
        return super().execute(*asked)


def test_killed_before_any_statement_a_migration_is_completed(path: Path, tmp_path: Path) -> None:
    former = make_former(path, 2)
    folder = tmp_path / "killed"
    folder.mkdir()
    with closing(sqlite3.connect(path, isolation_level=None, factory=Copying)) as connection:
        connection.folder = folder
        prepare_packing(connection)
        connection.execute("PRAGMA cache_size = 4")  # so the log holds some of the step before its commit
        migrate(connection, PROMPT_MIGRATIONS)
        copies = connection.copies
    assert copies > len(PROMPT_MIGRATIONS[-1].statements)
    for number in range(0, copies, rounds(20, thorough=1)):
        killed = folder / f"{number}"
        for log in folder.glob(f"{number}.db-wal"):
            log.rename(folder / f"{number}-wal")
        (folder / f"{number}.db").rename(killed)
        connect_writer(PastChatsSettings(path=str(killed))).close()
        assert (version_of(killed), embeddings(killed)) == (NEWEST, former)
