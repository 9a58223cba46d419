"""The services of past chats: ``PastChats`` finds what was said before, ``PastChatsIndex`` keeps the index true.

They are two because a recall before a task must be over in a moment: it needs neither files nor formats.  For its sake,
too, the types that only type checkers read are not loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from chatmemory.effect import Effect, Tag
from chatmemory.pastchats.prompt import EVERYTHING, Prompt, PromptFilter

if TYPE_CHECKING:
    from chatmemory.errors import PastChatsError
    from chatmemory.input.json_value import JsonObject
    from chatmemory.pastchats.finding.prompt_hits import PastRecall, PromptSearchResult
    from chatmemory.pastchats.past_chats import (
        Finding,
        IndexProgress,
        IndexReport,
        IndexRequest,
        PastChatsStatistics,
        PastConversationPage,
        PastTurnPage,
    )

SearchMode: TypeAlias = Literal["hybrid", "lexical"]


class PastChats(Protocol):
    """Finds what was said before."""

    def search(
        self,
        query: str,
        /,
        *,
        which: PromptFilter = EVERYTHING,
        limit: int = 10,
        mode: SearchMode = "hybrid",
    ) -> Effect[PromptSearchResult, PastChatsError]:
        """Return the turns that *query* means, best first; text of any kind is a query.

        Turns with the very same text are one hit.  With an embedder that fails, words alone decide, and the result
        says so.
        """
        ...

    def recall(
        self,
        query: str,
        /,
        *,
        which: PromptFilter = EVERYTHING,
        limit: int = 5,
        tokens: int | None = None,
        without: Sequence[str] = (),
    ) -> Effect[PastRecall, PastChatsError]:
        """Return what worked and what failed before, as a block that a model can be given; *tokens* at most.

        What the conversations and sources named in *without* hold is left out; a conversation by its id with or
        without its format, as a running session knows itself.
        """
        ...

    def show(
        self, source: str, /, *, before: int = 3, after: int = 3
    ) -> Effect[tuple[Prompt, ...], PastChatsError]:
        """Return the turns around a source as ``recall`` and ``search`` name it: ``path#turn``, or a conversation's id.

        Fails with ``PromptNotFoundError`` for a source that is not indexed.
        """
        ...

    def conversations(
        self, which: PromptFilter = EVERYTHING, /, *, limit: int = 50, after: str | None = None
    ) -> Effect[PastConversationPage, PastChatsError]:
        """Return the conversations that hold turns which are meant, last said first; *after*: ``next`` of another page.

        One in which something is said meanwhile comes first on a new first page; the others keep their order.
        """
        ...

    def turns(
        self, conversation: str, /, *, newer_than: int = -1, limit: int = 100
    ) -> Effect[PastTurnPage, PastChatsError]:
        """Return the turns of a conversation, named by its id: from its start, or those behind the turn *newer_than*.

        Those that were superseded are left out; those of one number stay together, so a page may be longer by them.
        Fails with ``PromptNotFoundError`` for a conversation of which nothing is kept.
        """
        ...

    def statistics(self) -> Effect[PastChatsStatistics, PastChatsError]:
        """Count what is kept."""
        ...

    def export(
        self, which: PromptFilter = EVERYTHING, /, *, to: Callable[[JsonObject], None]
    ) -> Effect[int, PastChatsError]:
        """Give *to* a JSON object for each turn, which ``PastChatsIndex.import_records`` takes; return how many."""
        ...

    def check(self) -> Effect[tuple[Finding, ...], PastChatsError]:
        """Look after the index without writing anything."""
        ...


class PastChatsIndex(Protocol):
    """Keeps the index true."""

    def prepare(self) -> Effect[None, PastChatsError]:
        """Do nothing but what opening the index does: make it where there is none, and migrate it."""
        ...

    def index(
        self, request: IndexRequest, /, *, on_progress: Callable[[IndexProgress], None] = lambda _: None
    ) -> Effect[IndexReport, PastChatsError]:
        """Read what is new or changed in histories.

        Each file is one transaction: a run that is killed has kept every file that it had finished, and the next run
        goes on.  One bad file stops nothing.  A file that is gone loses no turns.
        """
        ...

    def re_embed(
        self, *, on_progress: Callable[[int, int], None] = lambda _done, _all: None
    ) -> Effect[int, PastChatsError]:
        """Make the vectors of the present model where another one's are; goes on where it was interrupted."""
        ...

    def reindex(self) -> Effect[int, PastChatsError]:
        """Build the index of words anew; return the number of turns."""
        ...

    def import_records(self, lines: Iterable[bytes], /) -> Effect[IndexReport, PastChatsError]:
        """Take in what ``PastChats.export`` wrote; what is there already stays as it is."""
        ...

    def forget(
        self,
        which: PromptFilter = EVERYTHING,
        /,
        *,
        sources: Sequence[str] = (),
        is_dry_run: bool = False,
    ) -> Effect[int, PastChatsError]:
        """Delete turns, and return how many; with neither it is refused."""
        ...

    def prune(self, *, is_dry_run: bool = False) -> Effect[int, PastChatsError]:
        """Delete the turns of sources that are gone, and those that their sources no longer hold."""
        ...


class PastChatsService(Tag[PastChats], given_by="past_chats_stacks.finding(...)"):
    """Where layers provide ``PastChats``."""


class PastChatsIndexService(Tag[PastChatsIndex], given_by="past_chats_stacks.indexing(...)"):
    """Where layers provide ``PastChatsIndex``."""
