"""``LongTermMemory``: the service that agents call to remember, recall, correct and forget."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Effect, Tag
from chatmemory.errors import MemoryChangeError, MemoryReadError, MemoryUndoError, RecallError, RememberError
from chatmemory.input.json_value import Json
from chatmemory.longterm.extraction.proposals import Extraction, MemoryUpdate, Speaker
from chatmemory.longterm.memories import (
    AttributePolicy,
    Category,
    DedupPolicy,
    Duplicate,
    ForgetReceipt,
    Memory,
    MemoryChanges,
    MemoryPage,
    MemoryType,
    NewMemory,
    ReEmbedReport,
    RememberReport,
    Stored,
    UseReport,
)
from chatmemory.longterm.memory_history import MemoryHistory
from chatmemory.longterm.recall.recall import Recall


class LongTermMemory(Protocol):
    """Memories that can be saved, recalled, corrected and forgotten.

    Every method takes the namespace whose memories it works on.  It checks its arguments first and fails with
    ``DataValidationError`` when one is invalid; nothing has happened then.  Every method fails with
    ``GenericMemoryError`` when the store fails.  An embedder that fails makes only ``re_embed`` fail: a memory without a
    vector is still found by its words.
    """

    # --- Saving ---

    def remember(
        self,
        namespace: Namespace,
        memories: Sequence[NewMemory],
        *,
        dedup: DedupPolicy = "exact",
        attributes: AttributePolicy = "given",
    ) -> Effect[RememberReport, RememberError]:
        """Store *memories*, all or none.

        What the user states about an attribute takes the place of what he has stated about the same attribute in exactly
        this namespace: "I live in Shanghai now" ends "I live in Hangzhou".  The outcome names what ended in ``retired``, and
        ``restore`` undoes it.  What is pinned, what was put by its key, and what a tool, an assistant or a file said is never
        ended in this way, and ends nothing.  Attributes with several values, such as ``pet``, end nothing either.

        What was forgotten, by its id or by all the messages that it comes from, is skipped: neither an import nor a replay
        brings it back.  With the *dedup* ``none`` it is stored.

        Args:
            namespace: the namespace to write to.
            memories: what to store, in order.
            dedup: which memories count as duplicates and are not stored again, see ``DedupPolicy``.
            attributes: whether to read attributes in memories that bring none, see ``AttributePolicy``.

        Returns:
            an outcome for each memory, in order: stored, duplicate or skipped.

        Fails with:
            MemoryConflictError: an id is already taken by a memory that says something else.
        """
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
        write_id: str | None = None,
    ) -> Effect[RememberReport, RememberError]:
        """Store a turn as two short-term memories, the user's and the assistant's (spec 000).

        Args:
            namespace: the namespace to write to.
            user_content: the user's message as it was sent to the model; ``""``: it is skipped.
            assistant_content: the whole answer; ``""``: it is skipped.
            session_id: the conversation that the turn belongs to.
            user_message_id: the id of the stored user message, for provenance; None: unknown.
            assistant_message_id: the id of the stored answer, for provenance; None: unknown.
            dedup: which memories count as duplicates and are not stored again, see ``DedupPolicy``.
            write_id: an id of this call in its session, 1 to 512 characters; when the call is repeated with it, what was
                stored is a duplicate, whatever *dedup* says.  None: the call has none.

        Returns:
            two outcomes: the user's, then the assistant's.

        Fails with:
            MemoryConflictError: *write_id* belongs to another turn.
        """
        ...

    def extract(self, content: str, *, role: Speaker = "user") -> Effect[Extraction, RecallError]:
        """Propose memories for a text without saving any, to fill in a dialog for example (spec 002).

        Args:
            content: the text of one message.
            role: who said it.

        Returns:
            the proposals, the one with the highest confidence first; none when the text holds nothing worth
            remembering.
        """
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
        write_id: str | None = None,
    ) -> Effect[RememberReport, RememberError]:
        """Store each fact in *content* as a memory of its own (spec 002).

        What the user said becomes a long-term memory, ``user_stated``, with a confidence of at least 0.9.  What an
        assistant said becomes a short-term memory, ``inferred``.  A text that only repeats a recalled memory is skipped
        as an echo.  Each fact has the attribute that the rules read in it, and what the user says is over has one too; what
        ends by it is told as in ``remember``.

        Args:
            namespace: the namespace to write to.
            content: the text of one message.
            role: who said it.
            session_id: the conversation that the message belongs to; None: unknown.
            message_id: the id of the stored message, for provenance; None: unknown.
            update: the facts that a model gave with its answer.  They are stored when it says ``should_store``;
                otherwise nothing is.  None: the extractor looks for facts in *content*.
            write_id: an id of this call in its session, 1 to 512 characters; when the call is repeated with it, what was
                stored is a duplicate, even if the extractor words it in another way.  None: the call has none.

        Returns:
            an outcome for each fact, in order.
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
        """Return the long-term memories that match *query*, best first.

        It changes nothing.  Call ``record_use`` to count which of the memories a model was shown.

        Args:
            namespace: the reader, who also sees memories as ``Namespace.sees`` says.
            query: any text, usually the user's message.
            limit: the largest number of hits, 0 to 200; None: as configured.  Up to 50, a larger limit only adds hits
                at the end; the same holds from 51 to 200, where more candidates are compared.
            category: recall only memories of this category; None: of any.
            tags: recall only memories that have all of these tags.
            as_of: recall what was true at this time, given with a time zone; None: what is true now.

        Returns:
            the hits with their scores, and whether they were found by vectors or by words, and why.
        """
        ...

    def record_use(
        self,
        namespace: Namespace,
        memory_ids: Sequence[str],
        *,
        use_id: str | None = None,
        session_id: str | None = None,
        query: str | None = None,
    ) -> Effect[UseReport, RecallError]:
        """Count that these memories were used in one context for a model.

        A short-term memory that is used in enough sessions becomes long-term (``memory.promotion``).  No recall shows it
        before that; it counts as used when it would answer *query*.

        Args:
            namespace: the reader; memories that it does not see are not counted.
            memory_ids: the memories that the model was shown.
            use_id: an id of the context.  A memory whose last use has the same id is not counted again, so a call
                whose answer was lost can be repeated.  None: a new id is made.
            session_id: the conversation that the context belongs to; None: none.
            query: the user's message, for which the context was made.  If ``memory.promotion.afterSessions`` is set, the
                short-term memories that share words with it count as used, too: of the newest 400, those that the user
                stated in other sessions, at most ``memory.retrieval.limit``.  None: none of them.

        Returns:
            how many memories were counted, and the ids of those that became long-term.
        """
        ...

    # --- Values by key ---

    def put_value(
        self, namespace: Namespace, key: str, value: Json, *, content: str | None = None
    ) -> Effect[Stored | Duplicate, RememberError]:
        """Set the value of *key* in exactly this namespace.

        The previous value can still be read with *as_of*.  Setting the value that is already there changes nothing.

        Args:
            namespace: the namespace to write to.
            key: 1 to 512 characters.
            value: any JSON.
            content: the text that a model reads; None: it is made of the key and the value.

        Returns:
            ``Stored``, or ``Duplicate`` when the value is already there.
        """
        ...

    def get_value(
        self, namespace: Namespace, key: str, *, as_of: datetime | None = None
    ) -> Effect[Memory | None, RecallError]:
        """Return the memory that holds the value of *key* in exactly this namespace.

        Args:
            namespace: the namespace to read from.
            key: 1 to 512 characters.
            as_of: read the value at this time, given with a time zone; None: the present value.

        Returns:
            the memory; None when the key has no value then.
        """
        ...

    def delete_value(self, namespace: Namespace, key: str) -> Effect[bool, RecallError]:
        """Delete the present value of *key*; it can still be read with *as_of*.  ``forget`` removes past values as well.

        Args:
            namespace: the exact namespace of the key.
            key: 1 to 512 characters.

        Returns:
            False when the key has no value.
        """
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
        """List the memories of exactly this namespace that have a key, newest first.

        Args:
            namespace: the namespace to read from.
            prefix: list only keys that begin with this text; ``""``: all keys.
            limit: the largest number of memories on the page.
            after: the ``next`` of the page before this one; None: the first page.
            as_of: list the values at this time, given with a time zone; None: the present values.
        """
        ...

    # --- Maintenance ---

    def get(self, namespace: Namespace, memory_id: str) -> Effect[Memory, MemoryReadError]:
        """Return one memory, whether it is true now or superseded.

        Args:
            namespace: the reader.
            memory_id: the id of the memory.

        Fails with:
            MemoryNotFoundError: the namespace sees no memory with this id.
        """
        ...

    def history(self, namespace: Namespace, memory_id: str) -> Effect[MemoryHistory, MemoryReadError]:
        """Return what happened to a memory, when, by whom and why, and what it said before each correction.

        Args:
            namespace: the reader.
            memory_id: the id of the memory.  One that was forgotten has events, and no content.

        Fails with:
            MemoryNotFoundError: nothing has ever happened to a memory with this id that the namespace sees.
        """
        ...

    def undo(
        self, namespace: Namespace, memory_id: str, *, number: int | None = None
    ) -> Effect[Memory, MemoryUndoError]:
        """Take one change of a memory back; that is a change like any other, with an event of its own.

        What was superseded or retired is true again, in the place of its successor; a correction gives way to the content
        before; a pin, a promotion and a demotion are taken back; a value that was put gives way to the value before.

        Args:
            namespace: the reader.
            memory_id: the id of the memory.
            number: of the event, as ``history`` tells it; None: the newest one.

        Returns:
            the memory, as it is now; of a value that was put, the memory of the value before.

        Fails with:
            MemoryNotFoundError: the namespace sees no memory with this id, and never did.
            NotUndoableError: no such change is on record, it took content away, or there is nothing before it.
            MemoryChangedError: the memory was corrected again since.
        """
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
        """List memories, newest first.

        Args:
            namespace: the reader.
            limit: the largest number of memories on the page.
            after: the ``next`` of the page before this one; None: the first page.
            memory_type: list only short-term or only long-term memories; None: both.
            category: list only memories of this category; None: of any.
            session_id: list only memories from this conversation; None: from any.
            tag: list only memories with this tag; None: with any or none.
            containing: list only memories whose content, key or value contains this text, 1 to 1,000 characters.
                ``A`` to ``Z`` match ``a`` to ``z``; every other character matches only itself.  A value that is not
                text is searched as JSON.  None: list all.
            as_of: list what was true at this time, given with a time zone; None: what is true now.
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
        """Correct a memory in place.  To record that a fact has changed, call ``supersede``.

        Args:
            namespace: the reader.
            memory_id: the id of the memory.
            changes: the fields to replace; all others stay.
            expected_version: the version that the caller has read; None: any version.  It is not checked when the
                memory already says what *changes* say, so a call whose answer was lost can be repeated.

        Returns:
            the corrected memory.

        Fails with:
            MemoryNotFoundError: the namespace sees no memory with this id.
            MemoryChangedError: the memory is at another version than *expected_version*.
        """
        ...

    def supersede(
        self, namespace: Namespace, memory_id: str, replacement: NewMemory
    ) -> Effect[Stored, MemoryChangeError]:
        """Replace a memory that is true now with a newer fact; the older one can still be read with *as_of*.

        Args:
            namespace: the reader.
            memory_id: the id of the older memory.
            replacement: the newer fact; it is stored in the namespace of the older memory.

        Fails with:
            MemoryNotFoundError: the namespace sees no memory with this id that is true now.
            MemoryConflictError: the id of *replacement* is already taken by a memory that says something else.
        """
        ...

    def restore(
        self, namespace: Namespace, memory_id: str, *, instead_of: str | None = None
    ) -> Effect[Memory, MemoryReadError]:
        """Make a memory true again that was superseded or retired, as if it had not ended.

        A call whose answer was lost can be repeated: what is true already stays as it is.

        Args:
            namespace: the reader.
            memory_id: the id of the memory that ended.
            instead_of: the id of the memory that stops being true now, which is the one that took its place when that is
                to be undone; None: every other memory stays as it is.

        Returns:
            the memory, which is true now.

        Fails with:
            MemoryNotFoundError: the namespace sees no memory with this id, or none with the id *instead_of*.
            DataValidationError: both ids are the same.
        """
        ...

    def promote(self, namespace: Namespace, memory_id: str) -> Effect[Memory, MemoryReadError]:
        """Make a memory long-term because a person marked it as important (spec 000).

        Args:
            namespace: the reader.
            memory_id: the id of the memory.

        Returns:
            the changed memory.

        Fails with:
            MemoryNotFoundError: the namespace sees no memory with this id.
        """
        ...

    def pin(
        self, namespace: Namespace, memory_id: str, *, pinned: bool = True
    ) -> Effect[Memory, MemoryReadError]:
        """Pin a memory, so that it neither decays nor expires; or unpin it.

        Args:
            namespace: the reader.
            memory_id: the id of the memory.
            pinned: False: unpin it.

        Returns:
            the changed memory.

        Fails with:
            MemoryNotFoundError: the namespace sees no memory with this id.
        """
        ...

    def forget(self, namespace: Namespace, memory_id: str) -> Effect[ForgetReceipt, MemoryReadError]:
        """Remove a memory and all memories that it has superseded, without a trace.

        Args:
            namespace: the reader.
            memory_id: the id of the memory.

        Returns:
            how much was removed, and the summaries that may still repeat it.

        Fails with:
            MemoryNotFoundError: the namespace sees no memory with this id.
        """
        ...

    def forget_where(
        self,
        namespace: Namespace,
        *,
        session_id: str | None = None,
        message_id: str | None = None,
        path: str | None = None,
    ) -> Effect[ForgetReceipt, RecallError]:
        """Remove the memories that come from a session, a message or a file, without a trace.

        Give at least one of *session_id*, *message_id* and *path*.  Only memories that match all that are given are
        removed.

        Args:
            namespace: the reader; memories that it does not see stay.
            session_id: remove memories from this conversation; None: from any.
            message_id: remove memories whose provenance names this message; None: any message.
            path: remove memories whose provenance names this path, which is not empty; None: any path.

        Returns:
            how much was removed, and the summaries that may still repeat it.
        """
        ...

    def forget_all(self, namespace: Namespace) -> Effect[ForgetReceipt, RecallError]:
        """Remove all memories that the namespace sees, without a trace."""
        ...

    def end_session(self, namespace: Namespace, session_id: str) -> Effect[int, RecallError]:
        """Remove the short-term memories of a session that has ended, if ``memory.expiry.atSessionEnd`` is set.

        Pinned memories stay.

        Args:
            namespace: the reader; memories that it does not see stay.
            session_id: the conversation that has ended.

        Returns:
            how many memories were removed; 0 when the setting is off.
        """
        ...

    def expire(self, namespace: Namespace) -> Effect[int, RecallError]:
        """Remove the short-term memories that are older than ``memory.expiry.shortTermDays``, and return how many.

        Pinned memories stay.
        """
        ...

    def re_embed(
        self, namespace: Namespace, *, limit: int = 1000, after: str | None = None
    ) -> Effect[ReEmbedReport, RecallError]:
        """Embed the long-term memories that have no vector of the present embedder.

        Call it again with the ``next`` of the report until ``next`` is None.  It can be stopped at any time; the memories
        that were embedded stay embedded.

        Args:
            namespace: the reader.
            limit: the largest number of memories to embed in this call.
            after: the ``next`` of the last report; None: begin with the newest memory.

        Fails with:
            GenericMemoryError: the embedder or the store failed.
        """
        ...


class LongTermMemoryService(Tag[LongTermMemory], given_by="stacks.embedded(path)"):
    """The tag under which layers provide ``LongTermMemory``."""
