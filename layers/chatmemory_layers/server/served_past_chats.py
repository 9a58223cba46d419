"""``served_past_chats``: past chats for a program with an event loop, which they never block.

They run in a worker thread.  The index need not exist when the program starts: see ``reopened_index.py``.
"""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import TypeVar, final

from chatmemory.effect import Effect, Layer, ThreadRuntime
from chatmemory.errors import PastChatsError
from chatmemory.input.json_value import JsonObject
from chatmemory.pastchats.contract import PastChats, PastChatsService, SearchMode
from chatmemory.pastchats.finding.prompt_hits import PastRecall, PromptSearchResult
from chatmemory.pastchats.past_chats import Finding, PastChatsStatistics, PastConversationPage, PastTurnPage
from chatmemory.pastchats.prompt import EVERYTHING, Prompt, PromptFilter
from chatmemory.settings.embedding_settings import EmbeddingSettings
from chatmemory.settings.past_chats_settings import PastChatsSettings
from chatmemory_layers.server.reopened_index import ReopenedIndexTag, reopened_index
from chatmemory_layers.stacks.past_chats import OFFLINE

A = TypeVar("A")

THREAD_NAME = "past chats"


@final
class ServedPastChats(PastChats):
    """Runs ``PastChats`` in another thread; see there for its promises."""

    def __init__(self, thread: ThreadRuntime[ReopenedIndexTag]) -> None:
        """Use the index that is open in *thread*."""
        self._thread = thread

    def search(
        self,
        query: str,
        /,
        *,
        which: PromptFilter = EVERYTHING,
        limit: int = 10,
        mode: SearchMode = "hybrid",
    ) -> Effect[PromptSearchResult, PastChatsError]:
        return self._ask(lambda chats: chats.search(query, which=which, limit=limit, mode=mode))

    def recall(
        self,
        query: str,
        /,
        *,
        which: PromptFilter = EVERYTHING,
        limit: int = 5,
        tokens: int | None = None,
        without: Sequence[str] = (),
        with_undone: bool = False,
    ) -> Effect[PastRecall, PastChatsError]:
        return self._ask(
            lambda chats: chats.recall(
                query, which=which, limit=limit, tokens=tokens, without=without, with_undone=with_undone
            )
        )

    def show(
        self, source: str, /, *, before: int = 3, after: int = 3
    ) -> Effect[tuple[Prompt, ...], PastChatsError]:
        return self._ask(lambda chats: chats.show(source, before=before, after=after))

    def conversations(
        self, which: PromptFilter = EVERYTHING, /, *, limit: int = 50, after: str | None = None
    ) -> Effect[PastConversationPage, PastChatsError]:
        return self._ask(lambda chats: chats.conversations(which, limit=limit, after=after))

    def turns(
        self, conversation: str, /, *, newer_than: int = -1, limit: int = 100
    ) -> Effect[PastTurnPage, PastChatsError]:
        return self._ask(lambda chats: chats.turns(conversation, newer_than=newer_than, limit=limit))

    def statistics(self) -> Effect[PastChatsStatistics, PastChatsError]:
        return self._ask(lambda chats: chats.statistics())

    def export(
        self, which: PromptFilter = EVERYTHING, /, *, to: Callable[[JsonObject], None]
    ) -> Effect[int, PastChatsError]:
        return self._ask(lambda chats: chats.export(which, to=to))

    def check(self) -> Effect[tuple[Finding, ...], PastChatsError]:
        return self._ask(lambda chats: chats.check())

    def _ask(self, ask: Callable[[PastChats], Effect[A, PastChatsError]]) -> Effect[A, PastChatsError]:
        asked = ReopenedIndexTag.use(lambda index: index.ask(PastChatsService.use(ask)))
        return Effect.from_outcome(partial(self._thread.run, asked))


@asynccontextmanager
async def _open_served(
    settings: PastChatsSettings, embedding: EmbeddingSettings
) -> AsyncGenerator[PastChats]:
    async with ThreadRuntime(reopened_index(settings, embedding), name=THREAD_NAME) as thread:
        yield ServedPastChats(thread)


def served_past_chats(
    settings: PastChatsSettings, embedding: EmbeddingSettings = OFFLINE
) -> Layer[PastChatsService]:
    """Return a layer that searches the index of *settings*, as soon as it exists, and writes nothing.

    Args:
        settings: say where the index is, and how large a recall may be.
        embedding: the embedder with which the vectors were made.
    """
    return Layer.scoped(PastChatsService, partial(_open_served, settings, embedding))
