"""``MemoryWitness``: asks a memory repository on behalf of a law, and observes all that a reader can read.

``MemoryRepositoryUnderTest``: the base class of all groups of laws for memory repositories.  The samples are drafts,
searches, vectors, and names that have confused stores before.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, ClassVar, Final, TypeAlias, final, get_args

import numpy as np
from attrs import evolve, frozen
from hypothesis import strategies as st

from chatmemory.access.namespace import Namespace
from chatmemory.conversation.message_repository import MessageRepository, MessageRepositoryTag
from chatmemory.effect import Layer, ManagedRuntime
from chatmemory.embedding.embedder import Vector
from chatmemory.embedding.space import EmbeddingSpace
from chatmemory.errors import MemoryRewriteError, MemoryStoreError
from chatmemory.input.json_value import Json
from chatmemory.laws.kit.law import Asker, RepositoryUnderTest
from chatmemory.laws.kit.samples import ALIKE, START, TEXTS, any_text
from chatmemory.longterm.memories import Memory, MemoryRole, Provenance, SaveOutcome, Source, UseReport
from chatmemory.longterm.memory_repository import MemoryRepository, MemoryRepositoryTag
from chatmemory.longterm.recall.recall import Coverage
from chatmemory.longterm.repository_values import (
    Candidates,
    MemoryDraft,
    MemoryListing,
    MemorySearch,
    Use,
)

SPACE: Final = EmbeddingSpace("law", 4)
OTHER_SPACES: Final = (EmbeddingSpace("Law", 4), EmbeddingSpace("law", 3))
"""Spaces whose vectors are unrelated to those of ``SPACE``, although their names or lengths are equal."""

APPS: Final = ("", "a", "A", "a%", "工作", "a ")
"""Apps that differ by case, space or a wildcard, and the empty app."""

CONTENTS: Final = tuple(text for text in TEXTS if text.strip())  # a memory is never blank

TERMS: Final = (
    "tea",
    "teas",
    "绿茶",
    "茶叶",
    "café",
    "cafe",
    "123",
    "ⅷ",
    "คน",
    "𠮷野",
    "ꙋ",
    "x" * 64,
    "NOT",
    "近",
)
"""Words that a store has to keep different and unchanged: similar, rare, long, operators of a query language."""

VALUES: Final[tuple[Json, ...]] = (None, 1, 1.0, True, "1", [], {"b": [1, None], "a": "文"}, 2**63, -0.0)

KEYS: Final = ("编程语言偏好", "编程", "city", "City", "c_ty", "c%")
CONTAINED: Final = (
    "50%_",
    "50__",
    "Tea",
    "tEA",
    "I",
    "ı",
    "\u00c9",
    "\u00e9",
    "e\u0301",
    "'; --",
    '"茶"',
    "\\n",
    "\n",
    "🙂",
)
"""Texts that a store might confuse: wildcards, cases, accents, quotes, with and without escapes."""

TAGS: Final = ("工作", "work", "Work")
SESSIONS: Final = (None, "会议", "会")
CATEGORIES: Final = (None, "preference", "fact", "pattern")
PROVENANCES: Final = (
    Provenance(),
    Provenance(("1",)),
    Provenance(("1", "2"), extractor="rules"),
    Provenance(("12",), extractor="person", path="notes/会议.md#3"),
    Provenance(path="notes/会议.md"),
)
ORIGINS: Final[tuple[Mapping[str, str], ...]] = (
    {"path": "notes/会议.md"},
    {"path": "notes/会议.md#3"},
    {"message_id": "1"},
    {"message_id": "12"},
    {"session_id": "会"},
    {"session_id": "会", "message_id": "1"},
    {"message_id": "12", "path": "notes/会议.md#3"},
    {},
)
"""Origins by which memories are forgotten; some are a prefix of another one; an empty origin means everything."""

SOURCES: Final[tuple[tuple[Source, MemoryRole], ...]] = (
    ("user_stated", "user"),
    ("inferred", "user"),
    ("user_stated", "assistant"),
    ("system", "tool"),
    ("system", "system"),
)

PUT: Final[Mapping[str, Any]] = {"role": "system", "source": "system"}
"""What makes a memory with a key the value of this key."""

INSTANTS: Final = (
    START,
    START + timedelta(microseconds=1),
    START - timedelta(days=3),
    START + timedelta(days=10_000),
    datetime.min.replace(tzinfo=START.tzinfo),
)
"""Times at which memories became true: equal ones, the past, the future, the beginning of time."""

NOWHERE: Final = "nowhere"  # a text that no sample contains
ALL: Final = 1000  # more than any law stores
SIMILARITY_DIGITS: Final = 5  # the contract promises 1e-6; the vectors of the laws are whole hundredths apart

Found: TypeAlias = Mapping[str, tuple[Memory, str, float | None]]
"""Candidates by id, each with its words and its rounded similarity."""


def unit(*numbers: float) -> Vector:
    """Return a vector of length 1 in the direction of *numbers*."""
    row = np.array(numbers, dtype=np.float32)
    return row / np.float32(np.sqrt(row @ row))


# The cosine of any two of them is a whole number of hundredths, so rounding is stable.
VECTORS: Final = (
    unit(1, 0, 0, 0),
    unit(-1, 0, 0, 0),
    unit(0, 1, 0, 0),
    unit(3, 4, 0, 0),
    unit(4, -3, 0, 0),
    unit(0, 0, 0, 1),
)


def dedup_key(name: str) -> bytes:
    """Return 32 bytes that are the same for the same *name*."""
    return name.encode().rjust(32, b"\0")


def remembered(
    memory_id: str, content: str = "喜欢喝绿茶", *, namespace: Namespace, **changes: Any
) -> MemoryDraft:
    """Return a long-term memory to store, without words and vector unless *changes* add them."""
    draft = MemoryDraft(
        id=memory_id,
        namespace=namespace,
        content=content,
        key=None,
        value=None,
        category=None,
        tags=(),
        confidence=1.0,
        source="user_stated",
        role="user",
        session_id=None,
        memory_type="long_term",
        pinned=False,
        provenance=Provenance(),
        created_at=START,
        terms="",
    )
    return evolve(draft, **changes)


def _drawn(
    app: str,
    origin: tuple[Source, MemoryRole],
    placed: tuple[EmbeddingSpace, Vector] | tuple[None, None],
    **said: Any,
) -> MemoryDraft:
    (source, role), (space, vector) = origin, placed
    return remembered(
        namespace=Namespace("", app), source=source, role=role, space=space, vector=vector, **said
    )


memories: st.SearchStrategy[MemoryDraft] = st.builds(
    _drawn,
    app=st.sampled_from(APPS[:3]),
    origin=st.sampled_from(SOURCES),
    placed=st.sampled_from(
        [
            (None, None),
            *((SPACE, vector) for vector in VECTORS),
            (OTHER_SPACES[0], VECTORS[0]),
            (OTHER_SPACES[1], unit(1, 0, 0)),
        ]
    ),
    memory_id=st.sampled_from(("", "%", "一")),
    content=st.sampled_from(CONTENTS) | any_text.filter(str.strip),
    key=st.sampled_from((None, *KEYS)),
    value=st.sampled_from(VALUES),
    category=st.sampled_from(CATEGORIES),
    tags=st.lists(st.sampled_from(TAGS), unique=True, max_size=2).map(tuple),
    confidence=st.floats(0, 1),
    session_id=st.sampled_from(SESSIONS),
    memory_type=st.sampled_from(("long_term", "long_term", "short_term")),
    pinned=st.booleans(),
    provenance=st.sampled_from(PROVENANCES),
    created_at=st.sampled_from(INSTANTS),
    terms=st.lists(st.sampled_from(TERMS), max_size=4).map(" ".join),
    dedup_key=st.sampled_from((None, None, dedup_key("1"), dedup_key("2"))),
    attribute=st.sampled_from((None, None, "residence", "work", "pet")),
)
"""Memories with incomplete ids and users."""

users = st.sampled_from([pair[:2] for pair in ALIKE])
"""Suffixes of the names of two similar users."""


@final
@frozen
class MemoryObservation:
    """All that a reader in one namespace can read.

    Attributes:
        now: the memories that are true.
        then: by instant, the memories that were true.
        by_id: by id, the memory.
        found: the memories with a word or a vector, with the coverage.
    """

    now: tuple[Memory, ...]
    then: Mapping[datetime, tuple[Memory, ...]]
    by_id: Mapping[str, Memory | None]
    found: Found
    coverage: Coverage


@final
@frozen
class MemoryWitness(Asker):
    """Asks one repository, in its own namespaces and about its own ids.

    *messages* stores conversations in the same store, if there is such a repository.  A memory that the witness
    returns has its value as JSON text: Python calls 1, 1.0 and True equal, and 0.0 and -0.0.
    """

    ERRORS: ClassVar[tuple[type, ...]] = get_args(MemoryStoreError | MemoryRewriteError)
    repository: MemoryRepository
    messages: MessageRepository | None = None

    def user(self, name: str = "a", app: str = "") -> Namespace:
        """Return a namespace in this space."""
        return Namespace(self.named(name), app)

    async def store(self, *drafts: MemoryDraft) -> tuple[SaveOutcome, ...]:
        """Store drafts that must be accepted."""
        return await self.get(self.repository.store(drafts))

    async def memory(self, namespace: Namespace, memory_id: str) -> Memory | None:
        """Return the memory with an id; None when there is none."""
        found = await self.get(self.repository.get(namespace, memory_id))
        return found and plain(found)

    async def listed(self, namespace: Namespace, **filters: Any) -> tuple[Memory, ...]:
        """Return a list, of everything unless *filters* limit it."""
        listing = evolve(MemoryListing(namespace, ALL), **filters)
        return tuple(map(plain, await self.get(self.repository.list(listing))))

    async def search(self, namespace: Namespace, **query: Any) -> Candidates:
        """Search for every word and every vector, unless *query* changes that."""
        return await self.get(self.repository.search(search_for(namespace, **query)))

    async def end(self, namespace: Namespace, memory_id: str) -> tuple[datetime | None, str | None] | None:
        """Return when a memory ceased to be true, and its successor; None when there is no such memory."""
        memory = await self.memory(namespace, memory_id)
        return memory and (memory.superseded_at, memory.superseded_by)

    async def use(self, namespace: Namespace, *memory_ids: str, **changes: Any) -> UseReport:
        """Count a use of memories in the session ``s``, unless *changes* say otherwise."""
        use = Use(namespace=namespace, memory_ids=memory_ids, use_id="u", session_id="s", now=START)
        return await self.get(self.repository.record_use(evolve(use, **changes)))

    async def observe(
        self, namespace: Namespace, *, ids: Iterable[str] = (), instants: Iterable[datetime] = ()
    ) -> MemoryObservation:
        """Return all that a reader can read."""
        candidates = await self.search(namespace)
        return MemoryObservation(
            now=await self.listed(namespace),
            then={instant: await self.listed(namespace, as_of=instant) for instant in instants},
            by_id={memory_id: await self.memory(namespace, memory_id) for memory_id in ids},
            found=found(candidates),
            coverage=candidates.coverage,
        )


class MemoryRepositoryUnderTest(RepositoryUnderTest[MemoryWitness]):
    """The memory repository under test: a layer that provides ``MemoryRepositoryTag``.

    Attributes:
        keeps_conversations: whether the layer also provides ``MessageRepositoryTag``, over the same store.
    """

    repository: (
        Layer[MemoryRepositoryTag, Any, Any] | Layer[MemoryRepositoryTag | MessageRepositoryTag, Any, Any]
    )
    keeps_conversations: bool = True

    async def witness(self, runtime: ManagedRuntime[Any], **witness: Any) -> MemoryWitness:
        speaking = MemoryWitness(await runtime.service(MemoryRepositoryTag), **witness)
        if not self.keeps_conversations:
            return speaking
        messages = await runtime.service(MessageRepositoryTag)
        return evolve(speaking, messages=messages)


def search_for(namespace: Namespace, **query: Any) -> MemorySearch:
    """Return a search for every word of the samples and in their space, unless *query* changes that."""
    whole = MemorySearch(namespace, NOWHERE, TERMS, SPACE, VECTORS[0], limit=ALL)
    return evolve(whole, **query)


def plain(memory: Memory) -> Memory:
    """Return *memory* with its value as JSON text."""
    return evolve(memory, value=json.dumps(memory.value, sort_keys=True))


def found(candidates: Candidates) -> Found:
    """Return candidates in a form that can be compared."""
    return {
        candidate.memory.id: (plain(candidate.memory), candidate.terms, rounded(candidate.similarity))
        for candidate in candidates.found
    }


def rounded(similarity: float | None) -> float | None:
    """Return a rounded cosine, so that two exact computations give the same value; -0.0 becomes 0.0."""
    return None if similarity is None else round(similarity, SIMILARITY_DIGITS) + 0.0


def ids_of(memories: Sequence[Memory]) -> list[str]:
    """Return the ids, in order."""
    return [memory.id for memory in memories]
