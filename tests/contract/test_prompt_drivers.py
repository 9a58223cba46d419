"""Whichever module speaks to SQLite, an index of past chats is the same, and so are its failures."""

import sqlite3
from contextlib import closing
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from chatmemory.effect import EffectFailed
from chatmemory.pastchats.indexing.prompt_drafts import SourceChanges
from chatmemory.pastchats.prompt import PromptFilter
from chatmemory.pastchats.prompt_repository import PromptSearch
from chatmemory.settings.past_chats_settings import PastChatsSettings
from chatmemory_layers.sqlite.prompts.prompt_store import connect_reader
from tests.past_turns import MODEL, NOON, contents, draft, index, open_past_chats, state


@pytest.fixture(params=["sqlite3", "pysqlite3.dbapi2"])
def native(request: pytest.FixtureRequest) -> ModuleType:
    if request.param == "sqlite3":
        return sqlite3
    try:
        return import_module(request.param)
    except ImportError:
        pytest.skip("pysqlite3 is not installed")


def test_turns_are_indexed_found_and_forgotten_and_nothing_of_them_is_left_in_the_file(
    native: ModuleType, tmp_path: Path
) -> None:
    path = tmp_path / "past.db"
    kept = [draft(number, f"{number} 其他 turns" * 50) for number in range(1, 300)]
    with open_past_chats(path, native=native) as past:
        index(past, [draft(0, "the Zwiebelkuchenrezept"), *kept])
        changes = index(past, [draft(0, "the Zwiebelkuchenrezept, 改过"), *kept])
        assert changes == SourceChanges(updated=1, unchanged=299)
        found = past.candidates(PromptSearch("turn", ("zwiebelkuchenrezept",))).run_sync().unwrap().found
        assert any(each.lexical > 0 for each in found)
        assert [each.code for each in past.check(MODEL).run_sync().unwrap() if each.severity == "error"] == []
        assert past.forget(PromptFilter(until=NOON + timedelta(seconds=1))).run_sync().unwrap() == 1
        stored = path.read_bytes() + path.with_name(path.name + "-wal").read_bytes()
    there = [word in stored.lower() for word in (b"wiebel", "改过".encode(), "其他".encode())]
    assert there == [False, False, True]


def test_a_locked_and_a_closed_store_say_so_and_words_that_are_out_of_step_are_found(
    native: ModuleType, tmp_path: Path
) -> None:
    path = tmp_path / "past.db"
    with open_past_chats(path, busy_seconds=0.05, native=native) as past:
        index(past, [draft(0, "eins")])
        with closing(native.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            locked = past.commit_source(state()).run_sync()
            other.execute("ROLLBACK")
            other.execute("INSERT INTO prompts_fts (prompts_fts) VALUES ('delete-all')")
        errors = [each.code for each in past.check(MODEL).run_sync().unwrap() if each.severity == "error"]
        assert errors == ["D003"]
    closed = past.statistics().run_sync()
    assert [outcome.failure().problem for outcome in (locked, closed)] == ["busy", "closed"]


def test_a_reader_reads_what_a_writer_wrote_and_refuses_what_is_not_there(
    native: ModuleType, tmp_path: Path
) -> None:
    path = tmp_path / "past.db"
    settings = PastChatsSettings(path=str(path))
    with pytest.raises(EffectFailed):
        connect_reader(settings, native)
    with open_past_chats(path, native=native) as past:
        index(past, [draft(0, "一")])
        assert contents(past) == ["一"]
    with closing(connect_reader(settings, native)) as connection, pytest.raises(native.OperationalError):
        connection.execute("DELETE FROM prompts")
