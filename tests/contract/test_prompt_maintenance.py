"""Maintenance of an index of past chats: turns go without a trace, vectors are replaced, words are indexed anew."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from chatmemory.pastchats.indexing.prompt_drafts import SourceChanges
from chatmemory.pastchats.prompt import EVERYTHING, PromptFilter
from chatmemory.pastchats.prompt_repository import PromptSearch
from chatmemory_layers.sqlite.prompts.prompt_repository import SqlitePromptRepository
from tests.past_turns import (
    MODEL,
    SOURCE,
    contents,
    disagreement,
    draft,
    index,
    open_past_chats,
    state,
    vectors_of,
)

OTHER = "/home/mei/other.jsonl"
TALK = [draft(0, "the first"), draft(1, "harmless"), draft(2, "也无害")]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "past.db"


@pytest.fixture
def past(path: Path) -> Iterator[SqlitePromptRepository]:
    with open_past_chats(path) as repository:
        index(repository, TALK)
        yield repository
        assert disagreement(path) == ""


def is_found(past: SqlitePromptRepository, word: str) -> bool:
    candidates = past.candidates(PromptSearch(word, (word,))).run_sync().unwrap()
    return any(candidate.lexical > 0 for candidate in candidates.found)


def test_what_is_left_is_what_was_not_forgotten(past: SqlitePromptRepository) -> None:
    index(past, [draft(0, "elsewhere", source=OTHER, conversation="x:y")], state(OTHER))
    assert past.forget(EVERYTHING, sources=[SOURCE], is_dry_run=True).run_sync().unwrap() == 3
    assert contents(past) == [turn.content for turn in TALK]
    assert past.forget(PromptFilter(roles=("user",)), sources=[SOURCE]).run_sync().unwrap() == 3
    assert (contents(past), contents(past, OTHER)) == ([], ["elsewhere"])


def test_what_was_forgotten_comes_back_by_an_import_and_not_when_its_source_is_read_again(
    past: SqlitePromptRepository,
) -> None:
    index(past, [draft(1, "harmless", source=OTHER)], state(OTHER))
    assert past.forget(EVERYTHING, sources=[OTHER]).run_sync().unwrap() == 1  # of either source
    assert past.forget(EVERYTHING, sources=[SOURCE]).run_sync().unwrap() == 2
    assert index(past, [*TALK, draft(3, "said later")], state(size=2)) == SourceChanges(new=1)
    assert contents(past) == ["said later"]
    assert index(past, TALK, state("/export", status="imported")) == SourceChanges(new=3)
    assert index(past, TALK).unchanged == 3


def test_pruning_deletes_what_no_source_holds_any_more(past: SqlitePromptRepository) -> None:
    index(past, TALK[:2])
    index(past, [draft(1, "harmless", source=OTHER)], state(OTHER))
    past.mark_missing([SOURCE]).run_sync().unwrap()
    assert past.prune(is_dry_run=True).run_sync().unwrap() == 2
    assert past.prune().run_sync().unwrap() == 2
    assert contents(past, OTHER) == ["harmless"]
    assert set(past.sources().run_sync().unwrap()) == {OTHER}
    (kept,) = past.turns(OTHER, limit=9).run_sync().unwrap()
    assert (kept.source, dict(kept.metadata)) == (OTHER, {})
    past.mark_missing([OTHER]).run_sync().unwrap()
    assert past.prune().run_sync().unwrap() == 1
    assert past.sources().run_sync().unwrap() == {}
    assert index(past, TALK) == SourceChanges(new=3)  # what was pruned may come back


@pytest.mark.parametrize("model", ["新", "A"])  # its name stands behind the former one's, or before it
def test_vectors_of_another_model_replace_the_former_ones(
    past: SqlitePromptRepository, path: Path, model: str
) -> None:
    done = 0
    while rows := past.without_vector(model, limit=2).run_sync().unwrap():
        ids, texts = zip(*rows, strict=True)
        past.re_embed(ids, vectors_of([text[::-1] for text in texts]), model=model).run_sync().unwrap()
        done += len(rows)
        assert disagreement(path) == ""
    assert done == len(TALK)
    assert dict(past.statistics().run_sync().unwrap().models) == {model: 3}
    with closing(sqlite3.connect(path)) as connection:
        query = "SELECT count(*) FROM prompt_codes JOIN prompt_models USING (model_key) WHERE model = ?"
        assert connection.execute(query, (model,)).fetchone() == (3,)


def test_a_vector_that_somebody_harmed_is_made_again_and_none_of_a_turn_that_is_gone_is_kept(
    past: SqlitePromptRepository, path: Path
) -> None:
    past.re_embed([77], vectors_of(["x"]), model=MODEL).run_sync().unwrap()
    assert past.statistics().run_sync().unwrap().embeddings == 3
    for harm in (
        "DELETE FROM prompt_embeddings WHERE prompt_id = 2",
        "UPDATE prompt_vectors SET vector = x'00' WHERE prompt_id = 2",
    ):
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute(harm)
        ((prompt_id, text),) = past.without_vector(MODEL, limit=9).run_sync().unwrap()
        past.re_embed([prompt_id], vectors_of([text]), model=MODEL).run_sync().unwrap()
        assert past.without_vector(MODEL, limit=9).run_sync().unwrap() == ()


def test_words_are_indexed_anew_and_a_row_that_another_program_deletes_leaves_no_orphan(
    past: SqlitePromptRepository, path: Path
) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("INSERT INTO prompts_fts (prompts_fts) VALUES ('delete-all')")
        assert not is_found(past, "harmless")
        assert past.reindex_words().run_sync().unwrap() == 3
        assert is_found(past, "harmless")
        assert connection.execute("PRAGMA foreign_keys").fetchone() == (0,)
        connection.execute("DELETE FROM prompts WHERE content = 'harmless'")
    assert disagreement(path) == ""
    assert not is_found(past, "harmless")
