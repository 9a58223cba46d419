"""The services of past chats: ``PastChats`` searches them, ``PastChatsIndex`` writes the index that is searched.

They are two services because a recall before a task must be fast: it needs no files and no chat formats.  For the same
reason the types that only type checkers read are not imported at run time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
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
    """Searches and reads the indexed chats.

    Every method fails with ``DataValidationError`` when an argument is invalid, and with ``GenericMemoryError`` when the
    store fails.
    """

    def search(
        self,
        query: str,
        /,
        *,
        which: PromptFilter = EVERYTHING,
        limit: int = 10,
        mode: SearchMode = "hybrid",
    ) -> Effect[PromptSearchResult, PastChatsError]:
        """Search the turns of past chats.

        Args:
            query: any text.
            which: search only these turns; all of them by default.
            limit: the largest number of hits, 1 or more; above 200 it counts as 200.
            mode: ``hybrid``: by words and by vectors.  ``lexical``: by words only.

        Returns:
            the hits, best first; turns with the same text are one hit.  When the embedder fails, only words are
            compared, and ``reason`` says so.
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
        with_undone: bool = False,
    ) -> Effect[PastRecall, PastChatsError]:
        """Return earlier exchanges about the query as a text block for a model: what worked and what failed.

        Args:
            query: any text, usually the task that begins.
            which: search only these turns; all of them by default.
            limit: the largest number of exchanges, 1 or more.
            tokens: the largest size of the block; None: the configured size.
            without: ids of conversations, and paths of sources, that are left out.  A conversation is named with its
                format (``claude_code:...``) or without it, as a running session knows its own id.
            with_undone: True: also turns that were rolled back, rewound or reverted.
        """
        ...

    def show(
        self, source: str, /, *, before: int = 3, after: int = 3
    ) -> Effect[tuple[Prompt, ...], PastChatsError]:
        """Return the turns around one turn, or the turns of one conversation.

        Args:
            source: a place as ``recall`` and ``search`` print it, ``path#turn``; or the id of a conversation.
            before: how many turns before the named turn; a number below 0 counts as 0.
            after: how many turns after it, in the same way.

        Fails with:
            PromptNotFoundError: nothing is indexed from this source.
        """
        ...

    def conversations(
        self, which: PromptFilter = EVERYTHING, /, *, limit: int = 50, after: str | None = None
    ) -> Effect[PastConversationPage, PastChatsError]:
        """List the conversations that have a turn in *which*, the most recent first.

        Args:
            which: list only conversations with such turns; all of them by default.
            limit: the largest number of conversations on the page, 1 or more; above 200 it counts as 200.
            after: the ``next`` of the page before this one; None: the first page.

        Returns:
            one page.  A conversation that gets a new turn during the walk moves to the front; the others keep their
            order.
        """
        ...

    def turns(
        self, conversation: str, /, *, newer_than: int = -1, limit: int = 100
    ) -> Effect[PastTurnPage, PastChatsError]:
        """Return one page of the turns of a conversation, oldest first, without superseded turns.

        Args:
            conversation: the id of the conversation.
            newer_than: the number of the last turn of the page before this one; -1: begin with the first turn.
            limit: the usual number of turns on the page, 1 or more; above 1000 it counts as 1000.  Turns with the same
                number stay together, so a page may hold a few more.

        Fails with:
            PromptNotFoundError: nothing is indexed from this conversation.
        """
        ...

    def statistics(self) -> Effect[PastChatsStatistics, PastChatsError]:
        """Count the indexed turns, conversations, sources and vectors."""
        ...

    def export(
        self, which: PromptFilter = EVERYTHING, /, *, to: Callable[[JsonObject], None]
    ) -> Effect[int, PastChatsError]:
        """Call *to* with a JSON object for each turn, and return the number of turns.

        Args:
            which: export only these turns; all of them by default.
            to: receives each object; ``PastChatsIndex.import_records`` reads them back.
        """
        ...

    def check(self) -> Effect[tuple[Finding, ...], PastChatsError]:
        """Check the index for defects without writing anything, and return what was found."""
        ...


class PastChatsIndex(Protocol):
    """Writes the index: fills it from histories, rebuilds it, and deletes from it.

    Every method fails with ``DataValidationError`` when an argument is invalid, and with ``GenericMemoryError`` when the
    store fails.
    """

    def prepare(self) -> Effect[None, PastChatsError]:
        """Create the index when there is none, and migrate an older one.  Opening the index does the work."""
        ...

    def histories(self) -> Effect[Mapping[str, int], PastChatsError]:
        """Count the files in the places where known tools keep their histories, by format; it opens no file."""
        ...

    def index(
        self, request: IndexRequest, /, *, on_progress: Callable[[IndexProgress], None] = lambda _: None
    ) -> Effect[IndexReport, PastChatsError]:
        """Read the new and the changed histories into the index.

        Each file is one transaction.  A run that is killed keeps the files that it has finished, and the next run
        continues.  A file that cannot be read is reported and skipped.  The turns of a file that is gone stay.

        Args:
            request: which files to read, and what to keep of them.
            on_progress: called with the progress while files are read; does nothing by default.
        """
        ...

    def re_embed(
        self, *, on_progress: Callable[[int, int], None] = lambda _done, _all: None
    ) -> Effect[int, PastChatsError]:
        """Embed the turns that have no vector of the present model, and return how many were embedded.

        A run that was interrupted continues with the next call.  *on_progress* receives the number of turns done, and of all.
        """
        ...

    def reindex(self) -> Effect[int, PastChatsError]:
        """Rebuild the index of words, and return the number of turns."""
        ...

    def import_records(self, lines: Iterable[bytes], /) -> Effect[IndexReport, PastChatsError]:
        """Import the lines that ``PastChats.export`` wrote; turns that are already stored stay unchanged.

        Secrets are removed in the same way as in ``index``.
        """
        ...

    def forget(
        self,
        which: PromptFilter = EVERYTHING,
        /,
        *,
        sources: Sequence[str] = (),
        is_dry_run: bool = False,
    ) -> Effect[int, PastChatsError]:
        """Delete turns for good, and return how many.  They are not indexed again when their source is read again.

        Args:
            which: delete only turns that match.
            sources: delete only turns of these sources; empty: of any source.
            is_dry_run: count the turns and delete nothing.

        Fails with:
            DataValidationError: *which* and *sources* are both empty.
        """
        ...

    def prune(self, *, is_dry_run: bool = False) -> Effect[int, PastChatsError]:
        """Delete the turns of missing sources and the superseded turns, and return how many; a dry run only counts them."""
        ...


class PastChatsService(Tag[PastChats], given_by="past_chats_stacks.finding(...)"):
    """The tag under which layers provide ``PastChats``."""


class PastChatsIndexService(Tag[PastChatsIndex], given_by="past_chats_stacks.indexing(...)"):
    """The tag under which layers provide ``PastChatsIndex``."""
