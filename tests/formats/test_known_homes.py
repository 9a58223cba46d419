"""A home with a history of every agent: ``index`` without a path names and reads them all, and loses none later."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from chatmemory.pastchats.past_chats import IndexReport
from chatmemory_layers.files.sqlite_archive import forget_copies
from tests.formats.every_home import CODEX, ELSEWHERE, ROLLOUT, STORES, make_home, write
from tests.formats.large_history import lines
from tests.formats.small_histories import AGENTS, TALK, THANKED
from tests.indexed import Indexed, open_index

zstandard = pytest.importorskip("zstandard")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ELSEWHERE:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return make_home(tmp_path / "home")


def index(past: Indexed) -> IndexReport:
    forget_copies()
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
    write(plain.with_name(f"{ROLLOUT}.zst"), zstandard.ZstdCompressor().compress(CODEX))
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
