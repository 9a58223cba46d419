"""``served_index``: past chats are indexed for a program with an event loop, and only out of folders that a person allows.

Each call has a thread of its own, where it opens the index and closes it again: reading histories is rare.  One call
waits for another.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from contextlib import suppress
from threading import Event
from typing import Any, TypeVar, final

import anyio

from chatmemory.effect import (
    Effect,
    EffectFailed,
    EffectInterrupted,
    Failure,
    Layer,
    Outcome,
    Success,
    ThreadRuntime,
)
from chatmemory.errors import DataValidationError, PastChatsError, Problem
from chatmemory.pastchats.contract import PastChatsIndex, PastChatsIndexService
from chatmemory.pastchats.formats.registry import installed_formats
from chatmemory.pastchats.past_chats import IndexProgress, IndexReport, IndexRequest
from chatmemory.pastchats.prompt import EVERYTHING, PromptFilter
from chatmemory.settings.embedding_settings import EmbeddingSettings
from chatmemory.settings.past_chats_settings import PastChatsSettings
from chatmemory_layers.files.local_files import confined_files
from chatmemory_layers.files.paths import Confinement, folders_of
from chatmemory_layers.server.reopened_index import lifted
from chatmemory_layers.stacks.past_chats import OFFLINE, StackError, indexing, rehearsing

A = TypeVar("A")

THREAD_NAME = "past chats index"


@final
class ServedIndex:
    """The service, asked across threads; its promises stand in ``PastChatsIndex``."""

    def __init__(
        self, settings: PastChatsSettings, embedding: EmbeddingSettings, folders: Sequence[str]
    ) -> None:
        """Keep the index of *settings*; read out of *folders*, and out of those that tools are known to use."""
        self._settings = settings
        self._embedding = embedding
        self._folders = folders
        self._turn = anyio.Lock()

    def prepare(self) -> Effect[None, PastChatsError]:
        """See ``PastChatsIndex.prepare``."""
        return self._ask(lambda index: index.prepare())

    def index(
        self, request: IndexRequest, /, *, on_progress: Callable[[IndexProgress], None] = lambda _: None
    ) -> Effect[IndexReport, PastChatsError]:
        """See ``PastChatsIndex.index``; *on_progress* is called in the thread of the index.

        What lies outside of the folders is refused, and so is a link out of them.  A call that is cancelled ends at its
        next progress, and has kept every file that it had finished.
        """

        async def run() -> Outcome[IndexReport, PastChatsError]:
            is_cancelled = Event()

            def note(progress: IndexProgress) -> None:
                if is_cancelled.is_set():
                    raise asyncio.CancelledError
                on_progress(progress)

            allowed = await anyio.to_thread.run_sync(_allowed, self._folders, bool(request.inputs))
            if isinstance(allowed, Failure):
                return allowed
            if problems := _outside(request.inputs, allowed.unwrap()):
                return Failure(DataValidationError(problems))
            layer_of = rehearsing if request.is_dry_run else indexing
            stack = layer_of(self._settings, self._embedding, files=confined_files(allowed.unwrap()))
            work = self._run(lambda index: index.index(request, on_progress=note), stack)
            return await _told_when_cancelled(work, is_cancelled)

        return Effect.from_outcome(run)

    def re_embed(
        self, *, on_progress: Callable[[int, int], None] = lambda _done, _all: None
    ) -> Effect[int, PastChatsError]:
        """See ``PastChatsIndex.re_embed``."""
        return self._ask(lambda index: index.re_embed(on_progress=on_progress))

    def reindex(self) -> Effect[int, PastChatsError]:
        """See ``PastChatsIndex.reindex``."""
        return self._ask(lambda index: index.reindex())

    def import_records(self, lines: Iterable[bytes], /) -> Effect[IndexReport, PastChatsError]:
        """See ``PastChatsIndex.import_records``; *lines* are read in the thread of the index."""
        return self._ask(lambda index: index.import_records(lines))

    def forget(
        self,
        which: PromptFilter = EVERYTHING,
        /,
        *,
        sources: Sequence[str] = (),
        is_dry_run: bool = False,
    ) -> Effect[int, PastChatsError]:
        """See ``PastChatsIndex.forget``."""
        return self._ask(lambda index: index.forget(which, sources=sources, is_dry_run=is_dry_run))

    def prune(self, *, is_dry_run: bool = False) -> Effect[int, PastChatsError]:
        """See ``PastChatsIndex.prune``."""
        return self._ask(lambda index: index.prune(is_dry_run=is_dry_run))

    def _ask(self, ask: Callable[[PastChatsIndex], Effect[A, PastChatsError]]) -> Effect[A, PastChatsError]:
        stack = indexing(self._settings, self._embedding)  # what reads no histories needs no confinement
        return Effect.from_outcome(lambda: self._run(ask, stack))

    async def _run(
        self,
        ask: Callable[[PastChatsIndex], Effect[A, PastChatsError]],
        stack: Layer[PastChatsIndexService, StackError],
    ) -> Outcome[A, PastChatsError]:
        try:
            async with self._turn, ThreadRuntime(stack, name=THREAD_NAME) as thread:
                return await thread.run(PastChatsIndexService.use(ask))
        except EffectFailed as failed:  # the index could not be opened
            return Failure(lifted(failed.error, self._embedding))


def _allowed(folders: Sequence[str], is_named: bool) -> Outcome[Confinement, DataValidationError]:
    """Add the folders of the known tools, wherever a person has moved them by a link.

    Some tools leave single files in the home folder.  They are looked for by their names there; but whoever names paths
    may not name the home folder for their sake.
    """
    loaded = installed_formats()
    if isinstance(loaded, Failure):
        return loaded
    known = [
        folder
        for one in loaded.unwrap().by_name.values()
        for root in one.known_roots
        for folder in folders_of(root.folder)
    ]
    if is_named:
        known = [folder for folder in known if Confinement([folder]).is_outside("~")]
    return Success(Confinement([*folders, *known]))


async def _told_when_cancelled(work: Coroutine[Any, Any, A], is_cancelled: Event) -> A:
    """Return what *work* returns; set *is_cancelled* as soon as it is cancelled, and wait until it has ended."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        is_cancelled.set()  # for what does not wait over there, and
        task.cancel()  # for what waits
        with anyio.CancelScope(shield=True), suppress(EffectInterrupted, asyncio.CancelledError):
            await task
        raise


def _outside(paths: Sequence[str], confinement: Confinement) -> tuple[Problem, ...]:
    message = "outside of the folders that may be indexed: the person allows more with --allow-index FOLDER"
    return tuple(
        Problem(f"$.paths[{number}]", message)
        for number, path in enumerate(paths)
        if "\0" in path or confinement.is_outside(path)
    )


def served_index(
    settings: PastChatsSettings, embedding: EmbeddingSettings = OFFLINE, *, folders: Sequence[str] = ()
) -> Layer[PastChatsIndexService]:
    """Keep the index that *settings* name; read out of *folders*, and out of those that tools are known to use."""
    return Layer.sync(PastChatsIndexService, lambda: ServedIndex(settings, embedding, folders))
