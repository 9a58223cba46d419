"""``MemoryMachine``: runs any sequence of operations on the memory repository under test and on the model.

``memory_writing_rules.py`` has the writes of the sequences; this module has the reads between them.
"""

from __future__ import annotations

from datetime import datetime
from itertools import product
from typing import Any, Final

from attrs import evolve
from hypothesis import strategies as st
from hypothesis.stateful import rule

from chatmemory.embedding.embedder import Vector
from chatmemory.embedding.space import EmbeddingSpace
from chatmemory.laws.kit.law import expect
from chatmemory.laws.memories.memory_side_by_side import (
    FIND,
    TRUTH,
    VECTOR,
    WINDOW,
    place,
    readers,
    which,
)
from chatmemory.laws.memories.memory_witness import (
    ALL,
    CATEGORIES,
    INSTANTS,
    KEYS,
    OTHER_SPACES,
    SESSIONS,
    SPACE,
    TAGS,
    TERMS,
    VECTORS,
    found,
    plain,
    search_for,
)
from chatmemory.laws.memories.memory_writing_rules import WritingRules
from chatmemory.longterm.memories import Memory
from chatmemory.longterm.repository_values import Candidates, MemoryListing

SELDOM: Final = 4  # the number of times None is drawn for each other value

CONTAINED: Final = ("喜欢", "drop TABLE", "C", "C_T", "%", "É", "文", "null", "1")
FILTERS: Final = (
    *product(("containing",), CONTAINED),
    *product(("memory_type",), ("long_term", "short_term")),
    *product(("category",), CATEGORIES[1:]),
    *product(("source",), ("user_stated", "inferred")),
    *product(("session_id",), SESSIONS[1:]),
    *product(("tag",), TAGS),
    *product(("value_prefix",), ("", *KEYS, "编")),
    *product(("as_of",), INSTANTS),
    ("exact_app", True),
    ("superseded", True),
)
"""Filters of a list: a rule uses few at once, so that something is left to compare."""


def seldom(*values: Any) -> st.SearchStrategy[Any]:
    """Return a strategy that mostly draws None, and seldom one of *values*: with all filters in use nothing would be found."""
    return st.sampled_from((None,) * SELDOM * len(values) + values)


class MemoryMachine(WritingRules):
    """Runs writes, reads and reopenings in any order, and compares each answer with the model."""

    @rule(
        reader=readers,
        space=st.sampled_from((SPACE, *OTHER_SPACES)),
        limit=st.integers(0, 3),
        after=st.none() | which,
    )
    def unembedded(
        self, reader: tuple[int, str], space: EmbeddingSpace, limit: int, after: int | None
    ) -> None:
        """List the memories without a vector of *space*."""
        namespace = self._namespace(*reader)
        cursor = None if after is None else place(self._sent(after))
        self._same(VECTOR, "unembedded", namespace, space, limit=limit, after=cursor)

    @rule(
        reader=readers,
        limit=st.integers(0, 3),
        after=st.none() | which,
        filters=st.lists(st.sampled_from(FILTERS), max_size=3, unique_by=lambda one: one[0]),
    )
    def read_list(
        self, reader: tuple[int, str], limit: int, after: int | None, filters: list[tuple[str, Any]]
    ) -> None:
        """List memories: whole, with filters, and page by page; *after* is a memory before the first one."""
        cursor = None if after is None else place(self._sent(after))
        listing = MemoryListing(self._namespace(*reader), ALL, after=cursor)
        for narrowed in (*({name: value} for name, value in filters), dict(filters)):
            self._read(evolve(listing, **narrowed))
        whole = self._read(listing)
        for end in range(0, len(whole), max(limit, 1)):
            if end:
                cursor = whole[end - 1].created_at, whole[end - 1].id
            self._read(evolve(listing, limit=limit, after=cursor))

    def _read(self, listing: MemoryListing) -> tuple[Memory, ...]:
        answered = self._ask(lambda witness: witness.get(witness.repository.list(listing)))
        expect(tuple(map(plain, answered)), self._listed(listing), f"the list of {listing}", law=WINDOW)
        counted = self._ask(lambda witness: witness.get(witness.repository.count(listing)))
        expect(set(counted), set(self.model.count(listing)), f"the counts of {listing}", law=WINDOW)
        return answered

    @rule(reader=readers, key=st.sampled_from(KEYS), as_of=seldom(*INSTANTS))
    def read_value(self, reader: tuple[int, str], key: str, as_of: datetime | None) -> None:
        """Read the value of a key."""
        self._same(TRUTH, "value", self._namespace(*reader), key, as_of=as_of)

    @rule(
        reader=readers,
        text=st.sampled_from(("喜欢", "DROP TABLE", "%", "nowhere", "_\\")),
        terms=st.lists(st.sampled_from(TERMS), max_size=3, unique=True).map(tuple),
        vector=st.none() | st.sampled_from(VECTORS),
        category=seldom(*CATEGORIES[1:]),
        tags=st.sampled_from(((), (), TAGS[:1], TAGS[:2])),
        as_of=st.none() | st.sampled_from(INSTANTS),
    )
    def search(self, reader: tuple[int, str], vector: Vector | None, **query: Any) -> None:
        """Search by words and by a vector; without results, the search is for the text itself."""
        space = None if vector is None else SPACE
        search = search_for(self._namespace(*reader), space=space, vector=vector, **query)
        answered = self._ask(lambda witness: witness.get(witness.repository.search(search)))
        expect(_told(answered), _told(self.model.search(search)), f"the candidates for {search}", law=FIND)


def _told(candidates: Candidates) -> tuple[object, ...]:
    """Return the result of a search in a form that can be compared."""
    return found(candidates), candidates.matched_text, candidates.coverage
