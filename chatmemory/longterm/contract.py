"""``LongTermMemory``: the service that agents call to remember, recall, correct and forget."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Effect, Tag
from chatmemory.errors import MemoryChangeError, MemoryReadError, MemoryUndoError, RecallError, RememberError
from chatmemory.input.json_value import Json
from chatmemory.longterm.extraction.memory_extractor import Extraction, MemoryUpdate, Speaker
from chatmemory.longterm.memories import (
    AttributePolicy,
    Category,
    DedupPolicy,
    Duplicate,
    ForgetReceipt,
    Memory,
    MemoryChanges,
    MemoryFacets,
    MemoryHistory,
    MemoryPage,
    MemoryType,
    NewMemory,
    ReEmbedReport,
    RememberReport,
    Source,
    Stored,
    UseReport,
)
from chatmemory.longterm.recall.recall import Recall


class LongTermMemory(Protocol):
    """Saves, recalls, corrects and forgets memories.

    Every method takes the namespace whose memories it works on.  It checks its arguments first and fails with
    ``DataValidationError`` when one of them is invalid; then nothing has been changed.  Every method fails with
    ``GenericMemoryError`` when the store fails.  ``Fails with:`` names the other errors of a method.  When the embedder
    fails, only ``re_embed`` fails: a memory without a vector is still found by its words.
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

        A statement of the user about an attribute supersedes the user's earlier statement about the same attribute in
        exactly this namespace.  For example, "I live in Shanghai now" makes "I live in Hangzhou" no longer true.  The
        outcome names the superseded memories in ``retired``, and ``restore`` undoes this.  Some memories neither supersede
        another one in this way nor are superseded: pinned ones, those written by ``put_value``, and those from a tool, an
        assistant or a file.  An attribute that can have several values, such as ``pet``, supersedes nothing either.

        A memory that was forgotten is skipped, so that no import or replay brings it back.  It is recognized by its id, or
        by its messages, when forgotten memories came from all of them.  With ``dedup="none"`` it is stored.

        Args:
            namespace: the namespace to write to.
            memories: what to store, in order.
            dedup: which memories count as duplicates and are not stored again, see ``DedupPolicy``.
            attributes: whether to look for an attribute in the content of memories that have none, see
                ``AttributePolicy``.

        Returns:
            an outcome for each memory, in order: stored, duplicate or skipped.

        Fails with:
            MemoryConflictError: an id belongs to a stored memory with another content.
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
        """Store a turn as two short-term memories: the user's message and the assistant's answer (spec 000).

        Args:
            namespace: the namespace to write to.
            user_content: the user's message as it was sent to the model; ``""``: it is skipped.
            assistant_content: the complete answer; ``""``: it is skipped.
            session_id: the conversation that the turn belongs to.
            user_message_id: the id of the stored user message, for provenance; None: unknown.
            assistant_message_id: the id of the stored answer, for provenance; None: unknown.
            dedup: which memories count as duplicates and are not stored again, see ``DedupPolicy``.
            write_id: an id of this call in its session, 1 to 512 characters.  A call that is repeated with the same id within a
                week stores nothing and reports the outcomes of the first time.  None: no id.

        Returns:
            the outcome of the user's message, then the outcome of the answer.

        Fails with:
            GenericMemoryError: *write_id* belongs to another call; ``reason.problem`` is ``key_reused``.
        """
        ...

    def extract(self, content: str, *, role: Speaker = "user") -> Effect[Extraction, RecallError]:
        """Propose memories for a text without saving them, for example to fill in a dialog (spec 002).

        Args:
            content: the text of one message.
            role: who wrote the message.

        Returns:
            the proposals, the one with the highest confidence first; none when the text contains nothing worth
            remembering.  When a skill fails, the rules are used instead, and ``note`` says why.
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
        """Store each fact in *content* as a separate memory (spec 002).

        A fact that the user said becomes a long-term memory with the source ``user_stated`` and a confidence of at least
        0.9.  A fact that an assistant said becomes a short-term memory with the source ``inferred``.  A text that only
        repeats a recalled memory is skipped as an echo.  Each fact gets the attribute that the rules find in it; so does
        a statement of the user that something is no longer true.  The outcomes name the superseded memories, as in
        ``remember``.

        Args:
            namespace: the namespace to write to.
            content: the text of one message.
            role: who wrote the message.
            session_id: the conversation that the message belongs to; None: unknown.
            message_id: the id of the stored message, for provenance; None: unknown.
            update: the facts that a model gave with its answer.  They are stored if its ``should_store`` is True;
                otherwise nothing is stored.  None: the extractor looks for facts in *content*.
            write_id: an id of this call in its session, 1 to 512 characters.  A call that is repeated with the same id within a
                week stores nothing and reports the outcomes of the first time.  None: no id.

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
        explain: bool = False,
    ) -> Effect[Recall, RecallError]:
        """Return the long-term memories that match *query*, best first.

        A recall changes nothing.  Call ``record_use`` to count the memories that a model was shown.

        Args:
            namespace: the reader; ``Namespace.sees`` defines which memories it sees.
            query: any text, usually the user's message.
            limit: the largest number of hits, 0 to 200; None: as configured.  Up to 50, a larger limit only adds hits
                at the end; the same holds from 51 to 200, where more candidates are compared.
            category: recall only memories of this category; None: any category.
            tags: recall only memories that have all of these tags.
            as_of: recall what was true at this time, given with a time zone; None: what is true now.
            explain: also return the memories that were closest to being hits, each with the reason why it is not a hit.

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
        """Count one use of each of these memories, in one context for a model.

        A short-term memory that is used in enough sessions becomes long-term (``memory.promotion``).  Recall does not
        return it before that, so it counts as used when it matches *query*.

        Args:
            namespace: the reader; memories that it does not see are not counted.
            memory_ids: the memories that the model was shown.
            use_id: an id of the context.  A memory whose last use has the same id is not counted again, so it is safe to
                repeat a call whose answer was lost.  None: a new id is made.
            session_id: the conversation that the context belongs to; None: no conversation.
            query: the user's message that the context was built for.  If ``memory.promotion.afterSessions`` is set,
                short-term memories that share words with it are counted as well.  They are at most
                ``memory.retrieval.limit`` of the newest 400, stated by the user in other sessions.  None: none of them.

        Returns:
            how many memories were counted, and the ids of those that became long-term.
        """
        ...

    # --- Values by key ---

    def put_value(
        self, namespace: Namespace, key: str, value: Json, *, content: str | None = None
    ) -> Effect[Stored | Duplicate, RememberError]:
        """Set the value of *key* in exactly this namespace.

        The previous value can still be read with *as_of*.  When the key already has this value, nothing changes.

        Args:
            namespace: the namespace to write to.
            key: 1 to 512 characters.
            value: any JSON.
            content: the text that a model reads; None: it is made of the key and the value.

        Returns:
            ``Stored``, or ``Duplicate`` when the key already has this value.
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
            the memory; None when the key was unset at that time.
        """
        ...

    def delete_value(self, namespace: Namespace, key: str) -> Effect[bool, RecallError]:
        """Delete the present value of *key*; it can still be read with *as_of*.  ``forget`` removes past values as well.

        Args:
            namespace: the exact namespace of the key.
            key: 1 to 512 characters.

        Returns:
            True when a value was deleted; False when the key is unset.
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
        """List the values of keys in exactly this namespace, newest first.

        Args:
            namespace: the namespace to read from.
            prefix: list only keys that begin with this text; ``""``: all keys.
            limit: the largest number of memories on the page.
            after: the ``next`` of the page before this one; None: the first page.
            as_of: list the values at this time, given with a time zone; None: the present values.

        Returns:
            one page of memories, with the cursor of the page after it.
        """
        ...

    # --- Maintenance ---

    def get(self, namespace: Namespace, memory_id: str) -> Effect[Memory, MemoryReadError]:
        """Return one memory, whether it is true now or superseded.

        Args:
            namespace: the reader.
            memory_id: the id of the memory.

        Returns:
            the memory.

        Fails with:
            MemoryNotFoundError: the namespace sees no memory with this id.
        """
        ...

    def history(self, namespace: Namespace, memory_id: str) -> Effect[MemoryHistory, MemoryReadError]:
        """Return the events of a memory (what happened, when, by whom and why) and its content before each correction.

        Args:
            namespace: the reader.
            memory_id: the id of the memory.  A forgotten memory has events, but no content.

        Returns:
            the events and the earlier contents, oldest first.

        Fails with:
            MemoryNotFoundError: the namespace never saw a memory with this id.
        """
        ...

    def undo(
        self, namespace: Namespace, memory_id: str, *, number: int | None = None
    ) -> Effect[Memory, MemoryUndoError]:
        """Undo one change of a memory.  The undo is a change itself, with its own event.

        A memory that was superseded or retired becomes true again, and its successor stops being true.  After a
        correction, the memory has its earlier content again.  A pin, a promotion or a demotion is reversed.  A value that
        was set by ``put_value`` is replaced by the value before it.

        Args:
            namespace: the reader.
            memory_id: the id of the memory.
            number: the number of the event, as ``history`` returns it; None: the newest event.

        Returns:
            the memory as it is now; for a value that was set by ``put_value``, the memory of the value before it.

        Fails with:
            MemoryNotFoundError: the namespace never saw a memory with this id.
            NotUndoableError: no such change is recorded, it removed content, or there is nothing before it.
            MemoryChangedError: the memory has been corrected again since that change.
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
        source: Source | None = None,
        superseded: bool = False,
    ) -> Effect[MemoryPage, RecallError]:
        """List memories, newest first.

        Args:
            namespace: the reader.
            limit: the largest number of memories on the page.
            after: the ``next`` of the page before this one; None: the first page.
            memory_type: list only short-term or only long-term memories; None: both.
            category: list only memories of this category; None: any category.
            session_id: list only memories from this conversation; None: from any conversation or none.
            tag: list only memories with this tag; None: with or without tags.
            containing: list only memories whose content, key or value contains this text, 1 to 1,000 characters.
                ``A`` to ``Z`` match ``a`` to ``z``; every other character matches only itself.  A value that is not
                text is searched as JSON.  Each page searches 5,000 memories, so it may have fewer than *limit*, or
                none, and still a ``next`` to continue from.  None: list all.
            as_of: list what was true at this time, given with a time zone; None: what is true now.
            source: list only memories of this source; None: of any.
            superseded: True: list what is true no longer, or, with *as_of*, what was true no longer then.

        Returns:
            one page of memories, with the cursor of the page after it.
        """
        ...

    def facets(
        self,
        namespace: Namespace,
        *,
        memory_type: MemoryType | None = None,
        category: Category | None = None,
        session_id: str | None = None,
        tag: str | None = None,
        as_of: datetime | None = None,
        source: Source | None = None,
        superseded: bool = False,
    ) -> Effect[MemoryFacets, RecallError]:
        """Count the memories that ``list`` gives with the same filters, by category, by type and by source.

        Args:
            namespace: the reader.
            memory_type: count only short-term or only long-term memories; None: both.
            category: count only memories of this category; None: of any.
            session_id: count only memories from this conversation; None: from any.
            tag: count only memories with this tag; None: with any or none.
            as_of: count what was true at this time, given with a time zone; None: what is true now.
            source: count only memories of this source; None: of any.
            superseded: True: count what is true no longer, or, with *as_of*, what was true no longer then.

        Returns:
            the total, and the counts of each of the three fields under the filters of the other fields.
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
            changes: the fields to replace; all others stay, and so does the key of a value.  An attribute that the rules
                had read in the content is read again in the new content.
            expected_version: the version that the caller has read; None: any version.  It is not checked when the
                memory already has the fields of *changes*, so it is safe to repeat a call whose answer was lost.

        Returns:
            the corrected memory; it keeps its version if *changes* change nothing.

        Fails with:
            DataValidationError: *changes* are invalid, or change the key of a value.
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
            replacement: the newer fact; it is stored in the namespace of the older memory.  In place of the value of a
                key, it is the next value when it has this key.  Without an attribute, it gets the attribute that its
                words state, or the attribute of the older memory.

        Returns:
            the id of the newer memory, and the ids of the memories that it superseded.

        Fails with:
            MemoryNotFoundError: the namespace sees no memory with this id that is true now.
            MemoryConflictError: the id of *replacement* belongs to a stored memory with another content.
        """
        ...

    def restore(
        self, namespace: Namespace, memory_id: str, *, instead_of: str | None = None
    ) -> Effect[Memory, MemoryReadError]:
        """Make a superseded or retired memory true again, as if it had never stopped being true.

        It is safe to repeat a call whose answer was lost: a memory that is already true is not changed.

        Args:
            namespace: the reader.
            memory_id: the id of the memory that is no longer true.
            instead_of: the id of the memory that stops being true now; give the id of the memory that replaced
                *memory_id* to undo the replacement.  None: no other memory is changed, but the present value of the key
                when *memory_id* is an earlier one (a key has one value).

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
        """Pin a memory, so that it neither decays nor expires, or unpin it.

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
        """Remove a memory and all memories that it has superseded, so that no byte of the store holds their text.

        Args:
            namespace: the reader.
            memory_id: the id of the memory.

        Returns:
            how many memories and vectors were removed, and the summaries that may still repeat their content.

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
        """Remove the memories that come from a session, a message or a file, so that no byte of the store holds their text.

        Give at least one of *session_id*, *message_id* and *path*.  A memory is removed only when it matches all of those
        that are given.

        Args:
            namespace: the reader; memories that it does not see are not removed.
            session_id: remove memories from this conversation; None: from any conversation.
            message_id: remove memories whose provenance names this message; None: any message.
            path: remove memories whose provenance names this path, which is not empty; None: any path.

        Returns:
            how many memories and vectors were removed, and the summaries that may still repeat their content.

        Fails with:
            DataValidationError: an argument is invalid, or none of the three is given.
        """
        ...

    def forget_all(self, namespace: Namespace) -> Effect[ForgetReceipt, RecallError]:
        """Remove all memories that the namespace sees, so that no byte of the store holds their text."""
        ...

    def end_session(self, namespace: Namespace, session_id: str) -> Effect[int, RecallError]:
        """Remove the short-term memories of a session that has ended, if ``memory.expiry.atSessionEnd`` is set.

        Pinned memories stay.

        Args:
            namespace: the reader; memories that it does not see are not removed.
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
        """Embed the long-term memories that lack a vector of the present embedder.

        Call this method again with the ``next`` of the report until ``next`` is None.  It can be stopped at any time; the
        memories that were already embedded keep their vectors.

        Args:
            namespace: the reader.
            limit: the largest number of memories to embed in this call.
            after: the ``next`` of the last report; None: begin with the newest memory.

        Returns:
            how many memories were embedded, how many still lack a vector, and the cursor to continue from.

        Fails with:
            GenericMemoryError: the embedder or the store failed.
        """
        ...


class LongTermMemoryService(Tag[LongTermMemory], given_by="stacks.embedded(path)"):
    """The tag under which layers provide ``LongTermMemory``."""
