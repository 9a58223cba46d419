"""``served_past_chats``: past chats that run in a worker thread, so that they never block the event loop of a program.

The index need not exist when the program starts, see ``ReopenedIndex``.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, asynccontextmanager
from functools import partial, wraps
from typing import Any, TypeVar, cast, final

from attrs import define

from chatmemory.effect import (
    Effect,
    EffectFailed,
    Failure,
    Layer,
    ManagedRuntime,
    Outcome,
    Tag,
    ThreadRuntime,
)
from chatmemory.errors import ConfigError, EmbeddingError, GenericMemoryError, PastChatsError, RepositoryError
from chatmemory.pastchats.contract import PastChats, PastChatsService
from chatmemory.settings.embedding_settings import EmbeddingSettings
from chatmemory.settings.past_chats_settings import PastChatsSettings
from chatmemory_layers.sqlite.engine.file_connection import find_again
from chatmemory_layers.sqlite.prompts.prompt_store import store_path
from chatmemory_layers.stacks.past_chats import OFFLINE, finding

A = TypeVar("A")

THREAD_NAME = "past chats"


@final
@define(eq=False)
class _Opened:
    """An open index file and the number of effects that use it now."""

    runtime: ManagedRuntime[PastChatsService]
    is_there: Callable[[], bool]
    users: int = 0


@final
class ReopenedIndex:
    """Runs effects on the index that the settings name.  It belongs to one event loop.

    The file is opened at its first use, and opened again when it is replaced: a person may create, move or restore it while
    a server runs, and SQLite itself does not notice.
    """

    def __init__(self, settings: PastChatsSettings, embedding: EmbeddingSettings) -> None:
        self._settings = settings
        self._embedding = embedding
        self._opened: _Opened | None = None
        self._turn = asyncio.Lock()

    def ask(self, effect: Effect[A, PastChatsError, PastChatsService]) -> Effect[A, PastChatsError]:
        """Run *effect* on the present file of the index; while the file is missing, it fails with ``missing``."""
        return Effect.from_outcome(partial(self._run, effect))

    async def _run(self, effect: Effect[A, PastChatsError, PastChatsService]) -> Outcome[A, PastChatsError]:
        async with self._turn:
            # A caller that was cancelled while it waited for the lock gets no index.
            await asyncio.sleep(0)
            try:
                opened = await self._present()
            except EffectFailed as failed:
                return Failure(failure_of_opening(failed.error, self._embedding))
            opened.users += 1
        try:
            return await opened.runtime.run(effect)
        finally:
            opened.users -= 1
            if self._is_over(opened):
                await opened.runtime.__aexit__(None, None, None)

    async def aclose(self) -> None:
        """Close the file as soon as no effect uses it."""
        opened, self._opened = self._opened, None
        if opened is not None and self._is_over(opened):
            await opened.runtime.__aexit__(None, None, None)

    async def _present(self) -> _Opened:
        if self._opened is None or not self._opened.is_there():
            await self.aclose()
            self._opened = await self._open()
        return self._opened

    async def _open(self) -> _Opened:
        # In this order: when the file is replaced between the two, the next call sees it.
        is_there = _find_again(self._settings)
        runtime = ManagedRuntime(finding(self._settings, self._embedding))
        await runtime.__aenter__()
        return _Opened(runtime, is_there)

    def _is_over(self, opened: _Opened) -> bool:
        """Whether the file is to be closed, and no effect uses it any more."""
        return opened is not self._opened and not opened.users


class ReopenedIndexTag(Tag[ReopenedIndex]):
    """The tag under which ``reopened_index`` provides the index of past chats."""


def reopened_index(settings: PastChatsSettings, embedding: EmbeddingSettings) -> Layer[ReopenedIndexTag]:
    """Return the layer of the index that *settings* name, even if its file appears or is replaced later."""
    return Layer.scoped(ReopenedIndexTag, lambda: aclosing(ReopenedIndex(settings, embedding)))


def failure_of_opening(error: object, embedding: EmbeddingSettings) -> PastChatsError:
    """Return the failure of a service whose stack could not be built because of *error*."""
    match error:
        case RepositoryError():
            return GenericMemoryError(error)
        case ConfigError():  # an error of the embedder: the settings of the store cannot be wrong
            model = embedding.model or embedding.provider
            return GenericMemoryError(EmbeddingError(model, "not_configured", str(error)))
        case _:
            raise EffectFailed(error)


def _find_again(settings: PastChatsSettings) -> Callable[[], bool]:
    try:
        return find_again(store_path(settings))
    except OSError:  # opening the file reports it better
        return lambda: False


@final
class ServedPastChats:
    """Runs the methods of ``PastChats`` in another thread; see there for what they promise."""

    def __init__(self, thread: ThreadRuntime[ReopenedIndexTag]) -> None:
        self._thread = thread

    def __getattr__(self, name: str) -> Callable[..., Effect[Any, PastChatsError]]:
        """Return the method *name* of ``PastChats``."""

        @wraps(getattr(PastChats, name))
        def method(*args: Any, **named: Any) -> Effect[Any, PastChatsError]:
            asked = PastChatsService.use(lambda chats: getattr(chats, name)(*args, **named))
            return Effect.from_outcome(
                partial(self._thread.run, ReopenedIndexTag.use(lambda index: index.ask(asked)))
            )

        return method


@asynccontextmanager
async def _open_served(
    settings: PastChatsSettings, embedding: EmbeddingSettings
) -> AsyncGenerator[PastChats]:
    async with ThreadRuntime(reopened_index(settings, embedding), name=THREAD_NAME) as thread:
        yield cast("PastChats", ServedPastChats(thread))  # it has every method, which no type checker sees


def served_past_chats(
    settings: PastChatsSettings, embedding: EmbeddingSettings = OFFLINE
) -> Layer[PastChatsService]:
    """Return a layer that searches the index of *settings*, as soon as it exists, and writes nothing."""
    return Layer.scoped(PastChatsService, partial(_open_served, settings, embedding))
