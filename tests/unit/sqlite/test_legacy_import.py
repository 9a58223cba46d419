"""Files of the desktop application, of every version, are read into a store; nothing that is given ends in a traceback."""

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pytest

from chatmemory import EffectFailed, Embedding, Provenance, RepositoryError
from chatmemory.longterm.memory_rules import memory_problems
from chatmemory.settings.memory_settings import SqliteSettings
from chatmemory_layers.sqlite.engine.store_file import prepare
from chatmemory_layers.sqlite.legacy.legacy_import import EXIT_NEW_UNUSABLE, EXIT_OLD_UNREADABLE, main
from chatmemory_layers.sqlite.legacy.legacy_reader import LegacyMemory, open_legacy_file
from tests.unit.sqlite.desktop_files import CONTENTS, FIRST_SECOND, add_rows, change, desktop_file, rows_of


def read(path: Path) -> list[LegacyMemory]:
    with open_legacy_file(path) as file:
        return [*file.memories()]


def test_every_version_is_read_whole_and_left_as_it_is(tmp_path: Path) -> None:
    contents = [CONTENTS[number % len(CONTENTS)].format(n=number) for number in range(250)]
    for version in range(1, 11):
        path = desktop_file(tmp_path / f"{version}.db", version=version, rows=250)
        before = path.read_bytes()
        memories = [row.memory for row in read(path)]
        assert [memory.content for memory in memories] == contents
        assert len({memory.id for memory in memories}) == 250
        kinds = {(memory.memory_type, memory.role, memory.source) for memory in memories}
        assert kinds == {("short_term", "user", "inferred")}
        assert memories[0].created_at == datetime.fromtimestamp(FIRST_SECOND, UTC)
        assert {memory.provenance for memory in memories} == {Provenance(path=path.name)}
        assert not any(memory_problems("$", memory) for memory in memories)
        assert path.read_bytes() == before
        assert [*tmp_path.iterdir()] == [path]
        path.unlink()


def test_what_later_versions_add_is_read_or_named(tmp_path: Path) -> None:
    path = desktop_file(tmp_path / "old.db", version=10, rows=3)
    change(
        path, "UPDATE atomic_memory SET memory_type = 'long_term', source_type = 'user_stated' WHERE id = 1"
    )
    change(path, "UPDATE atomic_memory SET embedding = '[3, 4]', embedding_model = 'bge-m3' WHERE id < 3")
    change(path, "UPDATE atomic_memory SET embedding = '[1, nan]', embedding_model = 'bge-m3' WHERE id = 3")
    change(path, "UPDATE atomic_memory SET source_type = 'a guess', memory_type = 'medium' WHERE id = 2")
    with open_legacy_file(path) as file:
        first, second, third = [row.memory for row in file.memories()]
        assert file.left_behind == ("access_count", "importance", "last_access", "linked_memories")
    assert (first.memory_type, first.source) == ("long_term", "user_stated")
    assert first.embedding == Embedding("bge-m3", ())
    assert first.embedding is not None
    assert [*first.embedding.vector] == [3, 4]
    assert (second.memory_type, second.source) == ("short_term", "inferred")
    assert third.embedding is None


def test_what_is_no_text_is_cleaned(tmp_path: Path) -> None:
    path = desktop_file(tmp_path / "old.db", rows=1)
    change(
        path,
        "UPDATE atomic_memory SET content = CAST(? AS TEXT), session_id = 'a' || char(0), app_type = ?, tags = ?",
        given=(b"\xffgood", "W" * 600, json.dumps(["a", "a", "", "x" * 600, 7, *map(str, range(100))])),
    )
    (row,) = read(path)
    assert (row.memory.content, row.memory.session_id, row.app) == ("\ufffdgood", "a\ufffd", "W" * 512)
    assert row.memory.tags == ("a", *map(str, range(63)))
    change(path, "UPDATE atomic_memory SET content = ?, session_id = ''", given=("字节".encode(),))
    (row,) = read(path)
    assert (row.memory.content, row.memory.session_id) == ("字节", None)


def test_the_same_row_has_the_same_id_in_a_copy_and_another_one_in_another_file(tmp_path: Path) -> None:
    one, copy = (desktop_file(tmp_path / name, rows=3) for name in ("one.db", "copy.db"))
    ids = [row.memory.id for row in read(one)]
    assert [row.memory.id for row in read(copy)] == ids
    change(copy, "UPDATE atomic_memory SET content = 'other'")
    assert not {row.memory.id for row in read(copy)} & set(ids)


def test_a_store_of_ours_is_not_read_as_a_file_of_the_application(tmp_path: Path) -> None:
    path = desktop_file(tmp_path / "store.db")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        prepare(connection, SqliteSettings(path=str(path)))
    with pytest.raises(EffectFailed) as failed:
        read(path)
    assert isinstance(failed.value.error, RepositoryError)
    assert failed.value.error.problem == "not_a_store"


def imported(path: Path) -> list[tuple[object, ...]]:
    return rows_of(
        path, "content, app_type, session_id, memory_type, created_at_us / 1000000, space_key IS NOT NULL"
    )


@pytest.mark.parametrize("version", [1, 10])
def test_a_file_is_imported_once_and_what_was_written_since_the_next_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], version: int
) -> None:
    old, new = desktop_file(tmp_path / "old.db", version=version, rows=250), tmp_path / "new.db"

    def say() -> str:
        assert main([str(old), str(new), "--user", "小王"]) == 0
        return capsys.readouterr().err.splitlines()[-1]

    assert "250 memories stored" in say()
    assert sorted(imported(new)) == sorted(
        (memory.content, row.app, memory.session_id, "short_term", int(memory.created_at.timestamp()), 1)
        for row in read(old)
        if (memory := row.memory).created_at
    )
    with closing(sqlite3.connect(new)) as connection:
        assert connection.execute("SELECT user_name FROM memory_user").fetchall() == [("小王",)]
    before = rows_of(new, "*")
    assert say().startswith("0 memories stored (0 of them without a vector), 250 there already")
    assert rows_of(new, "*") == before
    with closing(sqlite3.connect(old)) as connection:
        add_rows(connection, range(250, 253))
        connection.commit()
    assert "3 memories stored" in say()


def test_a_store_that_has_adopted_a_file_knows_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, adopted = (desktop_file(tmp_path / name) for name in ("old.db", "adopted.db"))
    change(adopted, "UPDATE atomic_memory SET tags = 'of its own'")
    with closing(sqlite3.connect(adopted, isolation_level=None)) as connection:
        prepare(connection, SqliteSettings(path=str(adopted)))
    assert main([str(old), str(adopted)]) == 0
    assert "0 memories stored (0 of them without a vector), 12 there already" in capsys.readouterr().err


def test_rows_that_hold_no_text_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = desktop_file(tmp_path / "old.db", version=7)
    change(old, "UPDATE atomic_memory SET content = ' ' WHERE id % 2")
    assert main([str(old), str(tmp_path / "new.db")]) == 0
    left_behind, counts = capsys.readouterr().err.splitlines()
    assert left_behind.endswith("left behind: access_count, importance, last_access")
    assert counts.startswith("6 memories stored")
    assert counts.endswith("6 rows left out that hold no text")


STRANGERS: Final[tuple[Callable[[Path], object], ...]] = (
    lambda path: change(path, "CREATE TABLE todo (id)"),
    lambda path: os.truncate(desktop_file(path, rows=500), 9000),
    lambda path: path.write_text("亲爱的读者，" * 1000),
    Path.mkdir,
)
UNREADABLE: Final[tuple[Callable[[Path], object], ...]] = (
    *STRANGERS,
    lambda path: None,
    Path.touch,
    lambda path: change(
        path,
        "CREATE TABLE schema_version (version)",
        "CREATE VIEW atomic_memory AS SELECT content FROM nowhere",
    ),
)


def test_what_cannot_be_read_or_written_to_is_said_in_a_line_and_stays_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    right = desktop_file(tmp_path / "right.db")
    for number, make in enumerate(UNREADABLE):
        old, new = tmp_path / f"old #{number}?.db", tmp_path / "new.db"
        make(old)
        assert main([str(old), str(new)]) == EXIT_OLD_UNREADABLE
        out, err = capsys.readouterr()
        assert (out, err.count("\n")) == ("", 1)
        assert err.startswith(f"{old}: read the old file: ")
        assert not new.exists()
    for number, make in enumerate((desktop_file, *STRANGERS)):
        new = tmp_path / f"new {number}.db"
        make(new)
        before = None if new.is_dir() else new.read_bytes()
        assert main([str(right), str(new)]) == EXIT_NEW_UNUSABLE
        out, err = capsys.readouterr()
        assert (out, err.count("\n")) == ("", 1)
        assert err.startswith(f"{new}: open the store: ")
        assert before is None or new.read_bytes() == before


def test_a_wrong_call_is_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    desktop_file(tmp_path / "old.db")
    for arguments in ([], ["old.db"], ["old.db", "old.db"], ["old.db", "new.db", "--user", ""]):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 2
        assert "usage: python -m chatmemory_layers.sqlite.legacy.legacy_import" in capsys.readouterr().err
        assert not (tmp_path / "new.db").exists()


def test_it_is_started_as_the_error_advises(tmp_path: Path) -> None:
    old, new = desktop_file(tmp_path / "old.db", version=9), tmp_path / "new.db"
    command = [sys.executable, "-m", "chatmemory_layers.sqlite.legacy.legacy_import", str(old), str(new)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
    assert "12 memories stored" in done.stderr
