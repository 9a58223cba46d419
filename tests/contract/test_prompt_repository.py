"""What an index of past chats holds after a source was committed: each turn once, with what belongs to it."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta, timezone
from pathlib import Path

import pytest
from attrs import evolve

from chatmemory.pastchats.indexing.prompt_drafts import SourceChanges
from chatmemory.pastchats.past_chats import IndexReport
from chatmemory_layers.sqlite.prompts.prompt_commit import WRITTEN_AT_ONCE
from chatmemory_layers.sqlite.prompts.prompt_repository import SqlitePromptRepository
from tests.past_turns import (
    MODEL,
    NOON,
    SOURCE,
    contents,
    disagreement,
    draft,
    index,
    open_past_chats,
    stage,
    state,
)

OTHER = "/home/mei/other.jsonl"
REPORT = IndexReport(
    files=1,
    read={"claude_code": 1},
    unchanged=0,
    not_histories=0,
    failed=0,
    missing=0,
    turns=SourceChanges(new=1),
    redacted=0,
    unknown_records={},
    issues=(),
    started_at=NOON,
    seconds=1.5,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "past" / "chats.db"


@pytest.fixture
def past(path: Path) -> Iterator[SqlitePromptRepository]:
    with open_past_chats(path) as repository:
        yield repository
        assert disagreement(path) == ""


def data_version(path: Path) -> bytes:
    """Return the whole file with its log: what any write would change."""
    return path.read_bytes() + path.with_name(path.name + "-wal").read_bytes()


def test_a_turn_comes_back_as_it_was_staged(past: SqlitePromptRepository) -> None:
    metadata = {"cwd": "/home/mei/应用", "tool_calls": [{"name": "read", "id": "t1"}]}
    in_shanghai = NOON.astimezone(timezone(timedelta(hours=8)))
    turn = evolve(
        draft(0, "怎么重试 webhook?", metadata=metadata), session="s1", speaker="梅", timestamp=in_shanghai
    )
    assert index(past, [turn]) == SourceChanges(new=1)
    (kept,) = past.turns(SOURCE, limit=9).run_sync().unwrap()
    assert (kept.content, kept.timestamp, kept.session, kept.speaker) == (turn.content, NOON, "s1", "梅")
    assert (kept.metadata, kept.project, kept.format, kept.role) == (metadata, "app", "claude_code", "user")
    assert (kept.conversation_id, kept.text_hash, kept.is_superseded) == (
        "claude_code:c1",
        turn.text_hash,
        False,
    )


def test_an_unchanged_source_writes_nothing_at_all(past: SqlitePromptRepository, path: Path) -> None:
    turns = [draft(0, "一"), draft(1, "two")]
    index(past, turns)
    before = data_version(path)
    assert index(past, turns) == SourceChanges(unchanged=2)
    assert data_version(path) == before


def test_what_is_staged_is_seen_by_nobody_until_it_is_committed(
    past: SqlitePromptRepository, path: Path
) -> None:
    stage(past, [draft(0, "one")])
    assert contents(past) == []
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM prompts").fetchone() == (0,)
    assert {one.name for one in path.parent.iterdir()} == {"chats.db", "chats.db-wal", "chats.db-shm"}
    past.discard().run_sync().unwrap()
    assert past.commit_source(state()).run_sync().unwrap() == SourceChanges()


def test_a_source_of_many_portions_is_written_whole(past: SqlitePromptRepository, path: Path) -> None:
    turns = [draft(number, f"{number}. 重试") for number in range(WRITTEN_AT_ONCE + 1)]
    assert index(past, turns) == SourceChanges(new=len(turns))
    edited = [draft(number, f"{number}. 重试 again") for number in range(len(turns))]
    assert index(past, edited) == SourceChanges(updated=len(turns))
    with closing(sqlite3.connect(path)) as connection:
        (written,) = connection.execute(
            "SELECT count(*) FROM prompts WHERE content LIKE '% again'"
        ).fetchone()
    assert written == len(turns)


def test_of_two_turns_of_one_identity_the_later_counts(past: SqlitePromptRepository) -> None:
    partial, whole = draft(0, "I think", identity="m1"), draft(0, "I think, therefore", identity="m1")
    assert index(past, [partial, draft(1, "next"), whole]) == SourceChanges(new=2)
    assert contents(past) == ["I think, therefore", "next"]


def test_an_edited_turn_is_updated_with_its_words_and_its_vector(
    past: SqlitePromptRepository, path: Path
) -> None:
    index(past, [draft(0, "before")])
    assert index(past, [draft(0, "after")]) == SourceChanges(updated=1)
    with closing(sqlite3.connect(path)) as connection:
        found = "SELECT count(*) FROM prompts_fts WHERE prompts_fts MATCH ?"
        assert [connection.execute(found, (word,)).fetchone()[0] for word in ("before", "after")] == [0, 1]
        kept = connection.execute("SELECT model, dim, vector_json FROM prompt_embeddings").fetchall()
    fresh = path.with_name("fresh.db")
    with open_past_chats(fresh) as anew, closing(sqlite3.connect(fresh)) as connection:
        index(anew, [draft(0, "after")])
        assert connection.execute("SELECT model, dim, vector_json FROM prompt_embeddings").fetchall() == kept


def test_a_turn_that_its_source_lost_stays_and_is_marked_until_it_is_back(
    past: SqlitePromptRepository,
) -> None:
    both = [draft(0, "kept"), draft(1, "分支")]
    index(past, both)
    assert index(past, [], state(status="damaged")) == SourceChanges()
    assert index(past, both[:1]) == SourceChanges(unchanged=1, superseded=1)
    assert contents(past) == ["kept", "(分支)"]
    assert index(past, both[:1]) == SourceChanges(unchanged=1)
    assert index(past, both) == SourceChanges(unchanged=1, updated=1)
    assert contents(past) == ["kept", "分支"]


def test_the_same_turn_from_two_sources_is_one_row_with_the_longer_text_that_names_both(
    past: SqlitePromptRepository,
) -> None:
    def elsewhere(text: str) -> SourceChanges:
        return index(past, [draft(0, text, source=OTHER)], state(OTHER))

    index(past, [draft(0, "same")])
    assert [elsewhere("same"), elsewhere("same")] == [
        SourceChanges(duplicates=1),
        SourceChanges(unchanged=1),
    ]
    assert elsewhere("sam").updated == 0
    (kept,) = past.turns(SOURCE, limit=9).run_sync().unwrap()
    assert (kept.content, kept.source, kept.metadata) == ("same", SOURCE, {"aliases": [OTHER]})
    elsewhere("the same and more")
    (kept,) = past.turns(OTHER, limit=9).run_sync().unwrap()
    assert (kept.content, kept.source) == ("the same and more", OTHER)
    assert kept.metadata == {"aliases": [SOURCE]}
    assert index(past, [], state(OTHER)).superseded == 0
    (kept,) = past.turns(SOURCE, limit=9).run_sync().unwrap()
    assert (kept.source, kept.is_superseded, dict(kept.metadata)) == (SOURCE, False, {})
    assert index(past, []).superseded == 1


def test_equal_texts_are_embedded_once(past: SqlitePromptRepository, path: Path) -> None:
    index(past, [draft(0, "ok"), draft(1, "好的")])
    text_hashes = [draft(0, "ok").text_hash, draft(0, "new").text_hash]
    assert past.unembedded(text_hashes, MODEL).run_sync().unwrap() == {text_hashes[1]}
    assert past.unembedded(text_hashes, "another").run_sync().unwrap() == set(text_hashes)
    index(past, [draft(0, "ok", conversation="claude_code:c2", source=OTHER)], state(OTHER))
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute(
            "SELECT dense, squares, vector, code FROM prompt_vectors JOIN prompt_codes USING (prompt_id)"
        ).fetchall()
    assert rows[0] == rows[2] != rows[1]


def test_what_is_there_or_staged_with_its_text_is_known(past: SqlitePromptRepository) -> None:
    stage(past, [draft(0, "好的")])
    text_hash = draft(0, "好的").text_hash
    assert past.unembedded([text_hash], MODEL).run_sync().unwrap() == set()
    assert past.unembedded([text_hash], "another").run_sync().unwrap() == {text_hash}
    one, two = draft(0, "one"), draft(1, "two")
    index(past, [one, two])
    hashes = {one.content_hash: one.text_hash, two.content_hash: one.text_hash, "unknown": one.text_hash}
    assert past.unchanged(hashes).run_sync().unwrap() == {one.content_hash}


def test_a_turn_without_a_vector_has_an_empty_one_until_it_is_embedded(past: SqlitePromptRepository) -> None:
    past.stage([draft(0, "one")], {}, model="none").run_sync().unwrap()
    past.commit_source(state()).run_sync().unwrap()
    assert dict(past.statistics().run_sync().unwrap().models) == {"none": 1}
    assert past.unembedded([draft(0, "one").text_hash], "none").run_sync().unwrap() == set()
    assert [text for _, text in past.without_vector(MODEL, limit=9).run_sync().unwrap()] == ["one"]


def test_a_file_whose_name_is_no_text_has_turns(past: SqlitePromptRepository) -> None:
    odd = "/home/\udcff.jsonl"
    index(past, [draft(0, "one", source=odd)], state(odd))
    assert contents(past, odd) == ["one"]


def test_sources_come_back_as_they_were_committed(past: SqlitePromptRepository) -> None:
    known = evolve(state(OTHER, status="skipped"), issue="no transcript", also={"/a/工具.json": (3, 4)})
    index(past, [], known)
    index(past, [draft(0, "one")])
    past.mark_missing([SOURCE, "/never/seen"]).run_sync().unwrap()
    assert past.sources().run_sync().unwrap() == {
        OTHER: known,
        SOURCE: state(status="missing"),
    }
    assert contents(past) == ["one"]


def test_a_run_is_recorded(past: SqlitePromptRepository) -> None:
    past.record_run(REPORT).run_sync().unwrap()
    last = past.statistics().run_sync().unwrap().last_indexed_at
    assert last is not None
    assert (last - NOON).total_seconds() == REPORT.seconds
