"""A home with a history of every agent: ``index`` without a path names and reads them all, and loses none later."""

import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from chatmemory.pastchats.formats.history_format import UnreadableHistoryError
from chatmemory.pastchats.indexing.prompt_drafts import SourceChanges
from chatmemory.pastchats.past_chats import IndexReport
from chatmemory_layers.files.file_reader import FileReader
from chatmemory_layers.files.zip_archive import BOMB_BYTES
from tests.for_each import for_each
from tests.formats.every_home import CODEX, ELSEWHERE, ROLLOUT, STORES, make_home
from tests.formats.large_history import lines
from tests.formats.small_histories import AGENTS, TALK, THANKED
from tests.indexed import Indexed, open_index, write

zstandard = pytest.importorskip("zstandard")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ELSEWHERE:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return make_home(tmp_path / "home")


def index(past: Indexed) -> IndexReport:
    return past.try_index(inputs=()).unwrap()


@pytest.fixture
def past(tmp_path: Path) -> Iterator[Indexed]:
    with open_index(tmp_path) as indexed:
        yield indexed


def test_every_agent_is_read_and_nothing_is_lost_when_its_files_move_on(past: Indexed, home: Path) -> None:
    first = index(past)
    expected = {*AGENTS, *STORES, "codex_cli", "claude_code"}
    assert (set(first.read), first.issues, first.unknown_records) == (expected, (), {})
    before = past.rows("conversation_id, role, content")
    assert len(before) > len(TALK) * len(expected - {"codex_cli", "claude_code"}) - 1
    again = index(past)
    assert (again.read, again.turns.new, again.turns.updated) == ({}, 0, 0)

    kimi = home / ".kimi/sessions/0a1b/k1/context.jsonl"
    write(kimi, kimi.read_text() + lines({"role": "user", "content": "One more thing, please."}))
    plain = home / ".codex/sessions/2025/09/19" / ROLLOUT
    write(plain.with_name(f"{ROLLOUT}.zst"), compressed(CODEX))
    plain.unlink()
    (home / ".pi").rename(home / ".omp")
    (home / "jan/threads/t1/messages.jsonl").unlink()
    later = index(past)
    assert (later.turns.new, later.missing, later.moved) == (1, 1, 2)
    after = past.rows("conversation_id, role, content")
    assert set(before) < set(after)
    assert len(after) == len(before) + 1

    # What only moved is kept by a prune, and what is gone for good goes: it was asked for.
    gone = {row for row in after if str(row[0]).startswith("jan:")}
    assert past.run(past.live.prune()).unwrap() == len(gone) == len(TALK)
    assert set(past.rows("conversation_id, role, content")) == set(after) - gone
    assert ("kimi_cli:k1", "user", THANKED) in after


def compressed(content: bytes) -> bytes:
    return bytes(zstandard.ZstdCompressor(level=3).compress(content))


def test_other_places_are_respected_and_stores_that_no_reader_reads_are_named_until_one_does(
    past: Indexed, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / ".local/share/opencode/opencode.db").rename(home / "own.db")
    (home / ".local/share/goose").rename(home / "data")
    monkeypatch.setenv("OPENCODE_DB", str(home / "own.db"))
    monkeypatch.setenv("GOOSE_PATH_ROOT", str(home))
    write(home / ".local/share/zed/threads/threads.db", "SQLite format 3\0")
    sealed = home / ".gemini/antigravity/conversations/1.pb"
    write(sealed, bytes(range(256)))
    for _ in range(2):
        report = index(past)
        named = {issue.path: issue.code for issue in report.issues}
        assert named == {
            str(sealed): "not_read",
            str(home / ".local/share/zed/threads/threads.db"): "not_read",
        }
        found = past.live.repository.check("none").run_sync().unwrap()
        assert [str(sealed) in one.message for one in found if one.code == "D012"] == [True, False]
    assert {"opencode", "goose"} <= {str(format_) for (format_,) in past.rows("DISTINCT format")}


def test_a_compressed_rollout_is_read_as_it_is(past: Indexed) -> None:
    half = len(CODEX) // 2
    past.write_text(f"{ROLLOUT}.zst", compressed(CODEX[:half]) + compressed(CODEX[half:]))
    report = past.index()
    assert report.read == {"codex_cli": 1}
    assert past.index().unchanged == 1
    (tmp := past.folder / "plain").mkdir()
    with open_index(tmp) as plain:
        plain.write_text(ROLLOUT, CODEX)
        plain.index()
        assert past.rows() == plain.rows()


@for_each("seed", range(30))
def test_a_damaged_one_is_named_and_what_was_indexed_stays(tmp_path: Path, seed: int) -> None:
    chance = Random(seed)
    whole = compressed(CODEX)
    damaged = bytearray(whole[: chance.randrange(1, len(whole))] if seed % 2 else whole)
    if not seed % 2:
        damaged[chance.randrange(4, len(damaged))] ^= 1 << chance.randrange(8)
    folder = tmp_path / str(seed)
    folder.mkdir()
    with open_index(folder) as past:
        past.write_text(f"{ROLLOUT}.zst", whole)
        before = past.index().turns
        past.write_text(f"{ROLLOUT}.zst", bytes(damaged))
        report = past.index()
        kept = past.rows()
    assert len(kept) >= before.new - report.turns.superseded
    if report.failed:
        assert report.issues
        assert report.turns == SourceChanges()
        assert len(kept) == before.new


def test_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl.zst"
    path.write_bytes(compressed(b" " * (BOMB_BYTES * 3)))
    with pytest.raises(UnreadableHistoryError, match="out of"):
        for _ in FileReader(str(path)).blocks():
            pass


def test_without_a_library_the_cure_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.jsonl.zst"
    path.write_bytes(b"{}\n")
    with pytest.raises(UnreadableHistoryError, match="although its name says so"):
        next(FileReader(str(path)).blocks())
    path.write_bytes(compressed(CODEX))
    monkeypatch.setitem(sys.modules, "zstandard", None)
    monkeypatch.setitem(sys.modules, "compression.zstd", None)
    with pytest.raises(UnreadableHistoryError, match=r"pip install '\.\[zstd\]'"):
        next(FileReader(str(path)).blocks())
