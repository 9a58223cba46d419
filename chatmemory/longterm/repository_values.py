"""What a repository of memories takes and returns: drafts, listings, searches and their candidates, what to forget.

``memory_repository.py`` says what the repository does with them.
"""

from __future__ import annotations

from datetime import datetime
from typing import final

from attrs import field, fields, frozen

from chatmemory.access.namespace import Namespace
from chatmemory.embedding.embedder import Vector
from chatmemory.embedding.space import EmbeddingSpace
from chatmemory.longterm.memories import (
    Category,
    Memory,
    MemoryFacts,
    MemoryType,
)
from chatmemory.longterm.recall.recall import Coverage


@final
@frozen(slots=False)  # made for every memory, see messages.py
class MemoryDraft(MemoryFacts):
    """A checked memory with all that the store needs.

    Attributes:
        terms: the words by which it is found, separated by single spaces: letters, digits and bigrams of characters,
            already folded and stemmed; a backend indexes and compares them as they are.
        dedup_key: 32 bytes.  A memory of the same user and app that is true now and has the same key is a duplicate.
            None: the memory has no duplicates.
        space: the space of *vector*; None when there is no vector.
        vector: the vector of the memory; None when there is no space.
        replaces: the id of the memory that this one replaces; None: it replaces none.
        replaces_key: replace every memory of exactly this namespace (user and app) and key.
        again: store it also when it was forgotten: somebody wants it back.
    """

    terms: str
    dedup_key: bytes | None = None
    space: EmbeddingSpace | None = None
    vector: Vector | None = field(default=None, eq=False, repr=False)
    replaces: str | None = None
    replaces_key: bool = False
    again: bool = False

    def stored(self) -> Memory:
        """Return the memory that this draft becomes when it is stored."""
        facts = {fact.name: getattr(self, fact.name) for fact in fields(MemoryFacts)}
        return Memory(**facts, embedding=self.space)


@final
@frozen
class MemoryListing:
    """Which memories to list, newest first: by ``created_at``, then by id (code points), both descending.

    Attributes:
        limit: the largest number of memories.
        after: ``(created_at, id)`` of the last memory of the page before; None: the first page.
        key_prefix: only memories whose key begins with this text; ``""``: with any key; None: with or without a key.
        containing: only memories whose content, key or value contains this text.
        exact_app: only memories of exactly the app of *namespace*, instead of all that it sees.
        has_attribute: only memories that have an attribute.
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
    has_attribute: bool = False
    as_of: datetime | None = None


@final
@frozen
class MemorySearch:
    """What a recall searches for, among the long-term memories that *namespace* sees.

    Attributes:
        text: the query as the caller wrote it.
        terms: the words of the query, formed as ``MemoryDraft.terms``, without duplicates.
        space: the space of *vector*; None when there is no vector.
        vector: the vector of the query; None: vectors are not compared.
        category: only memories of this category; None: of any.
        tags: only memories that have all of these tags.
        as_of: what was true then; None: what is true now.
        limit: the largest number of candidates for each way of searching.
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
    """A memory that may become a hit.

    Attributes:
        terms: its words, as they were stored.
        similarity: the cosine of its vector and the query's; None when they are not of one space.
    """

    memory: Memory
    terms: str
    similarity: float | None


@final
@frozen
class Candidates:
    """The result of a search: every candidate once, in any order.

    Attributes:
        matched_text: no memory shares a word with the query, so the candidates are memories that contain its text.
        coverage: how many long-term memories the namespace sees that are (or were) true, in any category and with any
            tags, and how many of them have a vector of the space; 0 without a space.
    """

    found: tuple[Candidate, ...]
    matched_text: bool
    coverage: Coverage


@final
@frozen
class Forgetting:
    """Which memories to remove, of all that *namespace* sees, whether true now or superseded.

    A memory is removed when it matches everything that is given.  When nothing is given, all memories are removed.

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
class Attachment:
    """A vector for a memory; *version* is the memory's version when its content was read."""

    memory_id: str
    version: int
    vector: Vector = field(eq=False, repr=False)
