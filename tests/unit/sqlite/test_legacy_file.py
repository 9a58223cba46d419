"""A file of the desktop application becomes a store with all that it holds, or stays exactly as it is."""

# ruff: noqa: ASYNC240  nothing else runs while a test looks at its files

import logging
import re
import sqlite3
import stat
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Final, Literal

import pytest

from chatmemory import EffectFailed, RepositoryError
from chatmemory.settings.memory_settings import SqliteSettings
from chatmemory_layers.sqlite.engine.database import open_database, prepare
from tests.thorough import IS_THOROUGH
from tests.unit.sqlite.desktop_files import ADDED, beside, change, desktop_file, rows_of, version_of
from tests.unit.sqlite.stores import refusal

STATEMENTS_APART = 1 if IS_THOROUGH else 23
SELECT_SCHEMA = """
SELECT type, name, tbl_name, sql FROM sqlite_schema
WHERE tbl_name NOT IN (
    'user_profile', 'session_summary', 'conversation', 'memory', 'prompt_template', 'format_template', 'latest'
)
    AND name <> 'idx_atomic_session'
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return desktop_file(tmp_path / "桌面 #1?.db")


async def open_once(path: Path, legacy_file: Literal["backup", "in_place", "refuse"] = "backup") -> None:
    async with open_database(SqliteSettings(path=str(path), legacy_file=legacy_file)):
        pass


def with_app(rows: list[tuple[object, ...]]) -> list[tuple[object, ...]]:
    """Return rows of version 5 as they are afterwards: those of no app name none."""
    return [(*row[:6], row[6] or "", row[7]) for row in rows]


def dump_of(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return [*connection.iterdump()]


def schema_of(path: Path) -> dict[tuple[str, str], str]:
    """Read how what we use is defined, however it is laid out."""
    with closing(sqlite3.connect(path)) as connection:
        return {
            (type_, name): re.sub(r'[\s"]', "", sql or "")
            for type_, name, _, sql in connection.execute(SELECT_SCHEMA)
        }


async def test_a_migrated_file_has_the_schema_of_a_fresh_one(tmp_path: Path) -> None:
    fresh = tmp_path / "fresh.db"
    await open_once(fresh)
    for version in (5, 6):
        migrated = desktop_file(tmp_path / f"{version}.db", version=version)
        await open_once(migrated)
        assert schema_of(migrated) == schema_of(fresh)
        assert version_of(fresh) == version_of(migrated) == 6


async def test_long_term_memories_of_version_6_stay_long_term(tmp_path: Path) -> None:
    file = desktop_file(tmp_path / "desktop.db", version=6)
    change(file, "UPDATE atomic_memory SET memory_type = 'long_term' WHERE id = 2")
    change(file, "UPDATE atomic_memory SET memory_type = NULL WHERE id = 3")
    await open_once(file)
    assert rows_of(file, "memory_type")[:3] == [("short_term",), ("long_term",), ("short_term",)]


async def test_the_application_goes_on_writing_also_in_its_later_versions(file: Path) -> None:
    await open_once(file)
    change(file, "INSERT INTO atomic_memory (timestamp, content) VALUES (1800000000, '新的')")
    change(file, "UPDATE atomic_memory SET memory_type = 'long_term' WHERE content = '新的'")
    change(file, "DELETE FROM atomic_memory WHERE id = 1")
    await open_once(file)
    assert rows_of(file, "id, content, memory_type, memory_id IS NULL")[-1] == (13, "新的", "long_term", 0)
    change(file, *(each for version in (7, 8, 9, 10) for each in ADDED[version]))
    change(file, "UPDATE schema_version SET version = 10")
    change(file, "INSERT INTO atomic_memory (timestamp, content, importance) VALUES (1, '重要', 0.9)")
    await open_once(file)
    assert rows_of(file, "content, importance, memory_id IS NULL")[-1] == ("重要", 0.9, 0)
    assert version_of(file) == 10


REFUSED: Final = {
    "CREATE TABLE Chat_Message (id)": ("foreign_store", "chat_message"),
    "CREATE TABLE memory_fts_data (id)": ("foreign_store", "memory_fts_data"),
    "CREATE INDEX atomic_memory_id ON atomic_memory (id)": ("foreign_store", "atomic_memory_id"),
    "ALTER TABLE atomic_memory ADD COLUMN role TEXT": ("foreign_store", "atomic_memory.role"),
    "ALTER TABLE atomic_memory DROP COLUMN embedding": ("foreign_store", "atomic_memory.embedding"),
    "UPDATE schema_version SET version = 4": ("foreign_store", "schema version 4"),
    "UPDATE schema_version SET version = 7": ("foreign_store", "schema version 7"),
    "DELETE FROM schema_version": ("foreign_store", "schema version None"),
    "UPDATE schema_version SET version = 'five'": ("foreign_store", "schema version five"),
    "INSERT INTO schema_version VALUES (4)": ("foreign_store", "schema version 5"),
    "DROP TABLE schema_version": ("not_a_store", ""),  # half of the marks are another program
    "DROP TABLE atomic_memory": ("not_a_store", ""),
}


async def test_a_file_that_we_would_not_fit_into_is_refused_untouched(tmp_path: Path) -> None:
    for number, (statement, (problem, named)) in enumerate(REFUSED.items()):
        file = desktop_file(tmp_path / f"{number}.db")
        change(file, statement)
        before = file.read_bytes()
        error = await refusal(file)
        assert (error.problem, named in error.detail) == (problem, True), statement
        assert file.read_bytes() == before
        assert [*tmp_path.glob(f"{number}.db*")] == [file]


def backups(file: Path) -> list[Path]:
    return sorted(path for path in file.parent.iterdir() if path.name.startswith(f"{file.name}.v"))


async def test_all_that_the_file_holds_survives_there_and_in_a_copy(
    file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    before, rows, others = dump_of(file), rows_of(file), beside(file)
    assert {"conversation", "memory", "user_profile", "latest", "stamp"} <= others.keys()
    with caplog.at_level(logging.WARNING):
        await open_once(file)
        assert (rows_of(file), beside(file)) == (with_app(rows), others)
        assert {*rows_of(file, "memory_type")} == {("short_term",)}
        migrated = dump_of(file)
        await open_once(file)
        assert dump_of(file) == migrated
    (backup,) = backups(file)
    assert backup.name == file.name + ".v5.backup"
    assert (dump_of(backup), version_of(backup)) == (before, 5)
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert [record.args for record in caplog.records] == [(file, backup)]
    await open_once(backup, "in_place")
    assert (rows_of(backup, "*"), version_of(backup)) == (rows_of(file, "*"), 6)
    assert backups(backup) == []


async def test_a_copy_takes_the_place_of_no_other_file(file: Path) -> None:
    taken = [file.with_name(f"{file.name}.v5.backup{end}") for end in ("", ".2")]
    for path in taken:
        path.write_text("somebody else's")
    file.with_name(f"{file.name}.v5.backup.unfinished").write_text("of somebody who was killed")
    await open_once(file)
    assert [path.read_text() for path in taken] == ["somebody else's"] * 2
    assert backups(file) == [*taken, file.with_name(f"{file.name}.v5.backup.3")]
    assert version_of(backups(file)[-1]) == 5


async def test_a_file_that_shall_be_left_alone_or_cannot_be_copied_stays_as_it_is(file: Path) -> None:
    before = file.read_bytes()
    with pytest.raises(EffectFailed) as failed:
        await open_once(file, "refuse")
    assert isinstance(failed.value.error, RepositoryError)
    assert failed.value.error.problem == "foreign_store"
    assert file.read_bytes() == before
    file.with_name(f"{file.name}.v5.backup.unfinished").mkdir()
    assert (await refusal(file)).problem in {"unavailable", "read_only"}
    assert file.read_bytes() == before


async def test_the_log_of_a_running_application_is_copied_too(file: Path) -> None:
    with closing(sqlite3.connect(file, isolation_level=None)) as application:
        application.execute("PRAGMA journal_mode = WAL")
        application.execute("INSERT INTO atomic_memory (timestamp, content) VALUES (1, '还在日志里')")
        await open_once(file)
    (backup,) = backups(file)
    assert rows_of(backup, "content")[-1] == rows_of(file, "content")[-1] == ("还在日志里",)


def interrupted_at(statement: int) -> type[sqlite3.Connection]:
    """Return connections that do not execute this statement, counted from 1, and none after it."""
    executed = count(1)

    class Connection(sqlite3.Connection):
        def execute(self, *arguments: object) -> sqlite3.Cursor:
            if next(executed) >= statement:
                raise LookupError
            return super().execute(*arguments)

    return Connection


def migrate(path: Path, factory: type[sqlite3.Connection] = sqlite3.Connection) -> None:
    with closing(sqlite3.connect(path, isolation_level=None, factory=factory)) as connection:
        prepare(connection, SqliteSettings(path=str(path), durability="process"))


async def test_interrupted_at_any_statement_it_goes_on_and_nothing_is_lost(tmp_path: Path) -> None:
    whole = desktop_file(tmp_path / "whole.db")
    rows, others = rows_of(whole), beside(whole)
    await open_once(whole)
    versions: list[int] = []
    for statement in count(1, STATEMENTS_APART):
        path = desktop_file(tmp_path / f"{statement}.db")
        try:
            migrate(path, interrupted_at(statement))
        except LookupError:
            versions.append(version_of(path))
        else:
            break
        assert with_app(rows_of(path)) == with_app(rows)
        migrate(path)
        assert (rows_of(path, "*"), beside(path)) == (rows_of(whole, "*"), others)
        assert schema_of(path) == schema_of(whole)
        assert [rows_of(backup) for backup in backups(path)] == [rows]
    assert versions == sorted(versions)
    assert {5, 6} == set(versions)
