"""A history that its tool compressed is what it was: Codex compresses rollouts that were idle, and deletes the original."""

import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from chatmemory.pastchats.formats.history_format import UnreadableHistoryError
from chatmemory.pastchats.indexing.prompt_drafts import SourceChanges
from chatmemory_layers.files.file_reader import FileReader
from chatmemory_layers.files.zip_archive import BOMB_BYTES
from tests.for_each import for_each
from tests.formats.histories import FILES
from tests.indexed import Indexed, open_index

zstandard = pytest.importorskip("zstandard")

NAME = "rollout-2025-09-19T09-02-12-01996135-afde-7911-97f0-d863511eca56.jsonl"
ROLLOUT = FILES[f"codex_cli/{NAME}"]


@pytest.fixture
def past(tmp_path: Path) -> Iterator[Indexed]:
    with open_index(tmp_path) as indexed:
        yield indexed


def compressed(content: bytes) -> bytes:
    return bytes(zstandard.ZstdCompressor(level=3).compress(content))


def test_a_rollout_that_codex_compressed_loses_no_turn_and_brings_none_twice(past: Indexed) -> None:
    plain = past.write_text(NAME, ROLLOUT)
    first = past.index()
    before = past.rows()
    assert first.read == {"codex_cli": 1}
    assert before
    past.write_text(f"{NAME}.zst", compressed(ROLLOUT))
    plain.unlink()
    second = past.index()
    assert (second.turns.new, second.turns.duplicates) == (0, len(before))
    assert past.run(past.live.prune()).unwrap() == 0
    assert past.rows() == before
    assert past.rows("DISTINCT source_path")[0][0] == f"{past.folder / NAME}.zst"
    assert past.index().unchanged == 1


def test_a_compressed_rollout_is_read_as_it_is(past: Indexed) -> None:
    half = len(ROLLOUT) // 2
    past.write_text(f"{NAME}.zst", compressed(ROLLOUT[:half]) + compressed(ROLLOUT[half:]))
    report = past.index()
    assert report.read == {"codex_cli": 1}
    (tmp := past.folder / "plain").mkdir()
    with open_index(tmp) as plain:
        plain.write_text(NAME, ROLLOUT)
        plain.index()
        assert past.rows() == plain.rows()


@for_each("seed", range(30))
def test_a_damaged_one_is_named_and_what_was_indexed_stays(tmp_path: Path, seed: int) -> None:
    chance = Random(seed)
    whole = compressed(ROLLOUT)
    damaged = bytearray(whole[: chance.randrange(1, len(whole))] if seed % 2 else whole)
    if not seed % 2:
        damaged[chance.randrange(4, len(damaged))] ^= 1 << chance.randrange(8)
    folder = tmp_path / str(seed)
    folder.mkdir()
    with open_index(folder) as past:
        past.write_text(f"{NAME}.zst", whole)
        before = past.index().turns
        past.write_text(f"{NAME}.zst", bytes(damaged))
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


def test_without_a_library_the_cure_is_named_and_what_is_only_called_so_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.jsonl.zst"
    path.write_bytes(b"{}\n")
    with pytest.raises(UnreadableHistoryError, match="although its name says so"):
        next(FileReader(str(path)).blocks())
    path.write_bytes(compressed(ROLLOUT))
    monkeypatch.setitem(sys.modules, "zstandard", None)
    monkeypatch.setitem(sys.modules, "compression.zstd", None)
    with pytest.raises(UnreadableHistoryError, match=r"pip install 'chatmemory-effect\[zstd\]'"):
        next(FileReader(str(path)).blocks())
