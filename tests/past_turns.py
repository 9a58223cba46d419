"""Turns of past chats as tests make them, and the store that they are put into."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Final

import numpy as np

from chatmemory.embedding.embedder import Matrix
from chatmemory.input.choices import Role
from chatmemory.input.json_value import JsonObject
from chatmemory.pastchats.indexing.prompt_drafts import PromptDraft, SourceChanges, SourceState, SourceStatus
from chatmemory.settings.past_chats_settings import PastChatsSettings
from chatmemory_layers.sqlite.prompts.prompt_repository import SqlitePromptRepository
from chatmemory_layers.sqlite.prompts.prompt_staging import prepare_staging
from chatmemory_layers.sqlite.prompts.prompt_store import connect_reader, connect_writer

MODEL: Final = "test"
DIM: Final = 8
NOON: Final = datetime(2025, 3, 14, 12, tzinfo=UTC)
SOURCE: Final = "/home/mei/.claude/projects/app/一.jsonl"

COUNT_ROWS = """
SELECT
    (SELECT count(*) FROM prompts),
    (SELECT count(*) FROM prompt_vectors),
    (SELECT count(*) FROM prompt_codes),
    (SELECT count(*) FROM prompts_fts_docsize)
"""
CHECK_WORDS = "INSERT INTO prompts_fts (prompts_fts, rank) VALUES ('integrity-check', 1)"


def draft(
    number: int,
    content: str,
    *,
    source: str = SOURCE,
    conversation: str = "claude_code:c1",
    identity: str | None = None,
    role: Role = "user",
    project: str = "app",
    speaker: str | None = None,
    at: datetime = NOON,
    search_terms: str = "14 march 2025",
    metadata: JsonObject | None = None,
) -> PromptDraft:
    """Make the turn *number* of a conversation; *identity* is what it is known by, else its place."""
    known_by = f"{conversation}/{number}" if identity is None else identity
    return PromptDraft(
        source=source,
        project=project,
        format=conversation.partition(":")[0],
        conversation_id=conversation,
        session="",
        turn_index=number,
        role=role,
        kind="typed",
        speaker=speaker,
        content=content,
        timestamp=at + timedelta(minutes=number),
        content_hash=sha256(known_by.encode()).hexdigest(),
        text_hash=sha256(content.encode()).hexdigest(),
        search_terms=search_terms,
        metadata={} if metadata is None else metadata,
    )


def state(source: str = SOURCE, *, size: int = 1, status: SourceStatus = "indexed") -> SourceState:
    """Make what is known of *source*."""
    return SourceState(
        source=source,
        size=size,
        modified_ns=7,
        format="claude_code",
        format_version=1,
        options="",
        status=status,
    )


def vectors_of(texts: Sequence[str]) -> Matrix:
    """Make a vector of each text, of length 1, the same for the same text."""
    rows = [np.random.default_rng(list(text.encode())).standard_normal(DIM) for text in texts]
    matrix = np.array(rows, np.float32).reshape(len(texts), DIM)
    return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)


def stage(
    repository: SqlitePromptRepository,
    drafts: Sequence[PromptDraft],
    *,
    model: str = MODEL,
    embed: Callable[[Sequence[str]], Matrix] = vectors_of,
) -> None:
    """Stage *drafts* as an index run does: only texts that have no vector get one."""
    texts = {turn.text_hash: turn.content for turn in drafts}
    missing = repository.unembedded(list(texts), model).run_sync().unwrap()
    wanted = [text_hash for text_hash in texts if text_hash in missing]
    vectors = embed([texts[text_hash] for text_hash in wanted])
    repository.stage(drafts, dict(zip(wanted, vectors, strict=True)), model=model).run_sync().unwrap()


def index(
    repository: SqlitePromptRepository, drafts: Sequence[PromptDraft], known: SourceState | None = None
) -> SourceChanges:
    """Have the store hold *drafts*, all of one source."""
    stage(repository, drafts)
    return repository.commit_source(state() if known is None else known).run_sync().unwrap()


@contextmanager
def open_past_chats(
    path: Path | str = ":memory:", *, busy_seconds: float = 10.0, native: ModuleType = sqlite3
) -> Iterator[SqlitePromptRepository]:
    """Open an index for writing, by the driver *native*."""
    settings = PastChatsSettings(path=str(path), busy_timeout_seconds=busy_seconds)
    connection = connect_writer(settings, native)
    prepare_staging(connection)
    with closing(SqlitePromptRepository(connection, settings, native)) as repository:
        yield repository


@contextmanager
def read_past_chats(path: Path) -> Iterator[SqlitePromptRepository]:
    """Open an index for reading."""
    settings = PastChatsSettings(path=str(path))
    with closing(SqlitePromptRepository(connect_reader(settings), settings)) as repository:
        yield repository


def contents(repository: SqlitePromptRepository, source: str = SOURCE) -> list[str]:
    """Return the texts of *source* in their order, marked where they were superseded."""
    turns = repository.turns(source, limit=1000).run_sync().unwrap()
    return [f"({turn.content})" if turn.is_superseded else turn.content for turn in turns]


def disagreement(path: Path) -> str:
    """Say what is out of step in the file; "" when every turn has one vector, one code and its words."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        counts: Iterable[int] = connection.execute(COUNT_ROWS).fetchone()
        if len(set(counts)) > 1:
            return f"prompts, embeddings, codes, words: {counts}"
        try:
            connection.execute(CHECK_WORDS)
        except sqlite3.DatabaseError as error:
            return str(error)
        (pages,) = connection.execute("PRAGMA quick_check").fetchone()
        return "" if pages == "ok" else str(pages)
