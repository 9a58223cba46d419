"""Stores in SQLite: read as they are, also while their tool writes, and never changed."""

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest

from chatmemory.pastchats.formats.shapes.sqlite_stores import STORES
from chatmemory_layers.files import sqlite_archive
from chatmemory_layers.files.sqlite_archive import with_log
from tests.formats.small_histories import CLOSED, TALK, THANKED
from tests.formats.sqlite_histories import WRITERS, connect, make_store, put
from tests.indexed import Indexed, open_index
from tests.unit.sqlite.desktop_files import change, fetched

EACH = pytest.mark.parametrize("name", sorted(WRITERS))
MORE = (*TALK, ("user", "And on Windows?"), ("assistant", "The same, with another shell."))


@pytest.fixture
def past(tmp_path: Path) -> Iterator[Indexed]:
    with open_index(tmp_path) as indexed:
        yield indexed


def seen(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.iterdir()}


@pytest.mark.parametrize("wal", [False, True])
@EACH
def test_a_store_is_read_and_left_as_it_is(past: Indexed, name: str, wal: bool) -> None:
    store = make_store(name, past.folder / "store", wal=wal)
    before = seen(store.parent)
    report = past.index()
    assert (report.read, report.issues) == ({name: 1}, ())
    assert past.rows() == list(TALK)
    assert past.rows("DISTINCT source_project") == [("shop",)]
    assert seen(store.parent) == before
    assert past.index().unchanged == 1


@EACH
def test_a_store_is_read_while_its_tool_writes_as_far_as_its_log_goes(past: Indexed, name: str) -> None:
    file, write = WRITERS[name]
    path = past.folder / "store" / file
    with closing(connect(path, wal=True)) as tool:
        write(tool, TALK)
        tool.execute("BEGIN IMMEDIATE")  # a turn that is being written is not yet there
        tool.execute("CREATE TABLE half_written (x)")
        before = seen(path.parent)
        past.index()
        assert past.rows() == list(TALK)
        assert seen(path.parent) == before
        tool.rollback()
        write(tool, MORE)
        report = past.index()
        assert (report.turns.new, past.rows()) == (2, list(MORE))


@pytest.mark.parametrize("endings", [("", "-wal"), ("", "-wal", "-shm")])
@EACH
def test_a_log_that_a_crash_left_behind_is_read(
    past: Indexed, name: str, endings: tuple[str, ...], tmp_path: Path
) -> None:
    file, write = WRITERS[name]
    path = tmp_path / "running" / file
    with closing(connect(path, wal=True)) as tool:
        write(tool, TALK)
        for ending in endings:
            past.write_text(f"store/{file}{ending}", path.with_name(file + ending).read_bytes())
    before = seen(past.folder / "store")
    past.index()
    assert past.rows() == list(TALK)
    assert seen(past.folder / "store") == before


def test_a_log_that_was_cut_off_or_damaged_is_read_as_far_as_sqlite_reads_it(tmp_path: Path) -> None:
    with closing(connect(tmp_path / "tool.db", wal=True)) as tool:
        tool.execute("PRAGMA page_size = 512")
        tool.execute("CREATE TABLE talk (said)")
        tool.execute("PRAGMA wal_checkpoint(RESTART)")
        for number in range(20):
            tool.execute("INSERT INTO talk VALUES (?)", (f"{number}" * 200,))
            tool.commit()
        store, log = (tmp_path / "tool.db").read_bytes(), (tmp_path / "tool.db-wal").read_bytes()
    chance = Random(1)
    found: set[int] = set()
    for number in range(40):
        cut = bytearray(log[: chance.randrange(len(log) + 1)] if number % 2 else log)
        if not number % 2:
            cut[chance.randrange(len(cut))] ^= 1 << chance.randrange(8)
        path = tmp_path / f"{number}.db"
        path.write_bytes(store)
        path.with_name(f"{path.name}-wal").write_bytes(cut)
        with closing(sqlite3.connect(path)) as theirs, closing(sqlite3.connect(":memory:")) as ours:
            ours.deserialize(with_log(store, bytes(cut)))
            expected = theirs.execute("SELECT said FROM talk").fetchall()
            assert ours.execute("SELECT said FROM talk").fetchall() == expected
            found.add(len(expected))
    assert len(found) > 9


def test_a_store_that_changes_while_it_is_read_without_a_lock_is_read_again_or_named(
    past: Indexed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "running/sessions.db"
    with closing(connect(path, wal=True)) as tool:
        talks = iter((TALK, MORE, TALK, MORE))

        def write_next() -> None:
            WRITERS["goose"][1](tool, next(talks))
            for ending in ("", "-wal"):
                past.write_text(f"store/sessions.db{ending}", path.with_name(path.name + ending).read_bytes())

        def read_too_late(store: bytes, log: bytes) -> bytes:
            write_next()
            return with_log(store, log)

        def read_once_too_late(store: bytes, log: bytes) -> bytes:
            monkeypatch.setattr(sqlite_archive, "with_log", with_log)
            return read_too_late(store, log)

        write_next()
        monkeypatch.setattr(sqlite_archive, "with_log", read_once_too_late)
        assert past.index().turns.new == len(MORE)
        write_next()
        monkeypatch.setattr(sqlite_archive, "with_log", read_too_late)
        monkeypatch.setattr(sqlite_archive, "BUSY_SECONDS", 0.01)
        told = "a SQLite store that its tool is writing to: run again"
        assert [issue.detail for issue in past.index().issues] == [told]


KILLED_AMID_A_COPY = """
import sys
from chatmemory_layers.files import sqlite_archive
from chatmemory_layers.files.local_files import LocalFiles

def pause(*_):
    print("amid the copy", flush=True)
    sys.stdin.readline()

sqlite_archive.STEP_PAGES = 2_000
sqlite_archive._time_limit = lambda: pause
LocalFiles().find([sys.argv[1]]).run_sync()
"""


def test_a_run_that_is_killed_amid_a_copy_leaves_nothing_of_it(tmp_path: Path) -> None:
    store = make_store("goose", tmp_path / "store", [("user", "x" * 16_000_000)])
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    environment = {**os.environ, "TMPDIR": str(temporary), "SQLITE_TMPDIR": str(temporary)}
    command = [sys.executable, "-c", KILLED_AMID_A_COPY, str(store)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as run:
        assert run.stdout
        assert run.stdout.readline() == "amid the copy\n"
        if sys.platform == "linux":
            opened = [str(file.readlink()) for file in Path(f"/proc/{run.pid}/fd").iterdir()]
            assert [name.endswith(" (deleted)") for name in opened if name.startswith(str(temporary))] == [
                True
            ]
        run.kill()
    assert list(temporary.iterdir()) == []


@EACH
def test_a_store_is_copied_and_listed_once_whatever_its_size_and_not_at_all_without_news(
    past: Indexed, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    opened: list[str] = []
    plain = sqlite3.connect

    def traced(path: str, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = plain(path, **options)
        connection.set_trace_callback(said.append)
        opened.append(path)
        return connection

    def copied_and_listed() -> tuple[int, int]:
        return opened.count(""), sum(said.count(store.conversations) for store in STORES)

    file, write = WRITERS[name]
    with closing(connect(past.folder / "store" / file)) as tool:
        for number in range(10):
            write(tool, TALK, f"talk{number}")
        monkeypatch.setattr(sqlite3, "connect", traced)
        assert past.index().files == 10
        assert copied_and_listed() == (1, 1)
        per_conversation = len(said) / 10
        for number in range(10, 30):
            write(tool, TALK, f"talk{number}")
    assert past.index().turns.new == 20 * len(TALK)
    assert copied_and_listed() == (2, 2)
    assert len(said) / 30 <= per_conversation
    assert past.index().unchanged == 30
    assert copied_and_listed() == (2, 2)


@EACH
def test_a_conversation_without_news_is_not_read_again(past: Indexed, name: str) -> None:
    file, write = WRITERS[name]
    path = past.folder / "store" / file
    with closing(connect(path)) as tool:
        write(tool, TALK)
        write(tool, TALK[:2], "other")
    assert past.index().files == 2
    with closing(connect(path)) as tool:
        write(tool, MORE, "other")
    report = past.index()
    assert (report.unchanged, sum(report.read.values())) == (1, 1)


@EACH
def test_what_is_deleted_in_the_store_stays_in_the_index(past: Indexed, name: str) -> None:
    store = make_store(name, past.folder / "store")
    past.index()
    tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    change(store, *(f"DELETE FROM {table}" for (table,) in fetched(store, tables)))
    assert past.index().missing == 1
    assert past.rows() == list(TALK)
    store.unlink()
    past.index()
    assert past.rows() == list(TALK)


@EACH
def test_thirty_damaged_stores_neither_raise_nor_lose_in_silence(past: Indexed, name: str) -> None:
    store = make_store(name, past.folder / "store")
    whole = store.read_bytes()
    past.index()
    for seed in range(30):
        chance = Random(seed)
        damaged = bytearray(whole[: chance.randrange(1, len(whole))] if seed % 3 == 0 else whole)
        if seed % 3:
            for _ in range(chance.randrange(1, 40)):
                damaged[chance.randrange(100 if seed % 3 == 1 else 0, len(damaged))] = chance.randrange(256)
        store.write_bytes(bytes(damaged))
        os.utime(store, ns=(seed, seed))
        report = past.index(rereads_all=True)
        told = report.issues or report.unknown_records or report.missing
        current = past.rows()
        changed = report.turns.superseded or report.turns.updated  # a changed letter is another text
        assert told or changed or set(TALK) <= set(current), (seed, report)
    store.write_bytes(whole)
    os.utime(store, ns=(99, 99))
    past.index(rereads_all=True)
    assert past.rows() == list(TALK)


def test_a_store_with_a_name_that_is_not_utf8_is_named_and_the_others_are_read(past: Indexed) -> None:
    store = make_store("goose", past.folder / "a" / "store")
    make_store("goose", past.folder / "b" / "store")
    damaged = store.read_bytes().replace(b"messages", b"\x8eessages")
    store.write_bytes(damaged.replace(b"CREATE TABLE \x8e", b"CREXTE TABLE \x8e"))
    report = past.index()
    assert [issue.path for issue in report.issues] == [str(store)]
    assert report.turns.new == len(TALK)


def test_a_locked_or_unknown_store_is_named(past: Indexed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_archive, "BUSY_SECONDS", 0.01)
    store = make_store("goose", past.folder / "store")
    with closing(sqlite3.connect(store)) as tool:
        tool.execute("BEGIN EXCLUSIVE")
        report = past.index()
        told = "a SQLite store that its tool is writing to: run again"
        assert [issue.detail for issue in report.issues] == [told]
        tool.rollback()
    assert past.index().turns.new == len(TALK)
    with closing(connect(past.folder / "opencode.db")) as tool:
        tool.execute("CREATE TABLE session_v2 (id TEXT, data TEXT)")
        tool.commit()
    [issue] = past.index().issues
    assert issue.detail == "a store of opencode in a form that is not read yet: its tables are session_v2"


def test_a_view_in_the_place_of_a_table_is_not_read(past: Indexed) -> None:
    with closing(connect(past.folder / "sessions.db")) as tool:
        tool.execute("CREATE TABLE sessions (id, working_dir, updated_at)")
        tool.execute("INSERT INTO sessions VALUES ('s', '/x', '2026-01-01')")
        endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
        tool.execute(
            f"CREATE VIEW messages AS {endless} SELECT i AS id, 's' AS session_id, 'user' AS role, 'x' AS content_json FROM n"
        )
        tool.commit()
    report = past.index()
    assert (report.read, report.not_histories, past.rows()) == ({}, 1, [])


def test_a_conversation_that_cursor_kept_whole_and_one_without_an_order_are_read(past: Indexed) -> None:
    said = {"bubbleId": "o1", "type": 1, "text": THANKED}
    bubble = {"bubbleId": "n1", "type": 2, "text": CLOSED}
    with closing(connect(past.folder / "state.vscdb")) as tool:
        tool.execute("CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
        for key, value in {
            "composerData:old": {"composerId": "old", "conversation": [said]},
            "composerData:new": {"composerId": "new"},
            "composerData:draft": {"composerId": "draft"},
            "bubbleId:new:n1": json.dumps(bubble).encode(),
        }.items():
            put(tool, "cursorDiskKV", key=key, value=value)
        tool.commit()
    assert past.index().files == 2
    assert sorted(past.rows()) == sorted([("user", THANKED), ("assistant", CLOSED)])


def test_a_conversation_whose_id_is_not_utf_8_is_named_and_the_others_are_read(past: Indexed) -> None:
    store = make_store("goose", past.folder / "store")
    columns = "CAST(x'ff' AS TEXT), name, description, working_dir, created_at, updated_at"
    change(store, f"INSERT INTO sessions SELECT {columns} FROM sessions")
    report = past.index()
    assert (past.rows(), [issue.code for issue in report.issues]) == (list(TALK), ["unreadable"])
