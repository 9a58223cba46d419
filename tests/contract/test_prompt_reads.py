"""What is read of past chats: turns in their order, neighbours, counts, and all of it as records."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from chatmemory.pastchats.prompt import EVERYTHING, PromptFilter
from chatmemory_layers.sqlite.prompts import prompt_reads
from chatmemory_layers.sqlite.prompts.prompt_repository import SqlitePromptRepository
from tests.past_turns import NOON, SOURCE, contents, draft, index, open_past_chats, state

OTHER = "/home/mei/other.json"
TALK = [draft(number, text) for number, text in enumerate(["问", "answer", "又问", "错了", "done"])]
ELSEWHERE = [
    draft(0, "else", source=OTHER, conversation="chatgpt:x", project="Ünter"),
    draft(1, "否则", source=OTHER, conversation="chatgpt:x", project="Ünter", role="assistant"),
]


@pytest.fixture
def past() -> Iterator[SqlitePromptRepository]:
    with open_past_chats() as repository:
        # Backwards: the order in which turns arrive is not the order in which they were said.
        index(repository, list(reversed(TALK)))
        index(repository, ELSEWHERE, state(OTHER))
        yield repository


def test_a_turn_stands_among_those_before_and_after_it_that_were_not_edited_away(
    past: SqlitePromptRepository,
) -> None:
    (middle,) = past.turns(SOURCE, turn_index=2, limit=9).run_sync().unwrap()
    near = past.around(middle, before=1, after=9).run_sync().unwrap()
    assert [turn.content for turn in near] == ["answer", "又问", "错了", "done"]
    assert past.around(middle, before=0, after=0).run_sync().unwrap() == (middle,)
    index(past, [turn for turn in TALK if turn.turn_index != 1])
    near = past.around(middle, before=1, after=0).run_sync().unwrap()
    assert [turn.content for turn in near] == ["问", "又问"]


@pytest.mark.parametrize("name", [OTHER, "chatgpt:x"])
def test_turns_are_found_by_their_source_or_their_conversation(
    past: SqlitePromptRepository, name: str
) -> None:
    assert contents(past, name) == ["else", "否则"]
    assert [turn.content for turn in past.turns(name, turn_index=1, limit=9).run_sync().unwrap()] == ["否则"]
    assert [turn.content for turn in past.turns(name, limit=1).run_sync().unwrap()] == ["else"]
    assert past.turns(SOURCE, turn_index=99, limit=9).run_sync().unwrap() == ()
    assert past.turns("\ud800' OR 1 --", limit=9).run_sync().unwrap() == ()


def test_a_text_is_known_by_all_its_conversations(past: SqlitePromptRepository) -> None:
    index(past, [draft(0, "问", source="/c", conversation="a:later")], state("/c"))
    found = past.with_texts([TALK[0].text_hash, TALK[1].text_hash]).run_sync().unwrap()
    assert found == {
        TALK[0].text_hash: ("claude_code:c1", "a:later"),
        TALK[1].text_hash: ("claude_code:c1",),
    }
    assert past.with_texts(["nothing", '"']).run_sync().unwrap() == {}


def test_what_is_kept_is_counted(past: SqlitePromptRepository) -> None:
    index(past, TALK[:-1])
    past.mark_missing([OTHER]).run_sync().unwrap()
    counted = past.statistics().run_sync().unwrap()
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


EVERY_TALK = {turn.content for turn in TALK}
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


def test_a_filter_means_some_turns(past: SqlitePromptRepository) -> None:
    found = [(which, {record.draft.content for record in past.records(which)}) for which, _ in FILTERED]
    assert found == FILTERED


def test_records_make_the_same_index_elsewhere(
    past: SqlitePromptRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prompt_reads, "RECORDS_AT_ONCE", 3)
    index(past, [draft(1, "answer", source="/copy")], state("/copy"))
    records = list(past.records(EVERYTHING))
    with open_past_chats() as copy:
        index(copy, [record.draft for record in records], state("/export", status="imported"))
        assert [record.draft for record in copy.records(EVERYTHING)] == [record.draft for record in records]
        assert contents(copy, "/copy") == ["answer"]


def test_an_import_changes_nothing_that_is_there(past: SqlitePromptRepository) -> None:
    changes = index(past, [draft(0, "something else"), draft(9, "new")], state(status="imported"))
    assert (changes.new, changes.unchanged, changes.superseded) == (1, 1, 0)
    assert contents(past) == ["问", "answer", "又问", "错了", "done", "new"]
    assert past.sources().run_sync().unwrap()[SOURCE] == state()
