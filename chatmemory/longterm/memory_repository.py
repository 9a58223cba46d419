"""``MemoryRepository``: stores memories; ``repository_values.py`` defines the values that its methods take and return.

A repository stores and filters memories, and finds the candidates of a recall.  The ranking of recall scores the
candidates, so that every backend ranks them in the same way.
"""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Effect, Tag
from chatmemory.embedding.space import EmbeddingSpace
from chatmemory.errors import MemoryChangedError, MemoryRestoreError, MemoryStoreError, RepositoryError
from chatmemory.input.rules import Place
from chatmemory.longterm.memories import (
    ForgetReceipt,
    Memory,
    MemoryHistory,
    SaveOutcome,
    UseReport,
)
from chatmemory.longterm.repository_values import (
    Attachment,
    Candidates,
    Expiry,
    Forgetting,
    Mark,
    MemoryCount,
    MemoryDraft,
    MemoryListing,
    MemorySearch,
    Use,
    WholeMemory,
)


class MemoryRepository(Protocol):
    """Stores memories.  Every method is one transaction.

    Every method fails with ``RepositoryError`` when the store fails; an exception of a driver is its ``cause``.  ``Fails
    with:`` names the other errors of a method.

    ``Namespace.sees`` says which memories a reader sees.  A memory is true from its ``created_at`` on until just before its
    ``superseded_at``; without ``superseded_at`` it is true now.  Text is compared and ordered by code points.  In JSON the
    order of keys does not matter; ``1``, ``1.0`` and ``true`` differ.
    """

    def store(self, drafts: tuple[MemoryDraft, ...]) -> Effect[tuple[SaveOutcome, ...], MemoryStoreError]:
        """Store *drafts*, all or none.  Each draft is compared with the stored memories and with the drafts before it.

        1. A draft is a duplicate when a memory in exactly its namespace, true now or not, has the same id, content, key
           and value.  When another memory of the same user has its id, this is a conflict.  Memories of different users
           may have the same id; they do not affect each other.
        2. A draft with the dedup key of a memory that is true now is a duplicate of that memory.
        3. A draft is skipped when a memory with its id was forgotten, or when each of its messages is the origin of a
           forgotten memory.  It is not skipped when it replaces a memory or has a further message; see ``Forgotten``.
        4. A draft with a *past* is stored as it was in the store that it comes from; its attribute supersedes nothing.
           When a newer value of its ``value_key`` is true now, it is stored as superseded by the first of the newer ones.
        5. Any other draft is stored, and the memories that it replaces stop being true: *replaces*, and the value of its
           ``value_key`` in exactly its namespace.  They stop at the ``created_at`` of the draft, but not before they
           became true.  A *replaces* is missing when the namespace does not see that memory or when it is no longer true.
        6. A draft that the user stated (``is_stated``) and that has a single-valued *attribute* supersedes the user's
           statements about the same attribute in exactly its namespace that are not newer.  They stop being true at the
           ``created_at`` of the draft, unless they are pinned.  Drafts of one batch with the same ``created_at`` do not
           supersede each other.  When newer statements about the attribute are true now, the draft is stored as
           superseded by the first of them, at its ``created_at``; a pinned draft stays true.

        Returns:
            an answer for each draft, in order; it names the replaced memories in the order of ``MemoryListing``.

        Fails with:
            MemoryConflictError: there are conflicts; the error names all of them, in order.
            MemoryNotFoundError: a replaced memory is missing, and nothing conflicts; the error names the first one.
        """
        ...

    def get(self, namespace: Namespace, memory_id: str) -> Effect[Memory | None, RepositoryError]:
        """Return a memory, whether true now or superseded.

        Args:
            namespace: the reader.
            memory_id: the id of the memory.

        Returns:
            the memory; None when the namespace sees no memory with this id.
        """
        ...

    def value(
        self, namespace: Namespace, key: str, *, as_of: datetime | None = None
    ) -> Effect[Memory | None, RepositoryError]:
        """Return the value of a key in exactly this namespace: the newest memory with this ``value_key``.

        Args:
            namespace: the exact user and app.
            key: the key.
            as_of: the time of the value, UTC; None: now.

        Returns:
            the memory; None when the key had no value at that time.
        """
        ...

    def retire(self, namespace: Namespace, key: str, *, now: datetime) -> Effect[bool, RepositoryError]:
        """Mark the value of this key in exactly this namespace as no longer true.

        Args:
            namespace: the exact user and app.
            key: the key.
            now: when it stops being true, UTC; a memory never stops being true before it became true.

        Returns:
            True when the key had a value; False otherwise.
        """
        ...

    def restore(
        self, namespace: Namespace, memory_id: str, *, instead_of: str | None = None, now: datetime
    ) -> Effect[Memory, MemoryRestoreError]:
        """Make a memory true again, from its ``created_at`` on, as if it had never stopped being true.

        The memory that replaced it stays true, unless it is named, or both are values of one key: a key has one value.
        A repeated call changes nothing.

        Args:
            namespace: the reader.
            memory_id: the id of the memory.
            instead_of: the id of the memory that stops being true; when it is no longer true, it is not changed.  None,
                or *memory_id*: none is named.
            now: when the others stop being true, UTC; never before it became true.

        Returns:
            the memory.  It keeps its dedup key, or has none when another memory that is true now has that key.

        Fails with:
            MemoryNotFoundError: the namespace does not see *memory_id* or *instead_of*; nothing was changed.
        """
        ...

    def list(self, listing: MemoryListing, /) -> Effect[tuple[Memory, ...], RepositoryError]:
        """Return at most ``listing.limit`` memories, newest first.

        ``containing`` is plain text without wildcards.  ``A`` to ``Z`` match ``a`` to ``z``; every other character matches
        only itself.  A value that is a text is searched as it is; any other value is searched as the JSON that Python's
        ``json`` writes with ``ensure_ascii=False``.
        """
        ...

    def count(self, listing: MemoryListing, /) -> Effect[tuple[MemoryCount, ...], RepositoryError]:
        """Count the memories of *listing*, whatever its ``limit`` and ``after``, by type, category and source, in any order."""
        ...

    def whole(
        self, *, limit: int, after: tuple[str, str] | None = None
    ) -> Effect[tuple[WholeMemory, ...], RepositoryError]:
        """Return memories of all users, true now or not, with everything that is copied with them to another store.

        Args:
            limit: the largest number of memories.
            after: ``(user, id)`` of the last memory of the page before; None: the first page.

        Returns:
            the memories, ordered by user and then by id (code points).
        """
        ...

    def reach(
        self, namespace: Namespace, count: int, *, after: Place | None = None
    ) -> Effect[datetime | None, RepositoryError]:
        """Return the creation time of the *count*-th memory, counted from the newest on.

        With this time a listing that no index narrows can limit how many memories it reads.  Memories are counted whether
        they are true now or not.

        Args:
            namespace: the reader.
            count: 1 or greater.
            after: ``(created_at, id)`` of a memory; count from the one after it on.  None: count from the newest on.

        Returns:
            the time, UTC; None when there are fewer memories.
        """
        ...

    def search(self, search: MemorySearch, /) -> Effect[Candidates, RepositoryError]:
        """Return the candidates of a recall: up to ``search.limit`` for each way of searching, and their neighbours.

        By words: the memories that share a word with ``terms``; when there are more than the limit, a good selection of
        them.  By vector: the most similar memories of the space; similarities are exact to 1e-6.  By text, only when no
        memory that passes the filters shares a word: the newest memories whose content contains ``text`` exactly.  Only
        the newest ``TEXT_READ`` memories that the coverage counts are searched, and others that were created in the same
        microsecond as the last of these.

        Beside: the neighbours of the best ``search.beside`` memories of each way of searching that come from a session.
        The neighbours are the memory before it and the one after it, by ``(created_at, id)``.  They are long-term
        memories of this session that the namespace sees and that are (or were) true.  They have their similarities too,
        and a neighbour that does not pass the filters is left out.  The best memories are the most similar ones, the ones
        that share more and rarer words, and the newest that contain the text.
        """
        ...

    def history(self, namespace: Namespace, memory_id: str) -> Effect[MemoryHistory, RepositoryError]:
        """Return the events of a memory that the namespace sees, and its earlier contents.

        Args:
            namespace: the reader.
            memory_id: the id of the memory, which may have been forgotten.

        Returns:
            the history; without events and contents when the namespace never saw the memory.
        """
        ...

    def rewrite(
        self, draft: MemoryDraft, *, expected_version: int, keep_vector: bool = False
    ) -> Effect[Memory | None, MemoryChangedError | RepositoryError]:
        """Replace the content of a memory with the content of *draft*, and increase its version by one.

        Namespace, session, role, times, type, pin and uses stay the same, and its attribute supersedes nothing; the old content is kept for ``history``.

        Args:
            draft: the new content; its id names the memory, its namespace is the reader.
            expected_version: the version that was read.
            keep_vector: True: keep the stored vector.  False: store the draft's vector, or none when it has none.

        Returns:
            the changed memory; None when the namespace does not see it.  It has the draft's dedup key, or none when
            another memory that is true now already has that key.

        Fails with:
            MemoryChangedError: the memory is at another version than *expected_version*.
        """
        ...

    def mark(self, mark: Mark, /) -> Effect[Memory | None, RepositoryError]:
        """Change the type of a memory, or pin or unpin it; return None when the namespace does not see the memory.

        A memory that is so already stays as it is, and the log gets no event.
        """
        ...

    def record_use(self, use: Use, /) -> Effect[UseReport, RepositoryError]:
        """Count one use of each memory that the namespace sees, and set ``last_accessed``.

        Returns:
            how many memories were counted, and the ids of those that became long-term, in the order of the use.
        """
        ...

    def forget(self, forgetting: Forgetting, /) -> Effect[ForgetReceipt, RepositoryError]:
        """Remove memories with their vectors, index entries and uses, so that no byte of the store holds their text.

        When the store keeps the conversations too, the summaries that the receipt names are marked as stale.  These are
        only in conversations that ``principal()`` may see, because a memory may name any message as its origin.  A
        remaining memory whose ``superseded_by`` names a removed memory gets None there.
        """
        ...

    def expire(self, expiry: Expiry, /) -> Effect[int, RepositoryError]:
        """Remove short-term memories that are not pinned, whether true now or superseded, and return how many.

        A remaining memory whose ``superseded_by`` names a removed memory gets None there.
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
        """Return long-term memories that are true now and lack a vector of *space*.

        Args:
            namespace: the reader.
            space: the space of the missing vectors.
            limit: the largest number of memories to return.
            after: ``(created_at, id)`` of the last memory that was returned before; None: begin with the first.

        Returns:
            the memories, in the order of ``MemoryListing``; and the number of all memories without such a vector,
            including those before *after*.
        """
        ...

    def attach(
        self, namespace: Namespace, space: EmbeddingSpace, attachments: tuple[Attachment, ...]
    ) -> Effect[int, RepositoryError]:
        """Store a vector of *space* for each memory, replacing any other vector.

        Args:
            namespace: the reader.
            space: the space of the vectors.
            attachments: the memories and their vectors.  A memory that the namespace does not see, or whose version has
                changed, is skipped.

        Returns:
            how many vectors were stored.
        """
        ...


class MemoryRepositoryTag(Tag[MemoryRepository]):
    """The tag under which layers provide ``MemoryRepository``."""
