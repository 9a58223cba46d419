"""A home with a history of every agent: ``index`` without a path names and reads them all, and loses none later."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from chatmemory.pastchats.past_chats import IndexReport
from chatmemory_layers.files.sqlite_archive import forget_copies
from tests.formats.agent_histories import AGENTS, TALK, THANKED, lines
from tests.formats.histories import FILES
from tests.formats.sqlite_histories import make_store
from tests.indexed import Indexed, open_index

zstandard = pytest.importorskip("zstandard")

ROLLOUT = "rollout-2025-09-19T09-02-12-01996135-afde-7911-97f0-d863511eca56.jsonl"
CODEX = FILES[f"codex_cli/{ROLLOUT}"]
STORES: Mapping[str, str] = {
    "cursor_store": ".config/Cursor/User/globalStorage",
    "goose": ".local/share/goose/sessions",
    "opencode": ".local/share/opencode",
}
COWORK = ".config/Claude/local-agent-mode-sessions/a/b/.claude/projects/-home-lin-shop/5d3c.jsonl"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in (
        "XDG_DATA_HOME",
        "LOCALAPPDATA",
        "APPDATA",
        "CODEX_HOME",
        "CLAUDE_CONFIG_DIR",
        "PI_CODING_AGENT_DIR",
    ):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "home"
    monkeypatch.setenv("HOME", str(folder))
    for files in AGENTS.values():
        for path, content in files.items():
            if "!" not in path:
                write(folder / path, content)
    for name, place in STORES.items():
        make_store(name, folder / place)
    write(folder / ".codex/sessions/2025/09/19" / ROLLOUT, CODEX)
    write(folder / COWORK, FILES["claude_code/em_short.jsonl"])
    return folder


@pytest.fixture
def past(tmp_path: Path) -> Iterator[Indexed]:
    with open_index(tmp_path) as indexed:
        yield indexed


def write(path: Path, content: bytes | str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def index(past: Indexed) -> IndexReport:
    forget_copies()
    return past.try_index(inputs=()).unwrap()


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
    assert (later.turns.new, later.missing) == (1, 3)
    after = past.rows("conversation_id, role, content")
    assert set(before) < set(after)
    assert len(after) == len(before) + 1

    # What only moved is kept by a prune, and what is gone for good goes: it was asked for.
    gone = {row for row in after if str(row[0]).startswith("jan:")}
    assert past.run(past.live.prune()).unwrap() == len(gone) == len(TALK)
    assert set(past.rows("conversation_id, role, content")) == set(after) - gone
    assert ("kimi_cli:k1", "user", THANKED) in after
