"""``SqlitePromptRepository``: ``PromptRepository`` in one file, with its own connection in the calling thread.

The methods are implemented in ``prompt_reads.py``, ``prompt_conversations.py``, ``prompt_search.py``, ``prompt_staging.py``,
``prompt_commit.py``, ``prompt_writes.py``, ``prompt_removal.py`` and ``prompt_checks.py``.  Modules that a recall does not
need are imported where they are used, to keep a recall fast.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncGenerator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from threading import RLock
from types import ModuleType
from typing import TYPE_CHECKING, Final, TypeVar, final

from attrs import evolve

from chatmemory.effect import Effect, EffectFailed, Failure, Layer
from chatmemory.errors import RepositoryError
from chatmemory.pastchats.prompt_repository import PromptRecord, PromptRepository, PromptRepositoryTag
from chatmemory.settings.past_chats_settings import PastChatsSettings, PastChatsSettingsTag
from chatmemory_layers.sql.columns import EPOCH
from chatmemory_layers.sqlite.engine.file_connection import find_again
from chatmemory_layers.sqlite.engine.sqlite_problem import repository_error
from chatmemory_layers.sqlite.prompts import prompt_reads
from chatmemory_layers.sqlite.prompts.prompt_row import instant_of
from chatmemory_layers.sqlite.prompts.prompt_search import PromptSearcher
from chatmemory_layers.sqlite.prompts.prompt_store import (
    IN_MEMORY,
    OPENING,
    connect_reader,
    connect_writer,
    driver,
    store_path,
)

if TYPE_CHECKING:
    from chatmemory.embedding.embedder import Matrix, Vector
    from chatmemory.input.choices import Role
    from chatmemory.pastchats.indexing.prompt_drafts import PromptDraft, SourceChanges, SourceState
    from chatmemory.pastchats.past_chats import (
        Finding,
        IndexReport,
        PastChatsStatistics,
        PastConversationPage,
        PastTurnPage,
    )
    from chatmemory.pastchats.prompt import Prompt, PromptFilter, TurnKind
    from chatmemory.pastchats.prompt_repository import PromptCandidates, PromptSearch

A = TypeVar("A")

EXPORT: Final = "export past chats"
GONE: Final = "the index was moved, replaced or deleted meanwhile; run the command again"
REINDEX: Final = "where only words are damaged, `pastchats-memory reindex` mends them"
_WORDS_DAMAGED: Final = 267  # SQLITE_CORRUPT_VTAB


@final
class SqlitePromptRepository(PromptRepository):
    """Keeps turns in the file of *connection*."""

    def __init__(
        self, connection: sqlite3.Connection, settings: PastChatsSettings, native: ModuleType = sqlite3
    ) -> None:
        """Use *connection*, which belongs to the driver *native*."""
        self._connection = connection
        self._settings = settings
        self._native = native
        self._errors: tuple[type[sqlite3.Error | OSError], ...] = (sqlite3.Error, native.Error, OSError)
        self._searcher = PromptSearcher(use_sqlite_vec=settings.use_sqlite_vec)
        self._is_there: Callable[[], bool] = _always if self._path is None else find_again(self._path)
        # A program that runs effects in several threads has them take turns with this lock.
        self._lock = RLock()

    # --- indexing ---

    def sources(self) -> Effect[Mapping[str, SourceState], RepositoryError]:
        return self._read("read sources", prompt_reads.sources)

    def unchanged(self, hashes: Mapping[str, str], /) -> Effect[frozenset[str], RepositoryError]:
        from chatmemory_layers.sqlite.prompts.prompt_staging import unchanged

        return self._run("compare turns", partial(unchanged, hashes=hashes))

    def unembedded(
        self, text_hashes: Sequence[str], model: str, /
    ) -> Effect[frozenset[str], RepositoryError]:
        from chatmemory_layers.sqlite.prompts.prompt_staging import unembedded

        return self._run("look for vectors", partial(unembedded, text_hashes=text_hashes, model=model))

    def stage(
        self, turns: Sequence[PromptDraft], vectors: Mapping[str, Vector], /, *, model: str
    ) -> Effect[None, RepositoryError]:
        from chatmemory_layers.sqlite.prompts.prompt_staging import stage

        return self._run("stage turns", partial(stage, turns=turns, vectors=vectors, model=model))

    def commit_source(
        self,
        state: SourceState,
        /,
        *,
        roles: Collection[Role] = (),
        kinds: Collection[TurnKind] = (),
        keeps_superseded: bool = True,
    ) -> Effect[SourceChanges, RepositoryError]:
        from chatmemory_layers.sqlite.prompts.prompt_commit import commit_source

        held = partial(
            commit_source, state=state, roles=roles, kinds=kinds, keeps_superseded=keeps_superseded
        )
        return self._write("index a source", held)

    def discard(self) -> Effect[None, RepositoryError]:
        from chatmemory_layers.sqlite.prompts.prompt_staging import discard

        return self._run("discard turns", discard)

    def mark_missing(self, sources: Sequence[str], /) -> Effect[Mapping[str, str], RepositoryError]:
        from chatmemory_layers.sqlite.prompts.prompt_removal import mark_missing

        return self._write("mark sources", partial(mark_missing, sources=sources))

    def record_run(self, report: IndexReport, /) -> Effect[None, RepositoryError]:
        from chatmemory_layers.sqlite.prompts.prompt_writes import record_run

        return self._write("record a run", partial(record_run, report=report))

    # --- searching ---

    def candidates(self, search: PromptSearch, /) -> Effect[PromptCandidates, RepositoryError]:
        return self._read("search past chats", partial(self._searcher.candidates, search=search))

    def with_texts(
        self, text_hashes: Sequence[str], /
    ) -> Effect[Mapping[str, tuple[str, ...]], RepositoryError]:
        return self._read("look for texts", partial(prompt_reads.with_texts, text_hashes=text_hashes))

    # --- reading ---

    def around(
        self, prompt: Prompt, /, *, before: int, after: int
    ) -> Effect[tuple[Prompt, ...], RepositoryError]:
        return self._read(
            "read turns", partial(prompt_reads.around, prompt=prompt, before=before, after=after)
        )

    def turns(
        self, source: str, /, *, turn_index: int | None = None, limit: int
    ) -> Effect[tuple[Prompt, ...], RepositoryError]:
        asked = partial(prompt_reads.turns, source=source, turn_index=turn_index, limit=limit)
        return self._read("read turns", asked)

    def conversations(
        self, which: PromptFilter, /, *, limit: int, after: str | None = None
    ) -> Effect[PastConversationPage, RepositoryError]:
        from chatmemory_layers.sqlite.prompts.prompt_conversations import conversations

        return self._read("list conversations", partial(conversations, which=which, limit=limit, after=after))

    def conversation_turns(
        self, conversation_id: str, /, *, newer_than: int = -1, limit: int
    ) -> Effect[PastTurnPage | None, RepositoryError]:
        from chatmemory_layers.sqlite.prompts.prompt_conversations import conversation_turns

        asked = partial(
            conversation_turns, conversation_id=conversation_id, newer_than=newer_than, limit=limit
        )
        return self._read("read turns", asked)

    def statistics(self) -> Effect[PastChatsStatistics, RepositoryError]:
        return self._read("count turns", partial(prompt_reads.statistics, path=self._path))

    def check(self, model: str, /) -> Effect[tuple[Finding, ...], RepositoryError]:
        from chatmemory_layers.sqlite.prompts.prompt_checks import check

        return self._run(
            "check past chats", partial(check, path=self._path, model=model, native=self._native)
        )

    # --- maintenance ---

    def records(self, which: PromptFilter, /) -> Iterator[PromptRecord]:
        after = 0
        while page := self._page(which, after):
            for prompt_id, draft, created_at in page:
                after = prompt_id
                yield PromptRecord(draft=draft, created_at=instant_of(created_at) or EPOCH)

    def forget(
        self, which: PromptFilter, /, *, sources: Sequence[str] = (), is_dry_run: bool = False
    ) -> Effect[int, RepositoryError]:
        from chatmemory_layers.sqlite.prompts.prompt_removal import forget

        return self._write(
            "forget turns", partial(forget, which=which, sources=sources, is_dry_run=is_dry_run)
        )

    def prune(self, *, is_dry_run: bool = False) -> Effect[int, RepositoryError]:
        from chatmemory_layers.sqlite.prompts.prompt_removal import prune

        return self._write("prune turns", partial(prune, is_dry_run=is_dry_run))

    def reindex_words(self) -> Effect[int, RepositoryError]:
        from chatmemory_layers.sqlite.prompts.prompt_writes import reindex_words

        return self._write("reindex words", reindex_words)

    def without_vector(
        self, model: str, /, *, limit: int
    ) -> Effect[tuple[tuple[int, str], ...], RepositoryError]:
        return self._read("look for vectors", partial(prompt_reads.without_vector, model=model, limit=limit))

    def re_embed(
        self, ids: Sequence[int], vectors: Matrix, /, *, model: str
    ) -> Effect[None, RepositoryError]:
        from chatmemory_layers.sqlite.prompts.prompt_writes import re_embed

        return self._write("replace vectors", partial(re_embed, ids=ids, vectors=vectors, model=model))

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    @property
    def _path(self) -> Path | None:
        return None if self._settings.path == IN_MEMORY else store_path(self._settings)

    def _page(self, which: PromptFilter, after: int) -> list[tuple[int, PromptDraft, str]]:
        page = self._run(EXPORT, partial(prompt_reads.records, which=which, after=after)).run_sync()
        if isinstance(page, Failure):
            raise EffectFailed(page.failure())
        return page.unwrap()

    def _read(self, operation: str, work: Callable[[sqlite3.Connection], A]) -> Effect[A, RepositoryError]:
        return self._run(operation, partial(_in_snapshot, work))

    def _write(self, operation: str, work: Callable[[sqlite3.Connection], A]) -> Effect[A, RepositoryError]:
        """Run *work*, then check that the next process will open the same file that was written."""

        def check(done: A) -> Effect[A, RepositoryError]:
            if self._is_there():
                return Effect.succeed(done)
            return Effect.fail(RepositoryError(operation, "unavailable", GONE))

        return self._run(operation, work).bind(check)

    def _run(self, operation: str, work: Callable[[sqlite3.Connection], A]) -> Effect[A, RepositoryError]:
        def run() -> A:
            with self._lock:
                return work(self._connection)

        return Effect.attempt_sync(run, *self._errors, to=partial(_problem, operation))


def _always() -> bool:
    return True


def _problem(operation: str, error: sqlite3.Error | OSError) -> RepositoryError:
    found = repository_error(operation, error)
    if getattr(error, "sqlite_errorcode", None) == _WORDS_DAMAGED:
        return evolve(found, detail=f"{found.detail}; {REINDEX}")
    return found


def _in_snapshot(work: Callable[[sqlite3.Connection], A], connection: sqlite3.Connection) -> A:
    """Read everything inside the block from one snapshot, whatever is written meanwhile."""
    connection.execute("BEGIN")
    try:
        return work(connection)
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


@asynccontextmanager
async def open_prompt_repository(settings: PastChatsSettings) -> AsyncGenerator[PromptRepository]:
    """Yield a repository of the file, which is created and migrated when needed.

    Raises:
        EffectFailed: with the ``RepositoryError`` that says why the file cannot be opened.
    """
    from chatmemory_layers.sqlite.prompts.prompt_staging import prepare_staging

    opened = _opened(settings, connect_writer, prepare_staging)
    try:
        yield opened
    finally:
        opened.close()


@asynccontextmanager
async def open_prompt_reader(settings: PastChatsSettings) -> AsyncGenerator[PromptRepository]:
    """Yield a repository of an existing file, for reading only.

    Raises:
        EffectFailed: with the ``RepositoryError`` that says why the file cannot be read.
    """
    opened = _opened(settings, connect_reader, lambda _: None)
    try:
        yield opened
    finally:
        opened.close()


def _opened(
    settings: PastChatsSettings,
    connect: Callable[[PastChatsSettings, ModuleType], sqlite3.Connection],
    prepare: Callable[[sqlite3.Connection], None],
) -> SqlitePromptRepository:
    native = driver(use_sqlite_vec=settings.use_sqlite_vec)
    try:
        connection = connect(settings, native)
        try:
            prepare(connection)
        except BaseException:
            connection.close()
            raise
    except (sqlite3.Error, native.Error, OSError) as error:
        raise EffectFailed(repository_error(OPENING, error)) from error
    return SqlitePromptRepository(connection, settings, native)


prompt_repository = Layer.scoped(
    PromptRepositoryTag, open_prompt_repository, PastChatsSettingsTag
).failing_with(RepositoryError)
"""For programs that write: creates the file if it does not exist."""

prompt_reader = Layer.scoped(PromptRepositoryTag, open_prompt_reader, PastChatsSettingsTag).failing_with(
    RepositoryError
)
"""For programs that search: creates nothing, and writes nothing."""
