"""``MemoryRepository``: stores memories; ``repository_values.py`` defines what its methods take and return.

It stores, filters and finds candidates.  The ranking of recall decides what a candidate is worth, so that every backend
ranks alike.
"""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Effect, Tag
from chatmemory.embedding.space import EmbeddingSpace
from chatmemory.errors import MemoryChangedError, MemoryRestoreError, MemoryStoreError, RepositoryError
from chatmemory.longterm.memories import (
    ForgetReceipt,
    Memory,
    MemoryType,
    SaveOutcome,
    UseReport,
)
from chatmemory.longterm.memory_history import MemoryHistory
from chatmemory.longterm.repository_values import (
    Attachment,
    Candidates,
    Forgetting,
    MemoryDraft,
    MemoryListing,
    MemorySearch,
)


class MemoryRepository(Protocol):
    """Stores memories.  Every method is one transaction; exceptions of a driver are returned as ``RepositoryError``.

    ``Namespace.sees`` says which memories a reader sees.  A memory is true from its ``created_at`` on until just before its
    ``superseded_at``; without ``superseded_at`` it is true now.  Text is compared and ordered by code points.  In JSON the
    order of keys does not matter; ``1``, ``1.0`` and ``true`` differ.
    """

    def store(self, drafts: tuple[MemoryDraft, ...]) -> Effect[tuple[SaveOutcome, ...], MemoryStoreError]:
        """Store *drafts*, all or none.  Each draft is compared with the stored memories and with the drafts before it.

        1. A draft whose id is taken by the same content, key and value in exactly this namespace, true now or not, is a
           duplicate.  An id that is taken in any other way by a memory of the same user is a conflict.  Memories of two
           users may have one id, and know nothing of each other.
        2. A draft with the dedup key of a memory that is true now is a duplicate of that memory.
        3. A draft of an id that was forgotten, or from messages of which each was one that a forgotten memory came from, is
           skipped, unless it replaces a memory or comes from a further message; see ``Forgotten``.
        4. A draft is stored, and what it replaces stops being true at the ``created_at`` of the draft, though never before
           it became true.  A *replaces* that its namespace does not see, or that is no longer true, is missing.

        4. A draft that the user has stated (``is_stated``) and that has a single-valued *attribute* takes the place of what
           he has stated about the same attribute in exactly its namespace, no later than it: that ends at the
           ``created_at`` of the draft, unless it is pinned.  Drafts of one batch with one ``created_at`` stand together.
           When something newer about the attribute is true now, the draft comes late: it is stored, and ends at the
           ``created_at`` of the first of those newer ones, whose id it names; a pinned draft stays true.

        Returns:
            an answer for each draft, in order; it names the replaced memories in the order of ``MemoryListing``.

        Fails with:
            MemoryConflictError: there are conflicts; the error names them all, in order.
            MemoryNotFoundError: there is no conflict, and a replaced memory is missing; the error names the first one.
        """
        ...

    def get(self, namespace: Namespace, memory_id: str) -> Effect[Memory | None, RepositoryError]:
        """Return a memory, whether true now or superseded; None when the namespace does not see it.

        Args:
            namespace: the reader.
            memory_id: the id of the memory.
        """
        ...

    def value(
        self, namespace: Namespace, key: str, *, as_of: datetime | None = None
    ) -> Effect[Memory | None, RepositoryError]:
        """Return the newest memory with this key in exactly this namespace that is (or was) true; None when there is none.

        Args:
            namespace: the exact user and app.
            key: the key of the memory.
            as_of: what was true then; None: what is true now.
        """
        ...

    def retire(self, namespace: Namespace, key: str, *, now: datetime) -> Effect[bool, RepositoryError]:
        """End the truth of all memories with this key in exactly this namespace.

        Args:
            namespace: the exact user and app.
            key: the key of the memories.
            now: when they stop being true, UTC; a memory never stops before it became true.

        Returns:
            False when no memory with this key was true.
        """
        ...

    def restore(
        self, namespace: Namespace, memory_id: str, *, instead_of: str | None = None, now: datetime
    ) -> Effect[Memory, MemoryRestoreError]:
        """Make a memory true again, from its ``created_at`` on, as if it had not ended.

        What took its place stays true, unless it is named.  A call that is repeated changes nothing.

        Args:
            namespace: the reader.
            memory_id: the id of the memory.
            instead_of: the id of the memory that stops being true, in whose place the restored one is true; one that has
                ended already stays as it is.  None, or *memory_id*: every other memory stays as it is.
            now: when *instead_of* stops being true, UTC; never before it became true.

        Returns:
            the memory.  It has the dedup key that it had, or none when another memory that is true now has that key.

        Fails with:
            MemoryNotFoundError: the namespace does not see *memory_id* or *instead_of*; nothing was changed.
        """
        ...

    def list(self, listing: MemoryListing, /) -> Effect[tuple[Memory, ...], RepositoryError]:
        """Return at most ``listing.limit`` memories.

        ``containing`` is plain text without wildcards.  ``A`` to ``Z`` match ``a`` to ``z``; every other character matches
        only itself.  A value that is text is searched itself; any other value is searched as JSON, as Python's ``json``
        writes it with ``ensure_ascii=False``.
        """
        ...

    def search(self, search: MemorySearch, /) -> Effect[Candidates, RepositoryError]:
        """Return the candidates of a recall: up to ``search.limit`` for each way of searching.

        By words: the memories that share a word with ``terms``; if there are more than the limit, a good choice of them.
        By vector: the most similar memories of the space; similarities are exact to 1e-6.  By text, only when no memory
        that passes the filters shares a word: the newest memories whose content contains ``text`` exactly.
        """
        ...

    def history(self, namespace: Namespace, memory_id: str) -> Effect[MemoryHistory, RepositoryError]:
        """Return what happened to a memory, as far as the namespace sees it, and what it said before.

        Args:
            namespace: the reader.
            memory_id: the id of the memory, which may have been forgotten.
        """
        ...

    def rewrite(
        self, draft: MemoryDraft, *, expected_version: int, keep_vector: bool = False
    ) -> Effect[Memory | None, MemoryChangedError | RepositoryError]:
        """Replace what a memory says by what *draft* says, and raise its version by one.

        Namespace, session, role, times, type, pin and uses stay; what it said until now is kept for ``history``.

        Args:
            draft: the new content; its id names the memory, its namespace is the reader.
            expected_version: the version that was read.
            keep_vector: keep the stored vector; otherwise the draft's vector is stored, or none when it has none.

        Returns:
            the changed memory; None when the namespace does not see it.  It has the draft's dedup key, or none when
            another memory that is true now already has that key.

        Fails with:
            MemoryChangedError: the memory is at another version than *expected_version*.
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
        """Change the type of a memory, or its pin.

        Args:
            namespace: the reader.
            memory_id: the id of the memory.
            memory_type: the new type; None: it stays.
            pinned: True: pin it; False: unpin it; None: it stays.

        Returns:
            the changed memory; None when the namespace does not see it.
        """
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
        """Count one use of each memory that the namespace sees, and set ``last_accessed``.

        Args:
            namespace: the reader.
            memory_ids: the used memories; an id that is named twice counts once.
            use_id: the id of this use.  A memory whose last use has the same id is not counted again.
            session_id: the session of this use; None: it counts for no session.
            now: the time of the use, UTC.
            promote_after: a short-term memory of the role ``user`` that the user stated becomes long-term when it has been
                used in this many sessions; None: never.

        Returns:
            how many memories were counted, and which became long-term, in the order of *memory_ids*.
        """
        ...

    def forget(self, forgetting: Forgetting, /) -> Effect[ForgetReceipt, RepositoryError]:
        """Remove rows, vectors, index entries and uses, so that no byte of the store shows their text.

        When the store keeps the conversations too, the summaries of the receipt are marked as stale: those in conversations
        that ``principal()`` may see, since a memory may name any message as its origin.  A memory that stays and names a
        removed memory in ``superseded_by`` gets None there.
        """
        ...

    def expire(
        self,
        namespace: Namespace,
        *,
        session_id: str | None = None,
        created_before: datetime | None = None,
    ) -> Effect[int, RepositoryError]:
        """Remove short-term memories that are not pinned, true now or superseded, and return how many.

        A memory that stays and names a removed memory in ``superseded_by`` gets None there.

        Args:
            namespace: the reader.
            session_id: only memories of this session; None: of any.
            created_before: only memories that are older, UTC; None: of any age.
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
        """Return long-term memories that are true now and have no vector of *space*.

        Args:
            namespace: the reader.
            space: the space that is looked for.
            limit: the largest number of memories to return.
            after: ``(created_at, id)`` of the last memory that was returned before; None: begin with the first.

        Returns:
            the memories, in the order of ``MemoryListing``; and the number of all that have no vector, those before
            *after* included.
        """
        ...

    def attach(
        self, namespace: Namespace, space: EmbeddingSpace, attachments: tuple[Attachment, ...]
    ) -> Effect[int, RepositoryError]:
        """Store a vector of *space* for each memory, in the place of any other vector.

        Args:
            namespace: the reader.
            space: the space of the vectors.
            attachments: the vectors.  A memory that the namespace does not see, or whose version has changed, is skipped.

        Returns:
            how many vectors were stored.
        """
        ...


class MemoryRepositoryTag(Tag[MemoryRepository]):
    """The tag under which layers provide ``MemoryRepository``."""
