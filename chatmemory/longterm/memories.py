"""``NewMemory``, ``Memory``, ``RememberReport``, ``ForgetReceipt``, ``MemoryHistory``: the values of long-term memory.

``memory_rules.py`` has the rules for input, ``contract.py`` the operations on memories.  ``recall/recall.py`` has the
result of a recall, ``extraction/memory_extractor.py`` the proposals of an extractor.
"""

from datetime import datetime
from typing import Any, Final, Literal, TypeAlias, final

from attrs import field, fields, frozen

from chatmemory.access.namespace import Namespace
from chatmemory.embedding.space import Embedding, EmbeddingSpace
from chatmemory.events.event import Event
from chatmemory.input.choices import UNCHANGED, Unchanged
from chatmemory.input.json_value import Json

MemoryType: TypeAlias = Literal["short_term", "long_term"]
"""``short_term``: a turn of a session, kept out of recall.  ``long_term``: recalled in every later session (spec 000)."""

Category: TypeAlias = Literal["preference", "fact", "pattern"]
Source: TypeAlias = Literal["user_stated", "inferred", "system"]
MemoryRole: TypeAlias = Literal["user", "assistant", "system", "tool"]

DedupPolicy: TypeAlias = Literal["exact", "first_50_characters", "none"]
"""When a memory is a duplicate of a memory that is true now in the same namespace.

``exact``: both have the same role, key, value and content.  ``first_50_characters``: both have the same session, role and
first 50 characters of the content (spec 001, D3).  ``none``: never, and a memory that was forgotten is stored again.
"""

AttributePolicy: TypeAlias = Literal["given", "read"]
"""Which attribute a new memory gets.  ``given``: the one of ``NewMemory``.  ``read``: the same, but if that is None and the
user stated the memory, the attribute that the rules for English and Chinese find in its content."""


@final
@frozen
class Provenance:
    """The origin of a memory, besides its session.

    Attributes:
        message_ids: the ids of the messages of the session that the memory was found in.
        extractor: the extractor that found it: ``rules``, the id of a skill, ``person`` ...
        path: the file, and the turn in it, that the memory was read from; None: it does not come from a file.
    """

    message_ids: tuple[str, ...] = ()
    extractor: str | None = None
    path: str | None = None


NO_PROVENANCE: Final = Provenance()
"""The provenance of a memory for which no message and no file is known."""


def value_key(role: str | None, source: str | None, key: str | None) -> str | None:
    """Return the key whose value a memory is; None when its key is only a label, or it has none.

    It is *key* when role and source are ``system``, as with ``put_value``.
    """
    return key if role == source == "system" else None


def is_stated(role: str | None, source: str | None, path: str | None) -> bool:
    """Return whether the user stated a memory: it does not come from a tool, an assistant, a program or a file.

    Its role is ``user``, its source is ``user_stated``, and *path*, the file of its provenance, is None.
    """
    return role == "user" and source == "user_stated" and path is None


@final
@frozen(slots=False)
class NewMemory:
    """A memory to be stored.

    Attributes:
        content: the text that a model reads, 1 to 16,777,216 characters without NUL and lone surrogates.
        id: 1 to 512 characters, unique among the memories of its user; None: a new id is made.
        key: the subject of the memory, for example ``编程语言偏好``.  It is only a label, unless *role* and *source*
            are ``system``: then the memory is the value of this key, as with ``put_value``, and supersedes the last one.
        value: any JSON; None: *content* says everything.
        confidence: 0 to 1.
        session_id: the conversation that it comes from; None: unknown.
        memory_type: None: ``long_term`` when the user stated it, ``short_term`` otherwise.
        pinned: whether a person marked it as important, so that it does not decay even when it was inferred.
        created_at: the instant from which it is true, with a time zone; None: now.
        embedding: its vector; None: the embedder makes one.
        attribute: the attribute of the user that the memory states or ends: ``residence``, ``favourite:book``,
            ``database:relay``, or any name that the caller chooses.  A newer statement of the user about the same
            attribute supersedes this memory, unless the attribute can have several values at once, as ``allergy`` and
            ``hobby`` can.  None: the memory is about no attribute.
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
    provenance: Provenance = NO_PROVENANCE
    created_at: datetime | None = None
    embedding: Embedding | None = None
    attribute: str | None = None


@frozen(slots=False)
class MemoryFacts:
    """The fields that a draft and a stored memory share; ``NewMemory`` describes those that callers give.

    Attributes:
        namespace: the namespace that it belongs to.
        created_at: the instant from which it is true, in UTC, to the microsecond.
        attribute: the attribute of the user that the memory states or ends; None: it is about no attribute.
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

    def facts(self) -> dict[str, Any]:
        """Return these fields by name, to make another class with them."""
        return {fact.name: getattr(self, fact.name) for fact in fields(MemoryFacts)}

    @property
    def is_stated(self) -> bool:
        """Whether the user stated it: it does not come from a tool, an assistant, a program or a file."""
        return is_stated(self.role, self.source, self.provenance.path)

    @property
    def value_key(self) -> str | None:
        """The key whose value it is; None when its key is only a label, or it has none."""
        return value_key(self.role, self.source, self.key)


@final
@frozen(slots=False)
class Memory(MemoryFacts):
    """A stored memory.

    Attributes:
        last_accessed: when it was last used in a model's context, UTC; None: never.
        access_count: in how many contexts it was used.
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
        """The app of the memory's namespace; spec 000 uses this name."""
        return self.namespace.app


def as_new(memory: Memory) -> NewMemory:
    """Return *memory* as the value that ``remember`` takes."""
    facts = memory.facts()
    del facts["namespace"]
    return NewMemory(**facts)


@final
@frozen
class FacetCount:
    """How many memories have one value of a field.

    Attributes:
        value: what stands in the field; null: nothing.
    """

    value: str | None
    count: int


@final
@frozen
class MemoryFacets:
    """How many memories a list has in all, and how they divide by a field; the most frequent value comes first.

    Attributes:
        total: those that all filters select.
        categories: by category, under all filters but that of the category.
        memory_types: by memory type, under all filters but that of the memory type.
        sources: by source, under all filters but that of the source.
    """

    total: int
    categories: tuple[FacetCount, ...]
    memory_types: tuple[FacetCount, ...]
    sources: tuple[FacetCount, ...]


@final
@frozen
class MemoryPage:
    """A page of memories, newest first; *next* is the cursor of the page after this one, None at the end.

    A page of a search for a text may have fewer memories than requested, or none, and still a *next*: each page searches
    5,000 memories, and the page after it continues from there.
    """

    memories: tuple[Memory, ...]
    next: str | None


@final
@frozen(kw_only=True)
class MemoryChanges:
    """A correction of a memory: the given fields replace the stored ones, all other fields stay the same."""

    content: str | Unchanged = UNCHANGED
    key: str | Unchanged | None = UNCHANGED
    value: Json | Unchanged = UNCHANGED
    category: Category | Unchanged | None = UNCHANGED
    tags: tuple[str, ...] | Unchanged = UNCHANGED
    confidence: float | Unchanged = UNCHANGED


@final
@frozen
class Retired:
    """The memory *id* is no longer true, because of a newer statement about the same *attribute*."""

    id: str
    attribute: str


@final
@frozen
class Stored:
    """The memory was stored.

    Attributes:
        id: the id of the memory.
        superseded: the ids of the memories that it replaced.
        retired: those of *superseded* that the caller did not name: earlier statements about the same attribute, which
            are no longer true.  ``LongTermMemory.restore`` undoes this.
        superseded_by: the id of a newer stored statement about its attribute, so that this memory was superseded when it
            was stored; None: it is true now.
    """

    id: str
    superseded: tuple[str, ...] = ()
    retired: tuple[Retired, ...] = ()
    superseded_by: str | None = None
    outcome: Literal["stored"] = "stored"


@final
@frozen
class Duplicate:
    """The memory was not stored, because it is a duplicate of the memory with the id *of*."""

    of: str
    outcome: Literal["duplicate"] = "duplicate"


@final
@frozen
class Skipped:
    """The memory was not stored, for a reason.

    Attributes:
        reason: ``empty``: it has no content.  ``unsure``: its confidence is too low.  ``echo``: it repeats a recalled
            memory.  ``forgotten``: a memory with this id, or from the same messages, was forgotten, and no further message
            has repeated it.
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
        """The ids of the memories that were stored."""
        return tuple(outcome.id for outcome in self.outcomes if isinstance(outcome, Stored))


@final
@frozen
class UseReport:
    """How many memories were counted as *used*, and the ids of those that became long-term because of it (*promoted*)."""

    used: int
    promoted: tuple[str, ...] = ()


@final
@frozen
class ForgetReceipt:
    """What was removed, and which summaries may still repeat it.

    Attributes:
        memories: how many memories were removed, superseded ones included.
        embeddings: how many vectors were removed.
        stale_summaries: the ids of the summary messages that cover, directly or through another summary, a message from
            which a removed memory came; only in conversations that the principal may see.  Sorted by code points,
            without duplicates.
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
        remaining: how many memories still have none, including those with nothing to embed (for example a single emoji).
        next: the cursor to continue from; None at the end.
    """

    embedded: int
    remaining: int
    next: str | None


@final
@frozen
class EarlierContent:
    """The content of a memory at an earlier version.

    Attributes:
        replaced_at: when a correction replaced this content, by the clock of the store, UTC.
    """

    version: int
    replaced_at: datetime
    content: str
    key: str | None
    value: Json
    category: Category | None
    tags: tuple[str, ...]
    confidence: float
    source: Source
    provenance: Provenance

    def facts(self) -> dict[str, Any]:
        """Return the content by the names of its fields, to make another class with it."""
        return {
            fact.name: getattr(self, fact.name)
            for fact in fields(EarlierContent)
            if fact.name not in {"version", "replaced_at"}
        }


@final
@frozen
class MemoryHistory:
    """The events of a memory and its earlier contents, both oldest first.

    A memory that was forgotten has events but no contents; a memory that never existed has neither.
    """

    events: tuple[Event, ...]
    earlier: tuple[EarlierContent, ...] = ()
