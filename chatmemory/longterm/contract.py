"""``LongTermMemory``: what outlives a conversation, as agents call it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from chatmemory.effect import Effect, Tag
from chatmemory.errors import MemoryChangeError, MemoryReadError, RecallError, RememberError
from chatmemory.input.json_value import Json
from chatmemory.longterm.extraction.proposals import Extraction, MemoryUpdate, Speaker
from chatmemory.longterm.memories import (
    Category,
    DedupPolicy,
    Duplicate,
    ForgetReceipt,
    Memory,
    MemoryChanges,
    MemoryPage,
    MemoryType,
    Namespace,
    NewMemory,
    ReEmbedReport,
    RememberReport,
    Stored,
    UseReport,
)
from chatmemory.longterm.recall.recall import Recall


class LongTermMemory(Protocol):
    """Memories that can be saved, recalled, corrected and forgotten.

    Every method takes the namespace whose memories are meant, and refuses an invalid argument with
    ``DataValidationError`` before anything happens.  No failing embedder ever fails a call, save ``re_embed``: what
    has no vector is found by its words.
    """

    # --- Saving ---

    def remember(
        self, namespace: Namespace, memories: Sequence[NewMemory], *, dedup: DedupPolicy = "exact"
    ) -> Effect[RememberReport, RememberError]:
        """Store *memories*, all or none, and report what became of each."""
        ...

    def save_conversation_turn(
        self,
        namespace: Namespace,
        user_content: str,
        assistant_content: str,
        *,
        session_id: str,
        user_message_id: str | None = None,
        assistant_message_id: str | None = None,
        dedup: DedupPolicy = "first_50_characters",
    ) -> Effect[RememberReport, RememberError]:
        """Store a turn as two short-term memories, the user's and the assistant's (spec 000).

        *user_content* is the message as it was sent to the model; *assistant_content* is the whole answer.  The
        report has two outcomes, in this order; an empty side is skipped.
        """
        ...

    def extract(self, content: str, *, role: Speaker = "user") -> Effect[Extraction, RecallError]:
        """Propose memories for a text, and save none: what a dialog is filled with (spec 002)."""
        ...

    def auto_save(
        self,
        namespace: Namespace,
        content: str,
        *,
        role: Speaker = "user",
        session_id: str | None = None,
        message_id: str | None = None,
        update: MemoryUpdate | None = None,
    ) -> Effect[RememberReport, RememberError]:
        """Store each fact in *content* as a memory of its own (spec 002).

        The facts are those of *update* when a model gave one (none, unless it says ``should_store``), and those that
        the extractor proposes otherwise.  What the user said becomes long-term, ``user_stated``, with a confidence of
        0.9 at least; what an assistant said, short-term and ``inferred``.  What memory itself has put before the
        model is skipped as an echo.
        """
        ...

    # --- Recalling ---

    def recall(
        self,
        namespace: Namespace,
        query: str,
        *,
        limit: int | None = None,
        category: Category | None = None,
        tags: Sequence[str] = (),
        as_of: datetime | None = None,
    ) -> Effect[Recall, RecallError]:
        """Return the long-term memories that belong to *query*, best first, at most *limit* (None: as configured).

        *limit* is 200 at most.  Among answers of up to 50 hits a longer one begins with the shorter one, and so among
        those beyond, which are chosen from more candidates.

        It changes nothing; ``record_use`` says which of them a model was shown.
        """
        ...

    def record_use(
        self,
        namespace: Namespace,
        memory_ids: Sequence[str],
        *,
        use_id: str | None = None,
        session_id: str | None = None,
    ) -> Effect[UseReport, RecallError]:
        """Count that these memories entered one context; the same *use_id* again counts nothing."""
        ...

    # --- Values by key ---

    def put_value(
        self, namespace: Namespace, key: str, value: Json, *, content: str | None = None
    ) -> Effect[Stored | Duplicate, RememberError]:
        """Make *value* that of *key* in exactly this namespace; the older one stays readable by *as_of*.

        Putting what is there already changes nothing.
        *content* is what a model reads; None: the key and the value.
        """
        ...

    def get_value(
        self, namespace: Namespace, key: str, *, as_of: datetime | None = None
    ) -> Effect[Memory | None, RecallError]:
        """Return the memory that holds the value of *key* in exactly this namespace."""
        ...

    def delete_value(self, namespace: Namespace, key: str) -> Effect[bool, RecallError]:
        """End the truth of the key's value; False when there was none.  ``forget`` removes the past as well."""
        ...

    def list_values(
        self,
        namespace: Namespace,
        *,
        prefix: str = "",
        limit: int = 100,
        after: str | None = None,
        as_of: datetime | None = None,
    ) -> Effect[MemoryPage, RecallError]:
        """List the memories of exactly this namespace whose key begins with *prefix*, newest first."""
        ...

    # --- Tending ---

    def get(self, namespace: Namespace, memory_id: str) -> Effect[Memory, MemoryReadError]:
        """Return the memory, true now or superseded."""
        ...

    def list(
        self,
        namespace: Namespace,
        *,
        limit: int = 100,
        after: str | None = None,
        memory_type: MemoryType | None = None,
        category: Category | None = None,
        session_id: str | None = None,
        tag: str | None = None,
        containing: str | None = None,
        as_of: datetime | None = None,
    ) -> Effect[MemoryPage, RecallError]:
        """List what is true now, or was at *as_of*, newest first, from behind the cursor *after*.

        *containing*, 1 to 1,000 characters, keeps those in whose content, key or value it stands as it is written, but
        for upper and lower case in ``A`` to ``Z``; short-term memories as well, which ``recall`` never finds.  A value
        that is no text is looked through as JSON.
        """
        ...

    def update(
        self,
        namespace: Namespace,
        memory_id: str,
        changes: MemoryChanges,
        *,
        expected_version: int | None = None,
    ) -> Effect[Memory, MemoryChangeError]:
        """Correct a memory in its place; a fact that has changed is for ``supersede``.

        With *expected_version* it fails with ``MemoryChangedError`` when the memory has changed since it was read, unless
        it says by now what *changes* want: who repeats a correction whose answer was lost finds that it has succeeded.
        """
        ...

    def supersede(
        self, namespace: Namespace, memory_id: str, replacement: NewMemory
    ) -> Effect[Stored, MemoryChangeError]:
        """Put a newer fact in the place of one that is true now; the older one stays readable by *as_of*."""
        ...

    def promote(self, namespace: Namespace, memory_id: str) -> Effect[Memory, MemoryReadError]:
        """Make it long-term, because a person marked it as important (spec 000)."""
        ...

    def pin(
        self, namespace: Namespace, memory_id: str, *, pinned: bool = True
    ) -> Effect[Memory, MemoryReadError]:
        """Exempt it from decay and expiry, or no longer."""
        ...

    def forget(self, namespace: Namespace, memory_id: str) -> Effect[ForgetReceipt, MemoryReadError]:
        """Remove the memory and those that it has superseded, without a trace."""
        ...

    def forget_where(
        self,
        namespace: Namespace,
        *,
        session_id: str | None = None,
        message_id: str | None = None,
        path: str | None = None,
    ) -> Effect[ForgetReceipt, RecallError]:
        """Remove what comes from there; at least one of them has to be given, and all that are given have to fit."""
        ...

    def forget_all(self, namespace: Namespace) -> Effect[ForgetReceipt, RecallError]:
        """Remove everything that the namespace sees."""
        ...

    def end_session(self, namespace: Namespace, session_id: str) -> Effect[int, RecallError]:
        """Say that a session is over; short-term memories go when ``memory.expiry`` says so.  Return how many went."""
        ...

    def expire(self, namespace: Namespace) -> Effect[int, RecallError]:
        """Remove short-term memories older than ``memory.expiry.shortTermDays``; return how many."""
        ...

    def re_embed(
        self, namespace: Namespace, *, limit: int = 1000, after: str | None = None
    ) -> Effect[ReEmbedReport, RecallError]:
        """Give long-term memories that lack it the vector of the present embedder, *limit* of them at most.

        Call it again with the report's ``next`` until that is None.  It can be stopped at any moment, and begun anew:
        what is done stays done.
        """
        ...


class LongTermMemoryService(Tag[LongTermMemory], given_by="stacks.embedded(path)"):
    """Where layers provide ``LongTermMemory``."""
