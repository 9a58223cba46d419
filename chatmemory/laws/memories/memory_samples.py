"""Samples for the laws of memories: drafts, searches, vectors, and names that have confused stores before."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

import numpy as np
from attrs import evolve
from hypothesis import strategies as st

from chatmemory.access.namespace import Namespace
from chatmemory.embedding.embedder import Vector
from chatmemory.embedding.space import EmbeddingSpace
from chatmemory.input.json_value import Json
from chatmemory.laws.kit.samples import ALIKE, START, TEXTS, any_text
from chatmemory.longterm.memories import MemoryRole, Provenance, Source
from chatmemory.longterm.repository_values import MemoryDraft

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
