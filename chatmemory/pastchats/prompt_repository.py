"""``PromptRepository``: stores the turns of past chats.

A turn is one row, found by the hash of its identity; it always has exactly one embedding and one entry in the index of
words.  Every method is one transaction.  Types that only type checkers read are not imported: see ``past_chats.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
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
"""The largest number of candidates of one search."""


@final
@frozen
class PromptSearch:
    """A query for turns.

    Attributes:
        text: the query as the caller wrote it.
        terms: its words, in lower case, letters and digits only, as ``pastchats.prompt_terms`` splits them.
        vector: the vector of the query, of length 1; None: only words are compared.
        model: the embedder of *vector*.
    """

    text: str
    terms: tuple[str, ...]
    vector: Sequence[float] | None = None
    model: str = ""
    filter: PromptFilter = EVERYTHING


@final
@frozen(slots=False)
class PromptCandidate:
    """A turn that may become a hit.

    Attributes:
        lexical: the bm25 score of the words that the turn shares with the query, 0 for none; greater is better.
        similarity: the cosine with the query, with the precision of stored vectors; None unless both have a vector.
    """

    prompt: Prompt
    lexical: float
    similarity: float | None


@final
@frozen
class PromptCandidates:
    """The result of a search, in any order: the best turns by words, the best by vectors, and the turns next to them.

    Attributes:
        matched_text: no turn shares a word and there is no vector, so these turns contain the text of the query.
        unembedded: how many turns that match the filter have no vector of the query's model.
    """

    found: tuple[PromptCandidate, ...]
    matched_text: bool = False
    unembedded: int = 0


@final
@frozen(slots=False, kw_only=True)
class PromptRecord:
    """A turn with all its data, for export and import."""

    draft: PromptDraft
    created_at: datetime


class PromptRepository(Protocol):
    """Stores and finds turns."""

    # --- indexing: stage what a source holds, then commit it at once ---

    def sources(self) -> Effect[Mapping[str, SourceState], RepositoryError]:
        """Return the state of every source, by name."""
        ...

    def unchanged(self, hashes: Mapping[str, str], /) -> Effect[frozenset[str], RepositoryError]:
        """Return the identities that are stored with exactly the given text; *hashes* maps identities to hashes of texts."""
        ...

    def unembedded(
        self, text_hashes: Sequence[str], model: str, /
    ) -> Effect[frozenset[str], RepositoryError]:
        """Return the hashes of those texts for which no stored and no staged turn has a vector of *model*."""
        ...

    def stage(
        self, turns: Sequence[PromptDraft], vectors: Mapping[str, Vector], /, *, model: str
    ) -> Effect[None, RepositoryError]:
        """Stage turns of one source: store them where no reader sees them until ``commit_source``.

        Of two turns with one identity the later one counts.  *vectors* has a vector of *model* by the hash of each text
        that ``unembedded`` returned.
        """
        ...

    def commit_source(
        self,
        state: SourceState,
        /,
        *,
        roles: Collection[Role] = (),
        kinds: Collection[TurnKind] = (),
        redacted: Callable[[PromptDraft], PromptDraft] | None = None,
    ) -> Effect[SourceChanges, RepositoryError]:
        """Store the staged turns and *state* in one transaction, and clear the staging area.

        A staged turn that another source already brought is stored once: with the longer text, and with this source as an
        alias in its metadata.  Turns that this source brought earlier and no longer holds are marked as superseded.  A source
        that was not read completely may still hold them, so none of its turns are marked.

        When the status of *state* is ``imported``, the turns come from an export and not from the source itself: turns that are
        already stored stay unchanged, and forgotten turns come back.

        Args:
            state: the state of the source.
            roles: mark only turns of these roles, those that were read; empty: of all roles.
            kinds: mark only turns of these kinds, those that were read; empty: of all kinds.
            redacted: removes the secrets of a turn, for those that were stored from this source and were not read now; a
                turn without an id that was read now without its secret is deleted.  None: nothing is redacted.
        """
        ...

    def redact_source(
        self, state: SourceState, redacted: Callable[[PromptDraft], PromptDraft], /
    ) -> Effect[None, RepositoryError]:
        """Replace each stored turn of a source by what *redacted* returns for it, and store *state*; nothing is staged."""
        ...

    def discard(self) -> Effect[None, RepositoryError]:
        """Delete the staged turns."""
        ...

    def mark_missing(self, sources: Sequence[str], /) -> Effect[Mapping[str, str], RepositoryError]:
        """Record that these sources no longer exist; their turns stay.

        Turns that another source also holds are assigned to that source.  A source that keeps no turn of its own has
        moved, and is deleted; so is a source whose turns are the beginning of a later source.

        Returns:
            the new place of each source that has moved.
        """
        ...

    def record_run(self, report: IndexReport, /) -> Effect[None, RepositoryError]:
        """Add a row to ``index_runs``."""
        ...

    # --- searching ---

    def candidates(self, search: PromptSearch, /) -> Effect[PromptCandidates, RepositoryError]:
        """Return the turns that may become hits, at most ``MOST_CANDIDATES``."""
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
        """Return *prompt* with at most *before* turns of its conversation before it and *after* turns after it, in order."""
        ...

    def turns(
        self, source: str, /, *, turn_index: int | None = None, limit: int
    ) -> Effect[tuple[Prompt, ...], RepositoryError]:
        """Return turns of a source, or of the conversation with this id, in their order.

        With *turn_index*, only the turn with this number.
        """
        ...

    def conversations(
        self, which: PromptFilter, /, *, limit: int, after: str | None = None
    ) -> Effect[PastConversationPage, RepositoryError]:
        """Return conversations that have a turn in *which*, the most recent first; those without a time come last.

        *after* is the ``next`` of the page before; None: the first page.
        """
        ...

    def conversation_turns(
        self, conversation_id: str, /, *, newer_than: int = -1, limit: int
    ) -> Effect[PastTurnPage | None, RepositoryError]:
        """Return turns of a conversation that are not superseded and have a greater number than *newer_than*.

        None: it has none.  Turns with the same number stay together, so there may be a few more than *limit*.
        """
        ...

    def statistics(self) -> Effect[PastChatsStatistics, RepositoryError]:
        """Count the stored turns, conversations, sources and vectors."""
        ...

    def check(self, model: str, /) -> Effect[tuple[Finding, ...], RepositoryError]:
        """Look for damage, inconsistencies, and vectors of other models than *model*; write nothing."""
        ...

    # --- maintenance ---

    def records(self, which: PromptFilter, /) -> Iterator[PromptRecord]:
        """Yield every turn in *which* with all that an import needs, reading a few at a time.

        Raises:
            EffectFailed: with ``RepositoryError``, the store cannot be read.
        """
        ...

    def forget(
        self, which: PromptFilter, /, *, sources: Sequence[str] = (), is_dry_run: bool = False
    ) -> Effect[int, RepositoryError]:
        """Delete turns with all their data, as ``PastChatsIndex.forget``; an import brings them back."""
        ...

    def prune(self, *, is_dry_run: bool = False) -> Effect[int, RepositoryError]:
        """Delete the turns of missing sources and the superseded turns, as ``PastChatsIndex.prune``."""
        ...

    def reindex_words(self) -> Effect[int, RepositoryError]:
        """Rebuild the index of words from the turns; return how many."""
        ...

    def without_vector(
        self, model: str, /, *, limit: int
    ) -> Effect[tuple[tuple[int, str], ...], RepositoryError]:
        """Return the rows and contents of turns whose vector is not of *model*, at most *limit*."""
        ...

    def re_embed(
        self, ids: Sequence[int], vectors: Matrix, /, *, model: str
    ) -> Effect[None, RepositoryError]:
        """Replace the vectors of the rows *ids*: a vector of *model* for each, shape ``(count, dim)``."""
        ...


class PromptRepositoryTag(Tag[PromptRepository]):
    """The tag under which layers provide ``PromptRepository``."""
