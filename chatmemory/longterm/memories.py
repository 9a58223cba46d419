"""What is remembered: memories, their namespace and provenance, what became of a write, receipts.

Values only.  The rules for input stand in ``memory_rules.py``; what can be done with memories, in ``contracts``; what
recall answers, in ``recall.py``; what an extractor proposes before it is a memory, in ``proposals.py``.
"""

from datetime import datetime
from typing import Any, Literal, TypeAlias, final

from attrs import asdict, frozen

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
characters of the content (spec 001, D3).  ``none``: nothing does.
"""


@final
@frozen
class Namespace:
    """Whose memories: a user's, in one app or in all of them.

    Attributes:
        user: 1 to 512 characters; nobody else's memories are ever seen.
        app: where they arise.  A reader sees those of its app and those of no app in particular; one that names no
            app sees all of the user's.  A memory written without an app belongs to no app in particular.
    """

    user: str
    app: str = ""

    def sees(self, other: "Namespace") -> bool:
        """Tell whether a reader in this namespace sees a memory of the *other*."""
        return self.user == other.user and (not self.app or other.app in {"", self.app})


@final
@frozen
class Provenance:
    """Where a memory comes from, besides its session.

    Attributes:
        message_ids: the messages of the session that say so.
        extractor: what made a memory of them: ``rules``, the id of a skill, ``person`` ...
        path: the file and the turn in it, for what was read from one.
    """

    message_ids: tuple[str, ...] = ()
    extractor: str | None = None
    path: str | None = None


@final
@frozen(slots=False)
class NewMemory:
    """A memory on its way in.

    Attributes:
        content: what a model will read, 1 to 16,777,216 characters without NUL and lone surrogates.
        id: 1 to 512 characters, unique in the store; None: one is made.
        key: what the memory is about, ``编程语言偏好`` for example; a label, unless ``put_value`` writes it.
        value: any JSON; None: the content says it all.
        confidence: 0 to 1.
        session_id: the conversation that it comes from.
        memory_type: None: ``long_term`` when the user stated it, ``short_term`` otherwise.
        pinned: important to a person: it does not decay.
        created_at: with a time zone; None: now.
        embedding: None: the embedder makes one.
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


@final
@frozen(slots=False)
class Memory:
    """A stored memory.

    Attributes:
        namespace: where it was written.
        created_at: since when it is true, UTC, to the microsecond.
        last_accessed: when it last entered a model's context, UTC; None: never.
        access_count: in how many contexts it was.
        embedding: the space of its vector, None while it has none.
        superseded_at: until when it was true; None: it is true now.
        superseded_by: the id of the memory that took its place; None as well when its value was deleted, or when that
            memory was removed.
        version: grows with every change of what it says, for ``expected_version``.
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
    last_accessed: datetime | None = None
    access_count: int = 0
    embedding: EmbeddingSpace | None = None
    superseded_at: datetime | None = None
    superseded_by: str | None = None
    version: int = 1

    @property
    def app_type(self) -> str:
        """The app of its namespace, as spec 000 names it."""
        return self.namespace.app


@final
@frozen
class MemoryPage:
    """Memories, newest first; *next* is the cursor of the page after this one, None at the end."""

    memories: tuple[Memory, ...]
    next: str | None


@final
@frozen(kw_only=True)
class MemoryChanges:
    """A correction: the fields that are given take the place of what is stored."""

    content: str | Unchanged = UNCHANGED
    key: str | Unchanged | None = UNCHANGED
    value: Json | Unchanged = UNCHANGED
    category: Category | Unchanged | None = UNCHANGED
    tags: tuple[str, ...] | Unchanged = UNCHANGED
    confidence: float | Unchanged = UNCHANGED

    def given(self) -> dict[str, Any]:
        """Return what is to change, by the names of the fields."""
        return {name: value for name, value in asdict(self, recurse=False).items() if value is not UNCHANGED}


@final
@frozen
class Stored:
    """It is stored under *id*; *superseded* are the ids of those whose place it took."""

    id: str
    superseded: tuple[str, ...] = ()
    outcome: Literal["stored"] = "stored"


@final
@frozen
class Duplicate:
    """It was there already, as the memory *of*; nothing was written."""

    of: str
    outcome: Literal["duplicate"] = "duplicate"


@final
@frozen
class Skipped:
    """It was not to be stored.

    Attributes:
        reason: ``empty``: it says nothing.  ``unsure``: its confidence is too low.  ``echo``: memory itself has put
            the text before the model.
        of: the id of the memory that an echo repeats.
    """

    reason: Literal["empty", "unsure", "echo"]
    of: str | None = None
    outcome: Literal["skipped"] = "skipped"


SaveOutcome: TypeAlias = Stored | Duplicate | Skipped


@final
@frozen
class RememberReport:
    """What became of each memory, in order.

    Attributes:
        unembedded: how many were stored without a vector; they are found by their words until ``re_embed``.
        reason: why they have none.
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
    """What a use did: *used* memories were counted, *promoted* became long-term by it."""

    used: int
    promoted: tuple[str, ...] = ()


@final
@frozen
class ForgetReceipt:
    """What is gone, and what is still to be looked at.

    Attributes:
        memories: rows removed, their older values among them.
        embeddings: vectors removed.
        stale_summaries: ids of summary messages that stand for messages which the memories came from, directly or by
            way of another summary: they may still say it.  Sorted by code points, none twice.
    """

    memories: int
    embeddings: int
    stale_summaries: tuple[str, ...] = ()


@final
@frozen
class ReEmbedReport:
    """What a re-embedding did.

    Attributes:
        embedded: memories that have the present embedder's vector now.
        remaining: memories that still lack it, those without any feature to embed (an emoji alone) among them.
        next: the cursor to go on from, None at the end.
    """

    embedded: int
    remaining: int
    next: str | None
