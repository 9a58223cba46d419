"""``PastChatsIndexService``: the service that writes the index, over any store, embedder and file system.

``ingest.py`` and ``record_import.py`` define its long operations.  They wait only for the store and the embedder, so that a
command can run them without an event loop.
"""

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final, Never, TypeAlias, cast, final

from attrs import frozen

from chatmemory.effect import Do, Effect, Layer, Outcome
from chatmemory.effect.lazy import np
from chatmemory.effect.services.clock import Clock, ClockTag
from chatmemory.embedding.embedder import Embedder, EmbedderTag
from chatmemory.errors import DataValidationError, GenericMemoryError, PastChatsError, Problem
from chatmemory.input.rules import (
    any_text_problems,
    choice_problems,
    flag_problems,
    problem_at,
    refuse,
    sequence_problems,
)
from chatmemory.pastchats.contract import PastChatsIndex, PastChatsIndexService
from chatmemory.pastchats.formats.registry import Formats, installed_formats
from chatmemory.pastchats.indexing.history_files import HistoryFiles, HistoryFilesTag
from chatmemory.pastchats.indexing.ingest import Ingest
from chatmemory.pastchats.indexing.record_import import RecordImport
from chatmemory.pastchats.indexing.turn_drafting import source_options
from chatmemory.pastchats.indexing.turn_embedding import BATCH_TEXTS, NO_MODEL, TurnEmbedding
from chatmemory.pastchats.past_chats import IndexProgress, IndexReport, IndexRequest
from chatmemory.pastchats.prompt import EVERYTHING, PromptFilter, TurnKind
from chatmemory.pastchats.prompt_repository import PromptRepository, PromptRepositoryTag
from chatmemory.pastchats.prompt_rules import filter_problems, names_problems, roles_problems
from chatmemory.pastchats.redaction.redaction import Redaction
from chatmemory.settings.past_chats_settings import PastChatsSettings, PastChatsSettingsTag

PROBE: Final = "dimension"  # any word: only an answer shows the dimensions of an embedder

NOTHING_TO_FORGET: Final = "say what is to be forgotten: a source, a project, a conversation, a time ..."


@final
@frozen
class PastChatsIndexLive(PastChatsIndex):
    """The service; ``PastChatsIndex`` documents its methods.  *formats* is called at each run."""

    repository: PromptRepository
    embedder: Embedder
    files: HistoryFiles
    settings: PastChatsSettings
    clock: Clock
    formats: Callable[[], Outcome[Formats, DataValidationError]] = installed_formats

    @Effect.gen
    async def histories(self, do: Do[PastChatsError]) -> Mapping[str, int]:
        known = await do(Effect.from_result(self.formats()))
        exclude = _globs(self.settings.exclude)
        counts = {
            name: await do(self.files.count_known(one.known_roots, exclude=exclude))
            for name, one in known.by_name.items()
        }
        return {name: count for name, count in counts.items() if count}

    @Effect.gen
    async def index(
        self,
        do: Do[PastChatsError],
        request: IndexRequest,
        /,
        *,
        on_progress: Callable[[IndexProgress], None] = lambda _: None,
    ) -> IndexReport:
        refuse(do, _request_problems(request))
        started_at, started = self.clock.now(), self.clock.monotonic()
        known = await do(Effect.from_result(self.formats()))
        named = None if request.format is None else known.by_name.get(request.format)
        if request.format is not None and named is None:
            message = f"no format {request.format!r}; there are {', '.join(known.by_name)}"
            do.fail(DataValidationError((Problem("$.format", message),)))
        formats = tuple(known.by_name.values())
        ingest = Ingest(
            request=request,
            started_at=started_at,
            options=source_options(request, formats, is_redacted=self.settings.redact_secrets),
            formats=formats,
            files=self.files,
            repository=self.repository,
            embedding=TurnEmbedding(self.repository, self.embedder),
            named=named,
            exclude=(*_globs(self.settings.exclude), *request.exclude),
            on_progress=on_progress,
        )
        ingest.tally.issues.add(*known.issues)
        tally = await do(ingest.run())
        report = tally.report(
            redacted=ingest.redaction.total,
            started_at=started_at,
            seconds=self.clock.monotonic() - started,
            is_dry_run=request.is_dry_run,
        )
        if not request.is_dry_run:
            await do(self.repository.record_run(report).alt(GenericMemoryError))
        return report

    def import_records(self, lines: Iterable[bytes], /) -> Effect[IndexReport, PastChatsError]:
        redaction = Redaction() if self.settings.redact_secrets else None
        return RecordImport(self.repository, self.embedder, self.clock, redaction).run(lines)

    def prepare(self) -> Effect[None, PastChatsError]:
        return Effect.succeed(None)  # providing this service has opened the index

    @Effect.gen
    async def re_embed(
        self,
        do: Do[PastChatsError],
        *,
        on_progress: Callable[[int, int], None] = lambda _done, _all: None,
    ) -> int:
        model = self.embedder.model
        if model == NO_MODEL:
            unavailable = self.embedder.unavailability()
            if unavailable is not None:
                do.fail(GenericMemoryError(unavailable))
        embedding = TurnEmbedding(self.repository, self.embedder)
        width = (await do(self.embedder.embed([PROBE]).alt(GenericMemoryError))).shape[1]
        statistics = await do(self.repository.statistics().alt(GenericMemoryError))
        lacking = statistics.embeddings - statistics.models.get(model, 0)
        done = 0
        while True:
            rows = await do(self.repository.without_vector(model, limit=BATCH_TEXTS).alt(GenericMemoryError))
            if not rows:
                return done
            vectors = await do(embedding.rows([content for _, content in rows]))
            matrix = np.zeros((len(rows), width), dtype=np.float32)  # a text that was refused has no features
            for place, vector in enumerate(vectors):
                if vector is not None:
                    matrix[place] = vector
            put = self.repository.re_embed([id_ for id_, _ in rows], matrix, model=model)
            await do(put.alt(GenericMemoryError))
            done += len(rows)
            on_progress(done, max(lacking, done))

    def reindex(self) -> Effect[int, PastChatsError]:
        return self.repository.reindex_words().alt(GenericMemoryError)

    @Effect.gen
    async def forget(
        self,
        do: Do[PastChatsError],
        which: PromptFilter = EVERYTHING,
        /,
        *,
        sources: Sequence[str] = (),
        is_dry_run: bool = False,
    ) -> int:
        is_unlimited = which == EVERYTHING and not sources
        refuse(
            do,
            filter_problems(which),
            names_problems("$.sources", sources),
            flag_problems("$.is_dry_run", is_dry_run),
            problem_at("$", NOTHING_TO_FORGET if is_unlimited else None),
        )
        forgotten = self.repository.forget(which, sources=sources, is_dry_run=is_dry_run)
        return await do(forgotten.alt(GenericMemoryError))

    @Effect.gen
    async def prune(self, do: Do[PastChatsError], *, is_dry_run: bool = False) -> int:
        refuse(do, flag_problems("$.is_dry_run", is_dry_run))
        return await do(self.repository.prune(is_dry_run=is_dry_run).alt(GenericMemoryError))


def _request_problems(request: object) -> list[Problem]:
    if not isinstance(request, IndexRequest):
        return [Problem("$", f"expected IndexRequest, not {type(request).__name__}")]
    return [
        *sequence_problems("$.inputs", request.inputs, _path_problems, of="paths"),
        *([] if request.format is None else any_text_problems("$.format", request.format)),
        *roles_problems("$.roles", request.roles),
        *_kinds_problems(request.kinds),
        *names_problems("$.exclude", request.exclude),
        *flag_problems("$.is_dry_run", request.is_dry_run),
        *flag_problems("$.rereads_all", request.rereads_all),
        *flag_problems("$.names_files", request.names_files),
    ]


def _path_problems(path: str, given: object) -> list[Problem]:
    return [] if isinstance(given, os.PathLike) else any_text_problems(path, given)


def _kinds_problems(kinds: object) -> list[Problem]:
    is_set = isinstance(kinds, frozenset | set)
    listed = sorted(cast("Collection[object]", kinds), key=str) if is_set else kinds
    return sequence_problems("$.kinds", listed, lambda path, kind: choice_problems(path, kind, TurnKind))


def _globs(exclude: str) -> tuple[str, ...]:
    return tuple(glob.strip() for glob in exclude.split(",") if glob.strip())


Requirements: TypeAlias = PromptRepositoryTag | EmbedderTag | HistoryFilesTag | PastChatsSettingsTag


@Effect.gen
async def _assemble(do: Do[Never, Requirements]) -> PastChatsIndex:
    return PastChatsIndexLive(
        repository=do.service(PromptRepositoryTag),
        embedder=do.service(EmbedderTag),
        files=do.service(HistoryFilesTag),
        settings=do.service(PastChatsSettingsTag),
        clock=do.service(ClockTag),
    )


past_chats_index = Layer.effect(
    PastChatsIndexService,
    _assemble(),
    needs=[PromptRepositoryTag, EmbedderTag, HistoryFilesTag, PastChatsSettingsTag],
)
"""The layer of the service, with the formats of all installed distributions."""
