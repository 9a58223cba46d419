"""``PromptRepository``: where the turns of past chats are kept.

A turn is one row, found by the hash of its identity; it always has exactly one embedding and one entry in the index of
words.  Methods are whole transactions.  Types that only type checkers read are not loaded: see ``past_chats.py``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final, Protocol, final

from attrs import frozen

from chatmemory.effect import Effect, Tag
from chatmemory.pastchats.prompt import EVERYTHING, Prompt, PromptFilter

if TYPE_CHECKING:
    from chatmemory.embedding.embedder import Matrix, Vector
    from chatmemory.errors import RepositoryError
    from chatmemory.input.choices import Role
    from chatmemory.pastchats.indexing.prompt_drafts import PromptDraft, SourceChanges, SourceState
    from chatmemory.pastchats.past_chats import (
        Finding,
        IndexReport,
        PastChatsStatistics,
        PastConversationPage,
        PastTurnPage,
    )
    from chatmemory.pastchats.prompt import TurnKind

MOST_CANDIDATES: Final = 500
"""That one search looks at."""


@final
@frozen
class PromptSearch:
    """What is looked for.

    Attributes:
        text: as it was asked.
        terms: its words, in lower case, letters and digits only, as ``pastchats.prompt_terms`` cuts them.
        vector: of the query, of length 1; None: only words count.
        model: whose vector it is.
    """

    text: str
    terms: tuple[str, ...]
    vector: Sequence[float] | None = None
    model: str = ""
    filter: PromptFilter = EVERYTHING


@final
@frozen(slots=False)
class PromptCandidate:
    """A turn that may be a hit.

    Attributes:
        lexical: bm25 of the words that it shares with the query, 0 for none; greater is better.
        similarity: cosine with the query, exact up to the precision of stored vectors; None without two vectors.
    """

    prompt: Prompt
    lexical: float
    similarity: float | None


@final
@frozen
class PromptCandidates:
    """What a search has found, in any order: the best by words, the best by vectors, and the turns beside them.

    Attributes:
        matched_text: no turn shares a word and there is no vector; these contain the text of the query.
        unembedded: turns in reach that have no vector of the query's model.
    """

    found: tuple[PromptCandidate, ...]
    matched_text: bool = False
    unembedded: int = 0


@final
@frozen(slots=False, kw_only=True)
class PromptRecord:
    """A turn with all that belongs to it, for export and import."""

    draft: PromptDraft
    created_at: datetime


class PromptRepository(Protocol):
    """Keeps and finds turns."""

    # --- indexing: stage what a source holds, then commit it at once ---

    def sources(self) -> Effect[Mapping[str, SourceState], RepositoryError]:
        """Return what is known of every source, by its name."""
        ...

    def unchanged(self, hashes: Mapping[str, str], /) -> Effect[frozenset[str], RepositoryError]:
        """Of identities with the hashes of their texts, return those that are kept with that very text."""
        ...

    def unembedded(
        self, text_hashes: Sequence[str], model: str, /
    ) -> Effect[frozenset[str], RepositoryError]:
        """Return those texts of which neither a kept nor a staged turn has a vector of *model*."""
        ...

    def stage(
        self, turns: Sequence[PromptDraft], vectors: Mapping[str, Vector], /, *, model: str
    ) -> Effect[None, RepositoryError]:
        """Put turns of one source aside, invisibly; *vectors* by text hash, those that ``unembedded`` named.

        Of two turns of one identity the later one counts.
        """
        ...

    def commit_source(
        self,
        state: SourceState,
        /,
        *,
        roles: Collection[Role] = (),
        kinds: Collection[TurnKind] = (),
        keeps_superseded: bool = True,
    ) -> Effect[SourceChanges, RepositoryError]:
        """Make the store hold what was staged, with *state*, in one transaction; then nothing is staged.

        A staged identity that another source brought is kept once: with the longer text, and with this source as an
        alias in its metadata.  Turns that this source brought and no longer holds are marked superseded, of the *roles*
        and *kinds* that were looked for (none: all of them); a source that was not read whole may still hold them, and
        loses none.  Without *keeps_superseded* they are deleted, also those that were superseded before.

        ``imported`` says that the turns do not come from the source itself but from an export of it: what is there stays
        as it is, and what was forgotten comes back.
        """
        ...

    def discard(self) -> Effect[None, RepositoryError]:
        """Forget what was staged."""
        ...

    def mark_missing(self, sources: Sequence[str], /) -> Effect[None, RepositoryError]:
        """Note that these sources are gone; their turns stay."""
        ...

    def record_run(self, report: IndexReport, /) -> Effect[None, RepositoryError]:
        """Add a row to ``index_runs``."""
        ...

    # --- searching ---

    def candidates(self, search: PromptSearch, /) -> Effect[PromptCandidates, RepositoryError]:
        """Return what may be a hit, ``MOST_CANDIDATES`` at most."""
        ...

    def with_texts(
        self, text_hashes: Sequence[str], /
    ) -> Effect[Mapping[str, tuple[str, ...]], RepositoryError]:
        """Return the conversations in which each text occurs."""
        ...

    # --- reading ---

    def around(
        self, prompt: Prompt, /, *, before: int, after: int
    ) -> Effect[tuple[Prompt, ...], RepositoryError]:
        """Return *prompt* with the turns of its conversation before and after it, in their order."""
        ...

    def turns(
        self, source: str, /, *, turn_index: int | None = None, limit: int
    ) -> Effect[tuple[Prompt, ...], RepositoryError]:
        """Return turns of a source, or of a conversation of that id, in their order; *turn_index*: that one only."""
        ...

    def conversations(
        self, which: PromptFilter, /, *, limit: int, after: str | None = None
    ) -> Effect[PastConversationPage, RepositoryError]:
        """Return conversations that hold turns which are meant, last said first; those without a time come last.

        *after*: a cursor of ``pastchats.conversation_cursor``.
        """
        ...

    def conversation_turns(
        self, conversation_id: str, /, *, newer_than: int = -1, limit: int
    ) -> Effect[PastTurnPage | None, RepositoryError]:
        """Return the turns behind the index *newer_than* that are not superseded; None: of this conversation are none.

        Turns of one index stay together, also beyond *limit*.
        """
        ...

    def statistics(self) -> Effect[PastChatsStatistics, RepositoryError]:
        """Count what is kept."""
        ...

    def check(self, model: str, /) -> Effect[tuple[Finding, ...], RepositoryError]:
        """Look for damage, for what is out of step, and for vectors of other models than *model*; write nothing."""
        ...

    # --- maintenance ---

    def records(self, which: PromptFilter, /) -> Iterator[PromptRecord]:
        """Yield every turn, with all that an import needs, a few at a time.

        Raises:
            EffectFailed: with ``RepositoryError``, the store cannot be read.
        """
        ...

    def forget(
        self, which: PromptFilter, /, *, sources: Sequence[str] = (), is_dry_run: bool = False
    ) -> Effect[int, RepositoryError]:
        """Delete turns with all that belongs to them, and return how many; *sources* narrows to these.

        What was forgotten is not indexed again, also when its source is read anew; an import brings it back.
        """
        ...

    def prune(self, *, is_dry_run: bool = False) -> Effect[int, RepositoryError]:
        """Delete the turns of sources that are missing, and those that are superseded; return how many."""
        ...

    def reindex_words(self) -> Effect[int, RepositoryError]:
        """Build the index of words anew from the turns; return how many."""
        ...

    def without_vector(
        self, model: str, /, *, limit: int
    ) -> Effect[tuple[tuple[int, str], ...], RepositoryError]:
        """Return rows and contents of turns whose vector is of another model than *model*."""
        ...

    def re_embed(
        self, ids: Sequence[int], vectors: Matrix, /, *, model: str
    ) -> Effect[None, RepositoryError]:
        """Put vectors of *model* in the place of the former ones."""
        ...


class PromptRepositoryTag(Tag[PromptRepository]):
    """The tag under which layers provide ``PromptRepository``."""
