"""``served_index``: indexes past chats for a program with an event loop, only from folders that a person allows.

Each call opens the index in its own worker thread and closes it afterwards, because histories are read rarely.  Calls run
one after the other.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from functools import wraps
from threading import Event
from typing import Any, TypeVar, cast, final

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
from chatmemory.settings.embedding_settings import EmbeddingSettings
from chatmemory.settings.past_chats_settings import PastChatsSettings
from chatmemory_layers.files.local_files import files_inside
from chatmemory_layers.files.paths import AllowedFolders, folders_of
from chatmemory_layers.server.served_past_chats import failure_of_opening
from chatmemory_layers.stacks.past_chats import StackError, dry_run, indexing

A = TypeVar("A")

THREAD_NAME = "past chats index"


@final
class ServedIndex:
    """Runs the methods of ``PastChatsIndex`` in other threads; see there for what they promise."""

    def __init__(
        self, settings: PastChatsSettings, embedding: EmbeddingSettings, folders: Sequence[str]
    ) -> None:
        """Use the index of *settings*; read from *folders*, and from those that known tools use."""
        self._settings = settings
        self._embedding = embedding
        self._folders = folders
        self._turn = anyio.Lock()

    def index(
        self, request: IndexRequest, /, *, on_progress: Callable[[IndexProgress], None] = lambda _: None
    ) -> Effect[IndexReport, PastChatsError]:
        """Index the files of *request*; *on_progress* is called in the thread of the index.

        Paths outside the folders are refused, and so are links that lead out of them.  A cancelled call ends at its next
        progress report; every file that was finished stays in the index.
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
            layer_of = dry_run if request.is_dry_run else indexing
            stack = layer_of(self._settings, self._embedding, files=files_inside(allowed.unwrap()))
            work = self._run(lambda index: index.index(request, on_progress=note), stack)
            return await _told_when_cancelled(work, is_cancelled)

        return Effect.from_outcome(run)

    def __getattr__(self, name: str) -> Callable[..., Effect[Any, PastChatsError]]:
        """Return the method *name* of ``PastChatsIndex``; none but ``index`` reads histories."""

        @wraps(getattr(PastChatsIndex, name))
        def method(*args: Any, **named: Any) -> Effect[Any, PastChatsError]:
            stack = indexing(self._settings, self._embedding)
            return Effect.from_outcome(
                lambda: self._run(lambda index: getattr(index, name)(*args, **named), stack)
            )

        return method

    async def _run(
        self,
        ask: Callable[[PastChatsIndex], Effect[A, PastChatsError]],
        stack: Layer[PastChatsIndexService, StackError],
    ) -> Outcome[A, PastChatsError]:
        try:
            async with self._turn, ThreadRuntime(stack, name=THREAD_NAME) as thread:
                return await thread.run(PastChatsIndexService.use(ask))
        except EffectFailed as failed:  # the index could not be opened
            return Failure(failure_of_opening(failed.error, self._embedding))


def _allowed(folders: Sequence[str], is_named: bool) -> Outcome[AllowedFolders, DataValidationError]:
    """Return *folders* and the folders of the known tools, even if a person has moved the latter by a link.

    Some tools leave single files in the home folder.  They are searched there by name, but a caller that names paths may
    not name the home folder.
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
        known = [folder for folder in known if AllowedFolders([folder]).is_outside("~")]
    return Success(AllowedFolders([*folders, *known]))


async def _told_when_cancelled(work: Coroutine[Any, Any, A], is_cancelled: Event) -> A:
    """Return the result of *work*; set *is_cancelled* as soon as this call is cancelled, then wait until *work* has ended."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        is_cancelled.set()  # stops work that runs in the thread
        task.cancel()  # stops work that waits
        with anyio.CancelScope(shield=True), suppress(EffectInterrupted, asyncio.CancelledError):
            await task
        raise


def _outside(paths: Sequence[str], allowed: AllowedFolders) -> tuple[Problem, ...]:
    message = "outside of the folders that may be indexed: the person allows more with --allow-index FOLDER"
    return tuple(
        Problem(f"$.paths[{number}]", message)
        for number, path in enumerate(paths)
        if "\0" in path or allowed.is_outside(path)
    )


def served_index(
    settings: PastChatsSettings, embedding: EmbeddingSettings, *, folders: Sequence[str]
) -> Layer[PastChatsIndexService]:
    """Return a layer of the index that *settings* name; *embedding* is the embedder that makes its vectors.

    Histories may be read from *folders*, besides the folders of the known tools.
    """
    # It has every method, which no type checker sees.
    return Layer.sync(
        PastChatsIndexService, lambda: cast("PastChatsIndex", ServedIndex(settings, embedding, folders))
    )
