"""``SqlitePromptRepository``: ``PromptRepository`` in one file, with its own connection in the calling thread.

Each method calls a function of the module that its line names.  Modules that a recall does not need are imported on first
use.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncGenerator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from threading import RLock
from types import ModuleType
from typing import TYPE_CHECKING, Concatenate, Final, ParamSpec, TypeVar, final

from attrs import evolve

from chatmemory.effect import Effect, EffectFailed, Failure, Layer
from chatmemory.effect.lazy import LazyModule
from chatmemory.errors import RepositoryError
from chatmemory.pastchats.prompt_repository import PromptRecord, PromptRepository, PromptRepositoryTag
from chatmemory.settings.past_chats_settings import PastChatsSettings, PastChatsSettingsTag
from chatmemory_layers.sql.columns import EPOCH
from chatmemory_layers.sqlite.engine.file_connection import find_again
from chatmemory_layers.sqlite.engine.sqlite_problem import DRIVER_ERRORS, DriverError, repository_error
from chatmemory_layers.sqlite.prompts import prompt_reads, prompt_search
from chatmemory_layers.sqlite.prompts.prompt_row import instant_of
from chatmemory_layers.sqlite.prompts.prompt_store import (
    IN_MEMORY,
    OPENING,
    connect_reader,
    connect_writer,
    driver,
    store_path,
)
from chatmemory_layers.sqlite.prompts.prompt_vectors import PromptVectors

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
    from chatmemory_layers.sqlite.prompts import (
        prompt_checks,
        prompt_commit,
        prompt_conversations,
        prompt_removal,
        prompt_staging,
        prompt_writes,
    )
else:
    prompt_checks = LazyModule(f"{__package__}.prompt_checks")
    prompt_commit = LazyModule(f"{__package__}.prompt_commit")
    prompt_conversations = LazyModule(f"{__package__}.prompt_conversations")
    prompt_removal = LazyModule(f"{__package__}.prompt_removal")
    prompt_staging = LazyModule(f"{__package__}.prompt_staging")
    prompt_writes = LazyModule(f"{__package__}.prompt_writes")

A = TypeVar("A")
P = ParamSpec("P")

EXPORT: Final = "export past chats"
GONE: Final = "the index was moved, replaced or deleted meanwhile; run the command again"
REINDEX: Final = "where only words are damaged, `pastchats-memory reindex` mends them"


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
        self._errors: tuple[type[DriverError | OSError], ...] = (*DRIVER_ERRORS, native.Error, OSError)
        self._vectors = PromptVectors(use_sqlite_vec=settings.use_sqlite_vec)
        self._is_there: Callable[[], bool] = (lambda: True) if self._path is None else find_again(self._path)
        # A program that runs effects in several threads has them take turns with this lock.
        self._lock = RLock()

    # --- indexing ---

    def sources(self) -> Effect[Mapping[str, SourceState], RepositoryError]:
        return self._read("read sources", prompt_commit.sources)

    def unchanged(self, hashes: Mapping[str, str], /) -> Effect[frozenset[str], RepositoryError]:
        return self._run("compare turns", prompt_staging.unchanged, hashes=hashes)

    def unembedded(
        self, text_hashes: Sequence[str], model: str, /
    ) -> Effect[frozenset[str], RepositoryError]:
        return self._run("look for vectors", prompt_staging.unembedded, text_hashes=text_hashes, model=model)

    def stage(
        self, turns: Sequence[PromptDraft], vectors: Mapping[str, Vector], /, *, model: str
    ) -> Effect[None, RepositoryError]:
        return self._run("stage turns", prompt_staging.stage, turns=turns, vectors=vectors, model=model)

    def commit_source(
        self,
        state: SourceState,
        /,
        *,
        roles: Collection[Role] = (),
        kinds: Collection[TurnKind] = (),
        redacted: Callable[[PromptDraft], PromptDraft] | None = None,
    ) -> Effect[SourceChanges, RepositoryError]:
        return self._write(
            "index a source",
            prompt_commit.commit_source,
            state=state,
            roles=roles,
            kinds=kinds,
            redacted=redacted,
        )

    def redact_source(
        self, state: SourceState, redacted: Callable[[PromptDraft], PromptDraft], /
    ) -> Effect[None, RepositoryError]:
        return self._write("redact a source", prompt_commit.redact_source, state=state, redacted=redacted)

    def discard(self) -> Effect[None, RepositoryError]:
        return self._run("discard turns", prompt_staging.discard)

    def mark_missing(self, sources: Sequence[str], /) -> Effect[Mapping[str, str], RepositoryError]:
        return self._write("mark sources", prompt_removal.mark_missing, sources=sources)

    def record_run(self, report: IndexReport, /) -> Effect[None, RepositoryError]:
        return self._write("record a run", prompt_writes.record_run, report=report)

    # --- searching ---

    def candidates(self, search: PromptSearch, /) -> Effect[PromptCandidates, RepositoryError]:
        return self._read("search past chats", prompt_search.candidates, search=search, vectors=self._vectors)

    def with_texts(
        self, text_hashes: Sequence[str], /
    ) -> Effect[Mapping[str, tuple[str, ...]], RepositoryError]:
        return self._read("look for texts", prompt_reads.with_texts, text_hashes=text_hashes)

    # --- reading ---

    def around(
        self, prompt: Prompt, /, *, before: int, after: int
    ) -> Effect[tuple[Prompt, ...], RepositoryError]:
        return self._read("read turns", prompt_reads.around, prompt=prompt, before=before, after=after)

    def turns(
        self, source: str, /, *, turn_index: int | None = None, limit: int
    ) -> Effect[tuple[Prompt, ...], RepositoryError]:
        return self._read("read turns", prompt_reads.turns, source=source, turn_index=turn_index, limit=limit)

    def conversations(
        self, which: PromptFilter, /, *, limit: int, after: str | None = None
    ) -> Effect[PastConversationPage, RepositoryError]:
        return self._read(
            "list conversations",
            prompt_conversations.conversations,
            which=which,
            limit=limit,
            after=after,
        )

    def conversation_turns(
        self, conversation_id: str, /, *, newer_than: int = -1, limit: int
    ) -> Effect[PastTurnPage | None, RepositoryError]:
        return self._read(
            "read turns",
            prompt_conversations.conversation_turns,
            conversation_id=conversation_id,
            newer_than=newer_than,
            limit=limit,
        )

    def statistics(self) -> Effect[PastChatsStatistics, RepositoryError]:
        return self._read("count turns", prompt_conversations.statistics, path=self._path)

    def check(self, model: str, /) -> Effect[tuple[Finding, ...], RepositoryError]:
        return self._run(
            "check past chats",
            prompt_checks.check,
            path=self._path,
            model=model,
            native=self._native,
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
        return self._write(
            "forget turns",
            prompt_removal.forget,
            which=which,
            sources=sources,
            is_dry_run=is_dry_run,
        )

    def prune(self, *, is_dry_run: bool = False) -> Effect[int, RepositoryError]:
        return self._write("prune turns", prompt_removal.prune, is_dry_run=is_dry_run)

    def reindex_words(self) -> Effect[int, RepositoryError]:
        return self._write("reindex words", prompt_writes.reindex_words)

    def without_vector(
        self, model: str, /, *, limit: int
    ) -> Effect[tuple[tuple[int, str], ...], RepositoryError]:
        return self._read("look for vectors", prompt_writes.without_vector, model=model, limit=limit)

    def re_embed(
        self, ids: Sequence[int], vectors: Matrix, /, *, model: str
    ) -> Effect[None, RepositoryError]:
        return self._write("replace vectors", prompt_writes.re_embed, ids=ids, vectors=vectors, model=model)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    @property
    def _path(self) -> Path | None:
        return None if self._settings.path == IN_MEMORY else store_path(self._settings)

    def _page(self, which: PromptFilter, after: int) -> list[tuple[int, PromptDraft, str]]:
        page = self._run(EXPORT, prompt_conversations.records, which=which, after=after).run_sync()
        if isinstance(page, Failure):
            raise EffectFailed(page.failure())
        return page.unwrap()

    def _read(
        self,
        operation: str,
        work: Callable[Concatenate[sqlite3.Connection, P], A],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Effect[A, RepositoryError]:
        """Read everything from one snapshot, whatever is written meanwhile."""

        def read(connection: sqlite3.Connection) -> A:
            connection.execute("BEGIN")
            try:
                return work(connection, *args, **kwargs)
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

        return self._run(operation, read)

    def _write(
        self,
        operation: str,
        work: Callable[Concatenate[sqlite3.Connection, P], A],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Effect[A, RepositoryError]:
        """Run *work*, then check that the next process will open the same file that was written."""

        def check(done: A) -> Effect[A, RepositoryError]:
            if self._is_there():
                return Effect.succeed(done)
            return Effect.fail(RepositoryError(operation, "unavailable", GONE))

        return self._run(operation, work, *args, **kwargs).bind(check)

    def _run(
        self,
        operation: str,
        work: Callable[Concatenate[sqlite3.Connection, P], A],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Effect[A, RepositoryError]:
        def run() -> A:
            with self._lock:
                return work(self._connection, *args, **kwargs)

        return Effect.attempt_sync(run, *self._errors, to=partial(_problem, operation))


def _problem(operation: str, error: DriverError | OSError) -> RepositoryError:
    found = repository_error(operation, error)
    if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_CORRUPT_VTAB:
        return evolve(found, detail=f"{found.detail}; {REINDEX}")
    return found


@asynccontextmanager
async def _open(
    connect: Callable[[PastChatsSettings, ModuleType], sqlite3.Connection], settings: PastChatsSettings
) -> AsyncGenerator[PromptRepository]:
    """Yield a repository of the file that *connect* opens.

    Raises:
        EffectFailed: with the ``RepositoryError`` that says why the file cannot be opened.
    """
    native = driver(use_sqlite_vec=settings.use_sqlite_vec)
    try:
        connection = connect(settings, native)
    except (*DRIVER_ERRORS, native.Error, OSError) as error:
        raise EffectFailed(repository_error(OPENING, error)) from error
    opened = SqlitePromptRepository(connection, settings, native)
    try:
        yield opened
    finally:
        opened.close()


def _connect_to_stage(settings: PastChatsSettings, native: ModuleType) -> sqlite3.Connection:
    connection = connect_writer(settings, native)
    try:
        prompt_staging.prepare_staging(connection)
    except BaseException:
        connection.close()
        raise
    return connection


prompt_repository = Layer.scoped(
    PromptRepositoryTag, partial(_open, _connect_to_stage), PastChatsSettingsTag
).failing_with(RepositoryError)
"""For programs that write: creates the file if it does not exist."""

prompt_reader = Layer.scoped(
    PromptRepositoryTag, partial(_open, connect_reader), PastChatsSettingsTag
).failing_with(RepositoryError)
"""For programs that search: creates nothing, and writes nothing."""
