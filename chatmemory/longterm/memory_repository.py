"""``MemoryRepository``: what keeps memories, and the values that go in and out of it.

It stores, filters and finds candidates; what a candidate is worth is decided above it, by the ranking of recall, so
that every backend ranks alike.
"""

from __future__ import annotations

from datetime import datetime
from typing import Protocol, final

from attrs import field, frozen

from chatmemory.effect import Effect, Tag
from chatmemory.embedding.embedder import Vector
from chatmemory.embedding.space import EmbeddingSpace
from chatmemory.errors import MemoryChangedError, MemoryStoreError, RepositoryError
from chatmemory.input.json_value import Json
from chatmemory.longterm.memories import (
    Category,
    Duplicate,
    ForgetReceipt,
    Memory,
    MemoryRole,
    MemoryType,
    Namespace,
    Provenance,
    Source,
    Stored,
    UseReport,
)
from chatmemory.longterm.recall.recall import Coverage


@final
@frozen(slots=False)  # made for every memory, see messages.py
class MemoryDraft:
    """A memory that obeys the rules, with all that the store needs.

    Attributes:
        terms: the words by which it is found, separated by single spaces: letters, digits and bigrams of characters,
            already folded and stemmed; a backend indexes and compares them as they are.
        dedup_key: 32 bytes; a memory of the same user and app that is true now and has the same is a duplicate.
            None: nothing is.
        vector: of *space*; None with None.
        replaces: the id of the memory whose place it takes.
        replaces_key: it takes the place of every memory of its exact namespace (user and app) and key.
    """

    id: str
    namespace: Namespace
    content: str
    key: str | None
    value: Json
    category: Category | None
    tags: tuple[str, ...]
    confidence: float
    source: Source
    role: MemoryRole
    session_id: str | None
    memory_type: MemoryType
    pinned: bool
    provenance: Provenance
    created_at: datetime
    terms: str
    dedup_key: bytes | None = None
    space: EmbeddingSpace | None = None
    vector: Vector | None = field(default=None, eq=False, repr=False)
    replaces: str | None = None
    replaces_key: bool = False


@final
@frozen
class MemoryListing:
    """Which memories, newest first: by ``created_at``, then by id (code points), both descending.

    Attributes:
        after: ``(created_at, id)`` of the last one that was seen.
        key_prefix: only those with a key that begins so; ``""``: with any key.
        containing: only those whose content, key or value contains this text.
        exact_app: only those of the very app of *namespace*, instead of all that it sees.
        as_of: what was true then; None: what is true now.
    """

    namespace: Namespace
    limit: int
    after: tuple[datetime, str] | None = None
    memory_type: MemoryType | None = None
    category: Category | None = None
    session_id: str | None = None
    tag: str | None = None
    key_prefix: str | None = None
    containing: str | None = None
    exact_app: bool = False
    as_of: datetime | None = None


@final
@frozen
class MemorySearch:
    """What recall looks for, always among long-term memories that *namespace* sees.

    Attributes:
        text: the query as it was asked.
        terms: its words, as those of ``MemoryDraft.terms``; none twice.
        vector: of *space*; None with None: nothing is compared by vector.
        tags: each of them is on the memory.
        as_of: what was true then; None: what is true now.
        limit: at most so many candidates for each way of searching.
    """

    namespace: Namespace
    text: str
    terms: tuple[str, ...]
    space: EmbeddingSpace | None = None
    vector: Vector | None = field(default=None, eq=False, repr=False)
    category: Category | None = None
    tags: tuple[str, ...] = ()
    as_of: datetime | None = None
    limit: int = 200


@final
@frozen(slots=False)  # made for every candidate
class Candidate:
    """A memory that may be a hit.

    Attributes:
        terms: as they were stored.
        similarity: cosine of its vector and the query's; None unless both are of one space.
    """

    memory: Memory
    terms: str
    similarity: float | None


@final
@frozen
class Candidates:
    """Every candidate once, in any order.

    Attributes:
        matched_text: no memory shares a word with the query, and some contain its text.
        coverage: of the long-term memories that the namespace sees and that are (or were) true, whatever their category
            and tags, how many have a vector of the space; none without a space.
    """

    found: tuple[Candidate, ...]
    matched_text: bool
    coverage: Coverage


@final
@frozen
class Forgetting:
    """What is to be forgotten among what *namespace* sees, whether true now or superseded; all None: everything.

    All that are given have to fit.

    Attributes:
        memory_id: this memory, if it is seen, and those that it has superseded, and those before them.
        session_id: what comes from this conversation.
        message_id: what names this message in its provenance; with *session_id* when ids are not unique.
        path: what names this path in its provenance.
    """

    namespace: Namespace
    memory_id: str | None = None
    session_id: str | None = None
    message_id: str | None = None
    path: str | None = None


@final
@frozen
class Attachment:
    """A vector for a memory whose content was read at *version*."""

    memory_id: str
    version: int
    vector: Vector = field(eq=False, repr=False)


class MemoryRepository(Protocol):
    """Keeps memories.  Every method is one transaction; no driver exception escapes.

    Who sees what is said by ``Namespace.sees``.  A memory is true now while it has no ``superseded_at``; it was true
    at an instant from its ``created_at`` on until just before its ``superseded_at``.  Text is compared and ordered by
    code points.  In JSON the order of keys does not matter; ``1``, ``1.0`` and ``true`` differ.
    """

    def store(
        self, drafts: tuple[MemoryDraft, ...]
    ) -> Effect[tuple[Stored | Duplicate, ...], MemoryStoreError]:
        """Store *drafts*, all or none, and answer for each, in order; a draft sees those before it.

        First comes the id: where it is taken, whether true now or not, by the same content, key and value in exactly
        this namespace, the draft is a duplicate of itself; taken in any other way, it is a conflict.  Then the dedup
        key.  Then what the draft replaces, which ceases to be true at its ``created_at``, though never before it became
        true; a *replaces* that its namespace does not see, or that is no longer true, is missing.  The answer names
        what was replaced in the order of ``MemoryListing``.

        Conflicts fail the batch with one ``MemoryConflictError`` that names them all, in order; without any, the first
        that is missing fails it with ``MemoryNotFoundError``.
        """
        ...

    def get(self, namespace: Namespace, memory_id: str) -> Effect[Memory | None, RepositoryError]:
        """Return the memory, true now or superseded; None when the namespace does not see it."""
        ...

    def value(
        self, namespace: Namespace, key: str, *, as_of: datetime | None = None
    ) -> Effect[Memory | None, RepositoryError]:
        """Return the newest memory of this key in exactly this namespace that is (or was) true."""
        ...

    def retire(self, namespace: Namespace, key: str, *, now: datetime) -> Effect[bool, RepositoryError]:
        """End at *now* the truth of the key's memories in exactly this namespace; False when none was true.

        As with what is replaced, none ends before it became true.
        """
        ...

    def list(self, listing: MemoryListing, /) -> Effect[tuple[Memory, ...], RepositoryError]:
        """Return at most ``listing.limit`` memories.

        ``containing`` is one run of characters, none of which has a meaning of its own.  ``A`` to ``Z`` are the same as
        ``a`` to ``z``; every other character is no other than itself.  A value that is a text contains what stands in
        it, any other what stands in its JSON, as Python's ``json`` writes it with ``ensure_ascii=False``.
        """
        ...

    def search(self, search: MemorySearch, /) -> Effect[Candidates, RepositoryError]:
        """Return the candidates of a recall: up to ``search.limit`` for each way in which a memory can be found.

        By words: those that share a word with ``terms``; where there are more than the limit, a good choice of them.
        By vector: the most similar of the space.  Only when no memory that passes the filters shares a word: those
        whose content contains ``text``, character for character, the newest first.  Similarities are exact to 1e-6.
        """
        ...

    def rewrite(
        self, draft: MemoryDraft, *, expected_version: int, keep_vector: bool = False
    ) -> Effect[Memory | None, MemoryChangedError | RepositoryError]:
        """Put what *draft* says in the place of the memory of its id, one version on; None when it is not seen.

        Namespace, session, role, times, type, pin and uses stay.  With *keep_vector* the vector stays as well;
        otherwise it becomes the draft's, or none.  The dedup key becomes the draft's, unless another memory that is
        true now has it: then none.
        """
        ...

    def mark(
        self,
        namespace: Namespace,
        memory_id: str,
        *,
        memory_type: MemoryType | None = None,
        pinned: bool | None = None,
    ) -> Effect[Memory | None, RepositoryError]:
        """Promote, demote, pin or unpin (None: leave it); return the memory as it is then, None when it is not seen."""
        ...

    def record_use(
        self,
        namespace: Namespace,
        memory_ids: tuple[str, ...],
        *,
        use_id: str,
        session_id: str | None,
        now: datetime,
        promote_after: int | None = None,
    ) -> Effect[UseReport, RepositoryError]:
        """Count one use of each memory that is seen, and set ``last_accessed``.

        A memory whose last use had the same *use_id* is left alone, and so is one that is named again.  With
        *promote_after*, a short-term memory that the user stated in the user's own role becomes long-term by a use
        after which it was used in so many sessions; a use without *session_id* is in none.  The report names them in
        the order of *memory_ids*.
        """
        ...

    def forget(self, forgetting: Forgetting, /) -> Effect[ForgetReceipt, RepositoryError]:
        """Remove rows, vectors, index entries and uses, so that no byte of the store shows their text.

        Where the store keeps the conversation too, the summaries of the receipt are marked stale.  What a removed
        memory had superseded, and what stays, is superseded by none.
        """
        ...

    def expire(
        self,
        namespace: Namespace,
        *,
        session_id: str | None = None,
        created_before: datetime | None = None,
    ) -> Effect[int, RepositoryError]:
        """Remove short-term memories that are not pinned, of this session and older than that; return how many.

        True now or superseded; None: of any session, of any age.  What stays is superseded by none that went.
        """
        ...

    def unembedded(
        self,
        namespace: Namespace,
        space: EmbeddingSpace,
        *,
        limit: int,
        after: tuple[datetime, str] | None = None,
    ) -> Effect[tuple[tuple[Memory, ...], int], RepositoryError]:
        """Return long-term memories true now that have no vector of *space*, and how many there are in all.

        In the order of ``MemoryListing``, from behind *after*; the number counts those before it, too.
        """
        ...

    def attach(
        self, namespace: Namespace, space: EmbeddingSpace, attachments: tuple[Attachment, ...]
    ) -> Effect[int, RepositoryError]:
        """Give memories their vector of *space*, in the place of any other, and return how many got theirs.

        Those that are not seen, or at another version by now, are left out.
        """
        ...


class MemoryRepositoryTag(Tag[MemoryRepository]):
    """Where layers provide ``MemoryRepository``."""
