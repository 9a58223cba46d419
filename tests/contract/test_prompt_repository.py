"""What an index of past chats holds after a source was committed, what maintenance does to it, and what is read of it."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from attrs import evolve

from chatmemory.effect import Failure
from chatmemory.pastchats.indexing.prompt_drafts import SourceChanges
from chatmemory.pastchats.past_chats import IndexReport
from chatmemory.pastchats.prompt import EVERYTHING, PromptFilter
from chatmemory_layers.sqlite.prompts import prompt_conversations
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
    vectors_of,
)
from tests.unit.sqlite.desktop_files import change, fetched

OTHER = "/home/mei/other.jsonl"
REPORT = IndexReport(
    files=1, read={"claude_code": 1}, unchanged=0, not_histories=0, failed=0, missing=0, turns=SourceChanges(new=1),
    redacted=0, unknown_records={}, issues=(), started_at=NOON, seconds=1.5,
)  # fmt: skip


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "past" / "chats.db"


@pytest.fixture
def past(path: Path) -> Iterator[SqlitePromptRepository]:
    with open_past_chats(path) as repository:
        yield repository
        assert disagreement(path) == ""


@pytest.fixture
def talked(past: SqlitePromptRepository) -> SqlitePromptRepository:
    """An index of one conversation."""
    index(past, TALK)
    return past


@pytest.fixture
def of_two(past: SqlitePromptRepository) -> SqlitePromptRepository:
    """An index of two conversations.

    One came in backwards: the order in which turns arrive is not the order in which they were said.
    """
    index(past, list(reversed(SAID)))
    index(past, ELSEWHERE, state(OTHER))
    return past


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


def test_what_is_staged_is_seen_by_nobody_until_it_is_committed(
    past: SqlitePromptRepository, path: Path
) -> None:
    stage(past, [draft(0, "one")])
    assert contents(past) == []
    assert fetched(path, "SELECT count(*) FROM prompts") == [(0,)]
    assert {one.name for one in path.parent.iterdir()} == {"chats.db", "chats.db-wal", "chats.db-shm"}
    past.discard().run_sync().unwrap()
    assert past.commit_source(state()).run_sync().unwrap() == SourceChanges()


def test_a_source_of_many_portions_is_written_whole(past: SqlitePromptRepository, path: Path) -> None:
    turns = [draft(number, f"{number}. 重试") for number in range(WRITTEN_AT_ONCE + 1)]
    assert index(past, turns) == SourceChanges(new=len(turns))
    edited = [draft(number, f"{number}. 重试 again") for number in range(len(turns))]
    assert index(past, edited) == SourceChanges(updated=len(turns))
    assert fetched(path, "SELECT count(*) FROM prompts WHERE content LIKE '% again'") == [(len(turns),)]


def test_a_source_whose_last_row_is_refused_is_not_written_at_all(
    past: SqlitePromptRepository, path: Path
) -> None:
    index(past, [draft(0, "one"), draft(1, "two")])
    change(
        path, "CREATE TRIGGER refused BEFORE INSERT ON prompt_sources BEGIN SELECT RAISE(ABORT, 'full'); END"
    )
    stage(past, [draft(0, "one, edited"), draft(2, "three")])
    assert isinstance(past.commit_source(state(size=2)).run_sync(), Failure)
    assert contents(past) == ["one", "two"]
    change(path, "DROP TRIGGER refused")
    assert past.commit_source(state(size=2)).run_sync().unwrap() == SourceChanges(
        new=1, updated=1, superseded=1
    )


def test_of_two_turns_of_one_identity_the_later_counts(past: SqlitePromptRepository) -> None:
    partial, whole = draft(0, "I think", identity="m1"), draft(0, "I think, therefore", identity="m1")
    assert index(past, [partial, draft(1, "next"), whole]) == SourceChanges(new=2)
    assert contents(past) == ["I think, therefore", "next"]


def test_an_edited_turn_has_the_vector_of_its_new_text(past: SqlitePromptRepository, path: Path) -> None:
    index(past, [draft(0, "before")])
    index(past, [draft(0, "after"), draft(1, "after")])
    query = "SELECT dense, squares, vector, code FROM prompt_vectors JOIN prompt_codes USING (prompt_id)"
    edited, new = fetched(path, query)
    assert edited == new


def test_a_turn_of_two_sources_is_one_that_names_both(past: SqlitePromptRepository) -> None:
    index(past, [draft(0, "same")])
    assert index(past, [draft(0, "same", source=OTHER)], state(OTHER)) == SourceChanges(duplicates=1)
    for source in (SOURCE, OTHER):
        (kept,) = past.turns(source, limit=9).run_sync().unwrap()
        assert (kept.source, kept.metadata) == (SOURCE, {"aliases": [OTHER]})


def test_of_two_sources_of_one_turn_the_longer_text_counts(past: SqlitePromptRepository) -> None:
    for source, text in ((SOURCE, "I think"), (OTHER, "I think, therefore"), ("/home/mei/third.jsonl", "I")):
        index(past, [draft(0, text, identity="m1", source=source)], state(source))
    assert contents(past) == ["I think, therefore"]


def test_a_turn_without_a_vector_has_an_empty_one_until_it_is_embedded(past: SqlitePromptRepository) -> None:
    past.stage([draft(0, "one")], {}, model="none").run_sync().unwrap()
    past.commit_source(state()).run_sync().unwrap()
    assert dict(past.statistics().run_sync().unwrap().models) == {"none": 1}
    assert past.unembedded([draft(0, "one").text_hash], "none").run_sync().unwrap() == set()
    assert [text for _, text in past.without_vector(MODEL, limit=9).run_sync().unwrap()] == ["one"]


def test_sources_come_back_as_they_were_committed_and_a_run_is_recorded(past: SqlitePromptRepository) -> None:
    known = evolve(state(OTHER, status="skipped"), issue="no transcript", also={"/a/工具.json": (3, 4)})
    index(past, [], known)
    index(past, [draft(0, "one")])
    past.mark_missing([SOURCE, "/never/seen"]).run_sync().unwrap()
    assert past.sources().run_sync().unwrap() == {OTHER: known, SOURCE: state(status="missing")}
    assert contents(past) == ["one"]
    odd = "/home/\udcff.jsonl"  # a name that is no text
    index(past, [draft(0, "two", conversation="claude_code:c2", source=odd)], state(odd))
    assert contents(past, odd) == ["two"]
    past.record_run(REPORT).run_sync().unwrap()
    last = past.statistics().run_sync().unwrap().last_indexed_at
    assert last is not None
    assert (last - NOON).total_seconds() == REPORT.seconds


TALK = [draft(0, "the first"), draft(1, "harmless"), draft(2, "也无害")]


def test_what_is_left_is_what_was_not_forgotten(talked: SqlitePromptRepository) -> None:
    index(talked, [draft(0, "elsewhere", source=OTHER, conversation="x:y")], state(OTHER))
    assert talked.forget(EVERYTHING, sources=[SOURCE], is_dry_run=True).run_sync().unwrap() == 3
    assert contents(talked) == [turn.content for turn in TALK]
    assert talked.forget(PromptFilter(roles=("user",)), sources=[SOURCE]).run_sync().unwrap() == 3
    assert (contents(talked), contents(talked, OTHER)) == ([], ["elsewhere"])


def test_what_was_forgotten_comes_back_by_an_import_and_not_when_its_source_is_read_again(
    talked: SqlitePromptRepository,
) -> None:
    index(talked, [draft(1, "harmless", source=OTHER)], state(OTHER))
    assert talked.forget(EVERYTHING, sources=[OTHER]).run_sync().unwrap() == 1  # of either source
    assert talked.forget(EVERYTHING, sources=[SOURCE]).run_sync().unwrap() == 2
    assert index(talked, [*TALK, draft(3, "said later")], state(size=2)) == SourceChanges(new=1)
    assert contents(talked) == ["said later"]
    assert index(talked, TALK, state("/export", status="imported")) == SourceChanges(new=3)
    assert index(talked, TALK).unchanged == 3


def test_vectors_of_another_model_replace_the_former_ones(talked: SqlitePromptRepository, path: Path) -> None:
    talked.re_embed([77], vectors_of(["x"]), model=MODEL).run_sync().unwrap()  # a turn that is gone
    for model in ("新", "A"):  # its name stands behind the former one's, and before it
        done = 0
        while rows := talked.without_vector(model, limit=2).run_sync().unwrap():
            ids, texts = zip(*rows, strict=True)
            talked.re_embed(ids, vectors_of([text[::-1] for text in texts]), model=model).run_sync().unwrap()
            done += len(rows)
            assert disagreement(path) == ""
        assert done == len(TALK)
        assert dict(talked.statistics().run_sync().unwrap().models) == {model: 3}
        query = "SELECT count(*) FROM prompt_codes JOIN prompt_models USING (model_key) WHERE model = ?"
        assert fetched(path, query, model) == [(3,)]


def test_a_row_that_another_program_deletes_leaves_no_orphan(
    talked: SqlitePromptRepository, path: Path
) -> None:
    assert len(contents(talked)) == 3
    assert fetched(path, "PRAGMA foreign_keys") == [(0,)]
    change(path, "DELETE FROM prompts WHERE content = 'harmless'")
    assert disagreement(path) == ""


ELSEWHERE = [
    draft(0, "else", source=OTHER, conversation="chatgpt:x", project="Ünter"),
    draft(1, "否则", source=OTHER, conversation="chatgpt:x", project="Ünter", role="assistant"),
]


def test_a_turn_stands_among_those_before_and_after_it_that_were_not_edited_away(
    of_two: SqlitePromptRepository,
) -> None:
    (middle,) = of_two.turns(SOURCE, turn_index=2, limit=9).run_sync().unwrap()
    near = of_two.around(middle, before=1, after=9).run_sync().unwrap()
    assert [turn.content for turn in near] == ["answer", "又问", "错了", "done"]
    assert of_two.around(middle, before=0, after=0).run_sync().unwrap() == (middle,)
    index(of_two, [turn for turn in SAID if turn.turn_index != 1])
    near = of_two.around(middle, before=1, after=0).run_sync().unwrap()
    assert [turn.content for turn in near] == ["问", "又问"]


def test_a_text_is_known_by_all_its_conversations(of_two: SqlitePromptRepository) -> None:
    index(of_two, [draft(0, "问", source="/c", conversation="a:later")], state("/c"))
    found = of_two.with_texts([SAID[0].text_hash, SAID[1].text_hash]).run_sync().unwrap()
    assert found == {
        SAID[0].text_hash: ("claude_code:c1", "a:later"),
        SAID[1].text_hash: ("claude_code:c1",),
    }
    assert of_two.with_texts(["nothing", '"']).run_sync().unwrap() == {}


def test_what_is_kept_is_counted(of_two: SqlitePromptRepository) -> None:
    index(of_two, SAID[:-1])
    of_two.mark_missing([OTHER]).run_sync().unwrap()
    counted = of_two.statistics().run_sync().unwrap()
    assert (counted.prompts, counted.embeddings, counted.conversations) == (7, 7, 2)
    assert (counted.sources, counted.missing_sources, counted.superseded) == (2, 1, 1)
    assert dict(counted.by_format) == {"claude_code": 5, "chatgpt": 2}
    assert dict(counted.by_role) == {"user": 6, "assistant": 1}
    assert dict(counted.by_project) == {"app": 5, "Ünter": 2}
    assert (counted.oldest, counted.newest) == (NOON, NOON + timedelta(minutes=4))
    with open_past_chats() as empty:
        counted = empty.statistics().run_sync().unwrap()
    assert (counted.prompts, counted.oldest, counted.last_indexed_at) == (0, None, None)
    assert dict(counted.models) == {}


SAID = [draft(number, text) for number, text in enumerate(["问", "answer", "又问", "错了", "done"])]
EVERY_TALK = {turn.content for turn in SAID}
FILTERED: list[tuple[PromptFilter, set[str]]] = [
    (PromptFilter(projects=("APP",)), EVERY_TALK),
    (PromptFilter(projects=("Ünter", "nobody")), {"else", "否则"}),
    (PromptFilter(roles=("assistant",)), {"否则"}),
    (PromptFilter(formats=("chatgpt",)), {"else", "否则"}),
    (PromptFilter(conversations=("claude_code:c1",), until=NOON + timedelta(minutes=1)), {"问"}),
    (PromptFilter(since=NOON + timedelta(minutes=4)), {"done"}),
    (PromptFilter(since=datetime(2025, 3, 14, 20, 4, tzinfo=UTC) - timedelta(hours=8)), {"done"}),
    (PromptFilter(projects=("%", "\udcff", '"')), set()),
]


def test_a_filter_means_some_turns(of_two: SqlitePromptRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prompt_conversations, "RECORDS_AT_ONCE", 3)
    found = [(which, {record.draft.content for record in of_two.records(which)}) for which, _ in FILTERED]
    assert found == FILTERED


def test_an_import_changes_nothing_that_is_there(of_two: SqlitePromptRepository) -> None:
    changes = index(of_two, [draft(0, "something else"), draft(9, "new")], state(status="imported"))
    assert (changes.new, changes.unchanged, changes.superseded) == (1, 1, 0)
    assert contents(of_two) == ["问", "answer", "又问", "错了", "done", "new"]
    assert of_two.sources().run_sync().unwrap()[SOURCE] == state()
