"""The values that a repository of memories takes and returns: drafts, listings, searches, candidates, requests to forget.

``memory_repository.py`` defines what the repository does with them.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final, final

from attrs import field, frozen

from chatmemory.access.namespace import Namespace
from chatmemory.embedding.embedder import Vector
from chatmemory.embedding.space import EmbeddingSpace
from chatmemory.longterm.memories import (
    Category,
    EarlierContent,
    Memory,
    MemoryFacts,
    MemoryType,
    Source,
)
from chatmemory.longterm.recall.recall import Coverage

TEXT_READ: Final = 5_000
"""How many of the newest memories a search reads for the text of a query that shares no word with any memory: 4 ms."""


@final
@frozen
class ImportedPast:
    """The past of a memory in the store that it comes from.

    Attributes:
        last_accessed, access_count, superseded_at, superseded_by, version: see ``Memory``.
        earlier: its content before each correction, oldest first.
    """

    last_accessed: datetime | None = None
    access_count: int = 0
    superseded_at: datetime | None = None
    superseded_by: str | None = None
    version: int = 1
    earlier: tuple[EarlierContent, ...] = ()


@final
@frozen(slots=False)  # made for every memory, see messages.py
class MemoryDraft(MemoryFacts):
    """A checked memory with everything that the store needs.

    Attributes:
        terms: the words by which it is found, separated by single spaces: letters, digits and bigrams of characters,
            already folded and stemmed; a backend indexes and compares them unchanged.
        dedup_key: 32 bytes.  A memory of the same user and app that is true now and has the same key is a duplicate.
            None: the memory is never a duplicate.
        space: the space of *vector*; None without a vector.
        vector: the vector of the memory; None without a space.
        replaces: the id of the memory that this one replaces; None: it replaces none.
        again: whether to store it even when it was forgotten, because the caller asks for it.
        past: its past in another store, which is stored with it.  Its attribute then supersedes nothing, and it is no
            longer true if it was not true there.  None: the memory is new.
    """

    terms: str
    dedup_key: bytes | None = None
    space: EmbeddingSpace | None = None
    vector: Vector | None = field(default=None, eq=False, repr=False)
    replaces: str | None = None
    again: bool = False
    past: ImportedPast | None = None

    @property
    def is_over(self) -> bool:
        """Whether it was no longer true in the store that it comes from."""
        return self.past is not None and self.past.superseded_at is not None

    def stored(self) -> Memory:
        """Return the memory that this draft becomes when it is stored."""
        past = self.past or ImportedPast()
        return Memory(
            **self.facts(),
            embedding=self.space,
            last_accessed=past.last_accessed,
            access_count=past.access_count,
            superseded_at=past.superseded_at,
            superseded_by=past.superseded_by,
            version=past.version,
        )


@final
@frozen
class WholeMemory:
    """A memory with everything that is copied with it to another store.

    Attributes:
        earlier: its content before each correction, oldest first.
        dedup_key: see ``MemoryDraft``; None: the memory is never a duplicate, or is no longer true.
        vector: its vector in the space that ``memory.embedding`` names; None: it was not embedded.
    """

    memory: Memory
    earlier: tuple[EarlierContent, ...] = ()
    dedup_key: bytes | None = None
    vector: Vector | None = field(default=None, eq=False, repr=False)


@final
@frozen
class MemoryListing:
    """Which memories to list, newest first: by ``created_at``, then by id (code points), both descending.

    Attributes:
        limit: the largest number of memories.
        after: ``(created_at, id)`` of the last memory of the page before; None: the first page.
        value_prefix: only the values of keys that begin with this text; ``""``: of all keys; None: any memories.
        containing: only memories whose content, key or value contains this text; None: any memories.
        since: only memories that were created at this time or later, UTC; None: at any time.
        exact_app: only memories of exactly the app of *namespace*, instead of all memories that it sees.
        has_attribute: only memories that have an attribute.
        as_of: memories that were true at this time, UTC; None: memories that are true now.
        superseded: memories that are no longer true now, or were no longer true at *as_of*, instead.
    """

    namespace: Namespace
    limit: int
    after: tuple[datetime, str] | None = None
    memory_type: MemoryType | None = None
    category: Category | None = None
    session_id: str | None = None
    tag: str | None = None
    value_prefix: str | None = None
    containing: str | None = None
    since: datetime | None = None
    exact_app: bool = False
    has_attribute: bool = False
    as_of: datetime | None = None
    source: Source | None = None
    superseded: bool = False


@final
@frozen
class MemoryCount:
    """How many memories of a listing have this type, this category and this source; at least one."""

    memory_type: MemoryType
    category: Category | None
    source: Source
    count: int


@final
@frozen
class MemorySearch:
    """The search of a recall among the long-term memories that *namespace* sees.

    Attributes:
        text: the query as the caller wrote it.
        terms: the words of the query, in the form of ``MemoryDraft.terms``, without duplicates.
        space: the space of *vector*; None without a vector.
        vector: the vector of the query; None: vectors are not compared.
        category: only memories of this category; None: of any category.
        tags: only memories that have all of these tags.
        as_of: memories that were true at this time, UTC; None: memories that are true now.
        limit: the largest number of candidates for each way of searching.
        beside: the number of candidates of each way of searching, the best ones, whose neighbours in their sessions are
            candidates too.
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
    beside: int = 200


@final
@frozen(slots=False)  # made for every candidate
class Candidate:
    """A memory that may become a hit.

    Attributes:
        terms: its words, in the form of ``MemoryDraft.terms``.
        similarity: the cosine of its vector and the query's, -1 to 1; None when they are not in the same space.
    """

    memory: Memory
    terms: str
    similarity: float | None


@final
@frozen
class Candidates:
    """The result of a search: every candidate once, in any order, with its neighbours in its session.

    Attributes:
        matched_text: True when no memory shares a word with the query.  The candidates are then memories that contain its
            text; only the newest ``TEXT_READ`` memories that ``coverage`` counts are searched.
        coverage: how many long-term memories the namespace sees that are (or were) true, in any category and with any
            tags.  It also counts how many of them have a vector of the space; 0 without a space.
    """

    found: tuple[Candidate, ...]
    matched_text: bool
    coverage: Coverage


@final
@frozen
class Forgetting:
    """Which of the memories that *namespace* sees to remove, whether true now or superseded.

    A memory is removed when it matches all given attributes.  When none is given, all memories are removed.

    Attributes:
        memory_id: this memory, the memories that it has superseded, those that they have superseded, and so on.
        session_id: memories from this conversation.
        message_id: memories whose provenance names this message; give *session_id* too when ids are not unique.
        path: memories whose provenance names this path.
    """

    namespace: Namespace
    memory_id: str | None = None
    session_id: str | None = None
    message_id: str | None = None
    path: str | None = None


@final
@frozen
class Expiry:
    """Which of the short-term memories that *namespace* sees to remove; pinned ones stay.

    Attributes:
        session_id: only memories of this session; None: of any session.
        created_before: only memories that were created before this time, UTC; None: of any age.
    """

    namespace: Namespace
    session_id: str | None = None
    created_before: datetime | None = None


@final
@frozen
class Mark:
    """A change of the type or the pin of a memory that *namespace* sees.

    Attributes:
        memory_type: the new type; None: it stays the same.
        pinned: True: pin it; False: unpin it; None: it stays the same.
    """

    namespace: Namespace
    memory_id: str
    memory_type: MemoryType | None = None
    pinned: bool | None = None


@final
@frozen(kw_only=True)
class Use:
    """A use of memories, of those among them that *namespace* sees.

    Attributes:
        memory_ids: the used memories; an id that is given twice counts once.
        use_id: the id of this use.  A memory whose last use has the same id is not counted again.
        session_id: the session of this use; None: it counts for no session.
        now: the time of the use, UTC.
        promote_after: a short-term memory of the role ``user`` that the user stated becomes long-term when it has been
            used in this many sessions; None: never.
    """

    namespace: Namespace
    memory_ids: tuple[str, ...]
    use_id: str
    session_id: str | None
    now: datetime
    promote_after: int | None = None


@final
@frozen
class Attachment:
    """A vector for a memory; *version* is the memory's version when its content was read."""

    memory_id: str
    version: int
    vector: Vector = field(eq=False, repr=False)
