"""Values of long-term memory: memories, provenance, the results of writes, receipts.

The rules for input are in ``memory_rules.py``; what can be done with memories is in ``contract.py``, what a recall
answers in ``recall/recall.py``, and what an extractor proposes in ``extraction/proposals.py``.
"""

from datetime import datetime
from typing import Literal, TypeAlias, final

from attrs import field, frozen

from chatmemory.access.namespace import Namespace
from chatmemory.embedding.space import Embedding, EmbeddingSpace
from chatmemory.input.choices import UNCHANGED, Unchanged
from chatmemory.input.json_value import Json

MemoryType: TypeAlias = Literal["short_term", "long_term"]
"""``short_term``: a turn of a session, kept out of recall.  ``long_term``: recalled in every later session (spec 000)."""

Category: TypeAlias = Literal["preference", "fact", "pattern"]
Source: TypeAlias = Literal["user_stated", "inferred", "system"]
MemoryRole: TypeAlias = Literal["user", "assistant", "system", "tool"]

DedupPolicy: TypeAlias = Literal["exact", "first_50_characters", "none"]
"""What makes a memory a duplicate of one that is true now in the same namespace.

``exact``: the same role, key, value and content.  ``first_50_characters``: the same session, role and first 50
characters of the content (spec 001, D3).  ``none``: nothing does, and what was forgotten is stored again.
"""

AttributePolicy: TypeAlias = Literal["given", "read"]
"""Which attribute a memory has that is to be stored.  ``given``: that of ``NewMemory``.  ``read``: if that has none, what
the rules for English and Chinese read in its content, when the user stated it."""


@final
@frozen
class Provenance:
    """Where a memory comes from, besides its session.

    Attributes:
        message_ids: the messages of the session that say so.
        extractor: what found the memory in them: ``rules``, the id of a skill, ``person`` ...
        path: the file, and the turn in it, when the memory was read from a file; None: from no file.
    """

    message_ids: tuple[str, ...] = ()
    extractor: str | None = None
    path: str | None = None


def is_stated(role: str | None, source: str | None, path: str | None) -> bool:
    """Tell whether a memory is what the user said himself, and not what a tool, an assistant, a program or a file says."""
    return role == "user" and source == "user_stated" and path is None


@final
@frozen(slots=False)
class NewMemory:
    """A memory to be stored.

    Attributes:
        content: the text that a model reads, 1 to 16,777,216 characters without NUL and lone surrogates.
        id: 1 to 512 characters, unique among the memories of its user; None: a new id is made.
        key: what the memory is about, ``编程语言偏好`` for example.  It is only a label, unless ``put_value`` writes it.
        value: any JSON; None: *content* says everything.
        confidence: 0 to 1.
        session_id: the conversation that it comes from.
        memory_type: None: ``long_term`` when the user stated it, ``short_term`` otherwise.
        pinned: whether a person marked it as important, so that it does not decay even when it was inferred.
        created_at: since when it is true, with a time zone; None: now.
        embedding: its vector; None: the embedder makes one.
        attribute: what of the user it states or ends: ``residence``, ``favourite:book``, ``database:relay``, or any name
            of the caller's own.  A newer statement of the user about the same attribute ends this one, unless the
            attribute is one of which several values are true at once, see ``SEVERAL_VALUED``.  None: it is about none.
    """

    content: str
    id: str | None = None
    key: str | None = None
    value: Json = None
    category: Category | None = None
    tags: tuple[str, ...] = ()
    confidence: float = 1.0
    source: Source = "user_stated"
    role: MemoryRole = "user"
    session_id: str | None = None
    memory_type: MemoryType | None = None
    pinned: bool = False
    provenance: Provenance = Provenance()
    created_at: datetime | None = None
    embedding: Embedding | None = None
    attribute: str | None = None


@frozen(slots=False)
class MemoryFacts:
    """What a draft and a stored memory both have; see ``NewMemory`` for what callers give.

    Attributes:
        namespace: where it was written.
        created_at: since when it is true, UTC, to the microsecond.
        attribute: what of the user it states or ends; None: it is about none.
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
    attribute: str | None = field(default=None, kw_only=True)

    @property
    def is_stated(self) -> bool:
        """Whether the user said it himself: not a tool, an assistant, a program or a file."""
        return is_stated(self.role, self.source, self.provenance.path)


@final
@frozen(slots=False)
class Memory(MemoryFacts):
    """A stored memory.

    Attributes:
        last_accessed: when it last entered a model's context, UTC; None: never.
        access_count: how many contexts it has entered.
        embedding: the space of its vector; None: it has no vector.
        superseded_at: when it stopped being true, UTC; None: it is true now.
        superseded_by: the id of the memory that replaced it; None: nothing replaced it, or the replacement was removed.
        version: grows with every change of its content, for ``expected_version``.
    """

    last_accessed: datetime | None = None
    access_count: int = 0
    embedding: EmbeddingSpace | None = None
    superseded_at: datetime | None = None
    superseded_by: str | None = None
    version: int = 1

    @property
    def app_type(self) -> str:
        """The app of the memory's namespace, under the name that spec 000 uses."""
        return self.namespace.app


@final
@frozen
class MemoryPage:
    """A page of memories, newest first; *next* is the cursor of the page after this one, None at the end."""

    memories: tuple[Memory, ...]
    next: str | None


@final
@frozen(kw_only=True)
class MemoryChanges:
    """A correction of a memory: the fields that are given replace the stored ones, all others stay."""

    content: str | Unchanged = UNCHANGED
    key: str | Unchanged | None = UNCHANGED
    value: Json | Unchanged = UNCHANGED
    category: Category | Unchanged | None = UNCHANGED
    tags: tuple[str, ...] | Unchanged = UNCHANGED
    confidence: float | Unchanged = UNCHANGED


@final
@frozen
class Retired:
    """The memory *id* is no longer true, because something newer was said about the same *attribute*."""

    id: str
    attribute: str


@final
@frozen
class Stored:
    """The memory was stored.

    Attributes:
        id: its id.
        superseded: the ids of the memories whose place it took.
        retired: those of them that nobody has named: they end by their attribute.  ``LongTermMemory.restore`` undoes it.
        superseded_by: the id of a newer statement about its attribute, which ends it from the start; None: it is true now.
    """

    id: str
    superseded: tuple[str, ...] = ()
    retired: tuple[Retired, ...] = ()
    superseded_by: str | None = None
    outcome: Literal["stored"] = "stored"


@final
@frozen
class Duplicate:
    """The memory was not stored, because the memory with the id *of* already says the same."""

    of: str
    outcome: Literal["duplicate"] = "duplicate"


@final
@frozen
class Skipped:
    """The memory was not stored, for a reason.

    Attributes:
        reason: ``empty``: it has no content.  ``unsure``: its confidence is too low.  ``echo``: it repeats a memory that
            was put before the model.  ``forgotten``: a memory of this id, or from the same messages, was forgotten, and
            nothing was said since.
        of: the id of the memory that an echo repeats; None for other reasons.
    """

    reason: Literal["empty", "unsure", "echo", "forgotten"]
    of: str | None = None
    outcome: Literal["skipped"] = "skipped"


SaveOutcome: TypeAlias = Stored | Duplicate | Skipped


@final
@frozen
class RememberReport:
    """The result of a write.

    Attributes:
        outcomes: one for each memory, in order.
        unembedded: how many were stored without a vector; they are found by their words until ``re_embed`` is called.
        reason: why these memories have no vector; None when all memories have one.
    """

    outcomes: tuple[SaveOutcome, ...]
    unembedded: int = 0
    reason: str | None = None

    @property
    def stored(self) -> tuple[str, ...]:
        """The ids of the new memories."""
        return tuple(outcome.id for outcome in self.outcomes if isinstance(outcome, Stored))


@final
@frozen
class UseReport:
    """How many memories were counted as *used*, and the ids of those that became long-term by it (*promoted*)."""

    used: int
    promoted: tuple[str, ...] = ()


@final
@frozen
class ForgetReceipt:
    """What was removed, and which summaries may still repeat it.

    Attributes:
        memories: how many memories were removed, superseded ones included.
        embeddings: how many vectors were removed.
        stale_summaries: ids of the summary messages that cover a message from which a removed memory came, directly or
            through another summary, in conversations that who forgets may see.  Sorted by code points, without
            duplicates.
    """

    memories: int
    embeddings: int
    stale_summaries: tuple[str, ...] = ()


@final
@frozen
class ReEmbedReport:
    """The result of a re-embedding.

    Attributes:
        embedded: how many memories got a vector of the present embedder.
        remaining: how many memories still have none; those with nothing to embed (an emoji alone) are among them.
        next: the cursor to continue from; None at the end.
    """

    embedded: int
    remaining: int
    next: str | None
