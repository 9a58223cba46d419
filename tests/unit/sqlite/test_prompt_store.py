"""The file of past chats: private, made by writers only, refused untouched when it is not ours."""

import os
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from chatmemory.effect import EffectFailed, Failure, Layer, ManagedRuntime
from chatmemory.errors import RepositoryError
from chatmemory.settings.memory_settings import SqliteSettings
from chatmemory.settings.past_chats_settings import PastChatsSettings, PastChatsSettingsTag
from chatmemory_layers.sqlite.engine import store_file
from chatmemory_layers.sqlite.prompts.prompt_repository import prompt_reader, prompt_repository
from chatmemory_layers.sqlite.prompts.prompt_store import NEWEST, store_path, versions_of
from chatmemory_layers.sqlite.prompts.prompt_tables import PROMPT_MIGRATIONS, migrate_prompts
from tests.past_turns import SOURCE, contents, draft, index, open_past_chats, read_past_chats, state

SCHEMA = Path(__file__).parents[3] / "schemas" / "pastchats.sql"

# Without what SQLite makes by itself: its sequences, and the tables behind a virtual one.
SELECT_SCHEMA = """
SELECT sql FROM sqlite_schema
WHERE sql IS NOT NULL AND name NOT GLOB 'sqlite_*' AND NOT (type = 'table' AND name GLOB 'prompts_fts_*')
ORDER BY tbl_name, type <> 'table', type DESC, name
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "索引.db"


def problem_of(open_: Callable[[Path], object], path: Path) -> RepositoryError:
    """Say why *path* cannot be opened, in the terms of whoever runs the layer."""
    layer = prompt_repository if open_ is open_past_chats else prompt_reader
    settings = PastChatsSettings(path=str(path), busy_timeout_seconds=0.1)
    with (
        pytest.raises(EffectFailed) as failed,
        ManagedRuntime(Layer.succeed(PastChatsSettingsTag, settings) >> layer),
    ):
        pass
    assert isinstance(failed.value.error, RepositoryError)
    return failed.value.error


def make_foreign(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE prompts (id, title)")


def make_conversations(path: Path) -> None:
    settings = SqliteSettings(path=str(path))
    with closing(store_file.connect_writer(settings)) as connection:
        store_file.prepare(connection, settings)


def make_newer(path: Path) -> None:
    with open_past_chats(path):
        pass
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("INSERT INTO chatmemory_migration VALUES (?, 'later', 'x', 1)", (NEWEST + 1,))
        connection.execute(f"PRAGMA user_version = {NEWEST + 1}")


def make_cut_off(path: Path) -> None:
    with open_past_chats(path):
        pass
    os.truncate(path, path.stat().st_size - 4096)


def make_text(path: Path) -> None:
    path.write_text("这不是数据库" * 1000)


def test_the_published_schema_is_that_of_a_fresh_file() -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrate_prompts(connection)
        statements = [sql for (sql,) in connection.execute(SELECT_SCHEMA).fetchall()]
        assert connection.execute("PRAGMA user_version").fetchone() == (PROMPT_MIGRATIONS[-1].number,)
    fresh = "".join(f"{statement};\n\n" for statement in statements).rstrip() + "\n"
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
        error = problem_of(read_past_chats, path)
        assert (error.problem, "pastchats-memory index" in str(error)) == ("missing", True)
        assert path.exists() is is_begun


def test_what_is_no_index_of_ours_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    for number, (make, problem) in enumerate(
        (
            (make_foreign, "not_a_store"),
            (make_conversations, "not_a_store"),
            (make_newer, "newer_schema"),
            (make_cut_off, "damaged"),
            (make_text, "not_a_store"),
            (Path.mkdir, "unavailable"),
        )
    ):
        path = tmp_path / f"{number}.db"
        make(path)
        before = path.read_bytes() if path.is_file() else b""
        for open_ in (open_past_chats, read_past_chats):
            assert problem_of(open_, path).problem == problem, make
            assert (path.read_bytes() if path.is_file() else b"") == before


def test_a_store_of_conversations_does_not_take_an_index_for_its_own(path: Path) -> None:
    with open_past_chats(path):
        pass
    settings = SqliteSettings(path=str(path))
    with closing(store_file.connect_writer(settings)) as connection, pytest.raises(EffectFailed):
        store_file.prepare(connection, settings)


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


def test_a_full_disk_leaves_what_was_there_and_the_next_try_completes(path: Path) -> None:
    with open_past_chats(path) as past:
        index(past, [draft(0, "one")])
        connection = past._connection
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages}")
        long = [draft(0, "one"), *(draft(number, f"{number} 很长" * 2000) for number in range(1, 20))]
        past.stage(long, {}, model="none").run_sync().unwrap()
        full = past.commit_source(state(size=2)).run_sync()
        assert isinstance(full, Failure)
        assert full.failure().problem == "full"
        assert contents(past) == ["one"]
        connection.execute("PRAGMA max_page_count = 1000000")
        assert past.commit_source(state(size=2)).run_sync().unwrap().new == 19


def test_a_damaged_page_is_a_typed_error(path: Path) -> None:
    with open_past_chats(path) as past:
        index(past, [draft(number, f"{number} 坏页" * 500) for number in range(40)])
    with path.open("r+b") as file:
        half = path.stat().st_size // 2  # behind the schema
        file.seek(half)
        file.write(b"\xff" * half)
    with read_past_chats(path) as past:
        outcome = past.turns(SOURCE, limit=99).run_sync()
    assert isinstance(outcome, Failure)
    assert outcome.failure().problem == "damaged"
