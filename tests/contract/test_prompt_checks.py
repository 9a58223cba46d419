"""The doctor sees what is wrong with an index of past chats, says what mends it, and writes nothing."""

import shlex
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from chatmemory.pastchats.past_chats import Finding
from chatmemory_layers.sqlite.engine.file_checks import GIB, room
from chatmemory_layers.sqlite.prompts.prompt_repository import SqlitePromptRepository
from tests.past_turns import MODEL, SOURCE, draft, index, open_past_chats, read_past_chats, stage, vectors_of
from tests.unit.sqlite.desktop_files import change

CODES = [f"D{number:03}" for number in range(1, 12)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "my past.db"
    with open_past_chats(path) as past:
        index(past, [draft(0, "eins"), draft(1, "二"), draft(2, "three")])
    return path


@pytest.fixture
def past(path: Path) -> Iterator[SqlitePromptRepository]:
    with read_past_chats(path) as repository:
        yield repository


def findings(past: SqlitePromptRepository, model: str = MODEL) -> dict[str, Finding]:
    """Return what is not well."""
    found = past.check(model).run_sync().unwrap()
    assert {finding.code for finding in found} >= {*CODES}
    return {finding.code: finding for finding in found if finding.severity != "ok"}


def test_a_sound_index_is_well_and_stays_as_it_is(past: SqlitePromptRepository, path: Path) -> None:
    before = path.read_bytes(), path.stat().st_mtime_ns
    assert findings(past) == {}
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before


def test_an_index_in_memory_is_looked_at_too() -> None:
    with open_past_chats() as past:
        index(past, [draft(0, "eins")])
        found = past.check(MODEL).run_sync().unwrap()
    assert [finding.code for finding in found if finding.severity == "error"] == []


HARM: list[tuple[list[str], dict[str, str]]] = [
    (["INSERT INTO prompts_fts (prompts_fts) VALUES ('delete-all')"], {"D003": "reindex"}),
    (
        ["DROP TRIGGER prompts_fts_update", "UPDATE prompts SET content = 'x' WHERE id = 1"],
        {"D003": "reindex"},
    ),
    (["DELETE FROM prompt_embeddings WHERE prompt_id = 2"], {"D004": "re-embed"}),
    (["DELETE FROM prompt_codes WHERE prompt_id = 2"], {"D004": "re-embed"}),
    (["UPDATE prompt_vectors SET vector = x'00' WHERE prompt_id = 2"], {"D004": "re-embed"}),
    (
        ["DROP TRIGGER prompts_remains", "DELETE FROM prompts WHERE id = 1"],
        {"D004": "export", "D005": "export"},
    ),
    (["PRAGMA journal_mode = DELETE"], {"D007": "index"}),
    (["UPDATE prompts SET content = 'einz' WHERE id = 1"], {"D011": "index --full"}),
]


def test_what_is_out_of_step_is_found_with_what_mends_it(path: Path) -> None:
    for number, (statements, repairs) in enumerate(HARM):
        harmed = Path(shutil.copy(path, path.with_name(f"{number}.db")))
        change(harmed, *statements)
        with read_past_chats(harmed) as past:
            found = findings(past)
        for code, repair in repairs.items():
            advised = found[code].repair
            assert (repair in advised, "\n" in advised) == (True, False), (statements, code)


def test_what_a_doctor_advises_mends_it(path: Path) -> None:
    change(
        path,
        "UPDATE prompts SET content = 'einz' WHERE id = 1",
        "INSERT INTO prompts_fts (prompts_fts) VALUES ('delete-all')",
        "DELETE FROM prompt_codes WHERE prompt_id = 2",
        "DELETE FROM prompt_embeddings WHERE prompt_id = 3",
    )
    with open_past_chats(path) as past:
        assert set(findings(past)) == {"D003", "D004", "D011"}
        past.reindex_words().run_sync().unwrap()
        assert index(past, [draft(0, "eins"), draft(1, "二"), draft(2, "three")]).updated == 1
        while rows := past.without_vector(MODEL, limit=1).run_sync().unwrap():
            past.re_embed([rows[0][0]], vectors_of([rows[0][1]]), model=MODEL).run_sync().unwrap()
        assert findings(past) == {}


def test_vectors_of_another_model_and_a_file_that_others_may_read_are_warnings(path: Path) -> None:
    path.chmod(0o644)
    with read_past_chats(path) as past:
        found = findings(past, "newer")
    assert found["D008"].repair == f"chmod 600 {shlex.quote(str(path))}"
    finding = found["D006"]
    assert (finding.severity, "3 turns have a vector of test" in finding.message) == ("warning", True)


def test_a_disk_with_room_for_less_than_half_of_the_file_is_a_warning(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=GIB))
    severities = [severity for size in (GIB, 3 * GIB) for severity, *_ in room(path, size)]
    assert severities == ["ok", "warning"]


def test_a_turn_that_is_dated_in_the_future_is_told_and_is_not_the_newest(path: Path) -> None:
    change(path, "UPDATE prompts SET timestamp = '2099-01-01T00:00:00.000000Z' WHERE id = 1")
    with read_past_chats(path) as past:
        found = findings(past)["D013"]
        newest = past.statistics().run_sync().unwrap().newest
    assert (found.severity, found.message.startswith("1 turns are dated in the future")) == ("warning", True)
    assert newest is not None
    assert newest.year < 2099


def test_a_damaged_page_is_found(path: Path) -> None:
    with open_past_chats(path) as past:
        index(past, [draft(number, f"{number} 坏页" * 500) for number in range(40)])
    with path.open("r+b") as file:
        file.seek(path.stat().st_size - 20 * 4096)
        file.write(b"\xff" * (20 * 4096))
    with read_past_chats(path) as past:
        assert findings(past)["D002"].severity == "error"


def test_what_is_gone_or_staged_is_told_without_alarm(path: Path) -> None:
    with open_past_chats(path) as past:
        index(past, [draft(0, "eins")])
        past.mark_missing([SOURCE]).run_sync().unwrap()
        stage(past, [draft(9, "later")])
        assert findings(past) == {}
        (finding,) = [each for each in past.check(MODEL).run_sync().unwrap() if each.code == "D009"]
    assert (finding.severity, "1 sources are gone with 1 turns, 2 turns" in finding.message) == ("ok", True)


def test_while_somebody_writes_the_words_are_counted(
    past: SqlitePromptRepository, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chatmemory_layers.sqlite.prompts.prompt_checks.LOCK_SECONDS", 0.05)
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        (finding,) = [each for each in past.check(MODEL).run_sync().unwrap() if each.code == "D003"]
        writer.execute("ROLLBACK")
    assert (finding.severity, "counted only" in finding.message) == ("ok", True)
