"""Stores in SQLite: read as they are, also while their tool writes, and never changed."""

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from chatmemory_layers.files import sqlite_archive
from tests.formats.small_histories import CLOSED, TALK, THANKED
from tests.formats.sqlite_histories import WRITERS, connect, make_store, put
from tests.indexed import Indexed, open_index

EACH = pytest.mark.parametrize("name", sorted(WRITERS))
MORE = (*TALK, ("user", "And on Windows?"), ("assistant", "The same, with another shell."))


@pytest.fixture
def past(tmp_path: Path) -> Iterator[Indexed]:
    with open_index(tmp_path) as indexed:
        yield indexed


def seen(folder: Path, *, but: str = "/") -> dict[str, tuple[int, bytes]]:
    files = [path for path in folder.iterdir() if not path.name.endswith(but)]
    return {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in files}


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
        before = seen(path.parent, but="-shm")
        past.index()
        assert past.rows() == list(TALK)
        assert seen(path.parent, but="-shm") == before
        tool.rollback()
        write(tool, MORE)
        report = past.index()
        assert (report.turns.new, past.rows()) == (2, list(MORE))


@EACH
def test_a_log_that_a_crash_left_behind_is_read(past: Indexed, name: str, tmp_path: Path) -> None:
    file, write = WRITERS[name]
    path = tmp_path / "running" / file
    with closing(connect(path, wal=True)) as tool:
        write(tool, TALK)
        for ending in ("", "-wal"):
            past.write_text(f"store/{file}{ending}", path.with_name(file + ending).read_bytes())
    before = seen(past.folder / "store")
    past.index()
    assert past.rows() == list(TALK)
    assert seen(past.folder / "store") == before


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
    with closing(sqlite3.connect(store)) as tool:
        tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        for (table,) in tool.execute(tables).fetchall():
            tool.execute(f"DELETE FROM {table}")
        tool.commit()
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
        report = past.index(is_anew=True)
        told = report.issues or report.unknown_records or report.missing
        current = past.rows()
        changed = report.turns.superseded or report.turns.updated  # a changed letter is another text
        assert told or changed or set(TALK) <= set(current), (seed, report)
    store.write_bytes(whole)
    os.utime(store, ns=(99, 99))
    past.index(is_anew=True)
    assert past.rows() == list(TALK)


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
