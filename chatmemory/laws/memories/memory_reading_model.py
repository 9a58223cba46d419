"""``ReadingModel``: what a memory repository has to answer to a reader, in the plainest words.

One half of the yardstick of the laws, so it is written to be checked by reading: one list of entries, oldest write
first, and every answer computed from it anew.  What candidates a full search finds is said here as well; which of too
many are the better ones has laws of its own.  How entries change stands in ``memory_model.py``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from datetime import datetime
from string import ascii_lowercase, ascii_uppercase
from typing import Any, Final, final

from attrs import evolve, field, frozen

from chatmemory.embedding.embedder import Vector
from chatmemory.embedding.space import EmbeddingSpace
from chatmemory.input.json_value import Json
from chatmemory.laws.memories.memory_witness import ALL, Found, MemoryObservation, rounded, search_for
from chatmemory.longterm.memories import Memory, Namespace
from chatmemory.longterm.memory_repository import MemoryListing, MemorySearch
from chatmemory.longterm.recall.recall import Coverage

IN_LOWER_CASE: Final = str.maketrans(ascii_uppercase, ascii_lowercase)


@final
@frozen
class Entry:
    """A memory, its value as JSON text, with what is kept beside it."""

    memory: Memory
    terms: str
    dedup_key: bytes | None
    vector: Vector | None = field(eq=False)
    last_use_id: str | None = None
    used_in: frozenset[str] = frozenset()

    def with_memory(self, **changes: Any) -> Entry:
        """Return it with changes to the memory."""
        return evolve(self, memory=evolve(self.memory, **changes))

    def with_vector(self, space: EmbeddingSpace | None, vector: Vector | None) -> Entry:
        """Return it with this vector, or none."""
        return evolve(self.with_memory(embedding=space), vector=vector)


class ReadingModel:
    """Entries, and all that can be asked of them."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []

    def get(self, namespace: Namespace, memory_id: str) -> Memory | None:
        """Answer ``MemoryRepository.get``."""
        seen = [memory for memory in self.seen(namespace) if memory.id == memory_id]
        return seen[0] if seen else None

    def value(self, namespace: Namespace, key: str, *, as_of: datetime | None = None) -> Memory | None:
        """Answer ``MemoryRepository.value``."""
        values = self.listed(MemoryListing(namespace, ALL, key_prefix=key, exact_app=True, as_of=as_of))
        return next((memory for memory in values if memory.key == key), None)

    def listed(self, listing: MemoryListing) -> tuple[Memory, ...]:
        """Answer ``MemoryRepository.list``."""
        filters: list[Callable[[Memory], bool]] = [
            lambda memory: _is_true(memory, listing.as_of),
            lambda memory: not listing.exact_app or memory.namespace.app == listing.namespace.app,
            lambda memory: listing.after is None or (memory.created_at, memory.id) < listing.after,
            lambda memory: listing.memory_type in {None, memory.memory_type},
            lambda memory: listing.category in {None, memory.category},
            lambda memory: listing.session_id in {None, memory.session_id},
            lambda memory: listing.tag is None or listing.tag in memory.tags,
            lambda memory: (
                listing.key_prefix is None
                or (memory.key is not None and memory.key.startswith(listing.key_prefix))
            ),
            lambda memory: listing.containing is None or _contains(memory, listing.containing),
        ]
        found = [memory for memory in self.seen(listing.namespace) if all(keeps(memory) for keeps in filters)]
        return tuple(newest_first(found)[: listing.limit])

    def search(self, search: MemorySearch) -> tuple[Found, bool, Coverage]:
        """Answer ``MemoryRepository.search`` as long as no way of searching finds more than its limit."""
        recallable = [
            entry
            for entry in self.entries
            if search.namespace.sees(entry.memory.namespace)
            and entry.memory.memory_type == "long_term"
            and _is_true(entry.memory, search.as_of)
        ]
        asked = [
            entry
            for entry in recallable
            if search.category in {None, entry.memory.category}
            and all(tag in entry.memory.tags for tag in search.tags)
        ]
        by_words = [entry for entry in asked if any(term in entry.terms.split() for term in search.terms)]
        by_text = [entry for entry in asked if not by_words and search.text in entry.memory.content]
        by_vector = [entry for entry in asked if _similarity(entry, search) is not None]
        found = {
            entry.memory.id: (entry.memory, entry.terms, rounded(_similarity(entry, search)))
            for entry in (*by_words, *by_text, *by_vector)
        }
        embedded = [
            entry
            for entry in recallable
            if search.space is not None and entry.memory.embedding == search.space
        ]
        return found, bool(by_text), Coverage(len(embedded), len(recallable))

    def unembedded(
        self,
        namespace: Namespace,
        space: EmbeddingSpace,
        *,
        limit: int,
        after: tuple[datetime, str] | None = None,
    ) -> tuple[tuple[Memory, ...], int]:
        """Answer ``MemoryRepository.unembedded``."""
        listing = MemoryListing(namespace, ALL, memory_type="long_term")
        lacking = [memory for memory in self.listed(listing) if memory.embedding != space]
        behind = [memory for memory in lacking if after is None or (memory.created_at, memory.id) < after]
        return tuple(behind[:limit]), len(lacking)

    def observe(
        self, namespace: Namespace, *, ids: Iterable[str] = (), instants: Iterable[datetime] = ()
    ) -> MemoryObservation:
        """Return all that a reader can read."""
        found, _, coverage = self.search(search_for(namespace))
        return MemoryObservation(
            now=self.listed(MemoryListing(namespace, ALL)),
            then={instant: self.listed(MemoryListing(namespace, ALL, as_of=instant)) for instant in instants},
            by_id={memory_id: self.get(namespace, memory_id) for memory_id in ids},
            found=found,
            coverage=coverage,
        )

    def seen(self, namespace: Namespace) -> list[Memory]:
        """Return every memory that a reader sees, true or not."""
        return [entry.memory for entry in self.entries if namespace.sees(entry.memory.namespace)]

    def true_in(self, namespace: Namespace) -> list[Entry]:
        """Return what is true now in exactly this namespace."""
        return [
            entry
            for entry in self.entries
            if entry.memory.namespace == namespace and entry.memory.superseded_at is None
        ]


def newest_first(memories: Iterable[Memory]) -> list[Memory]:
    """Return memories in the order of listings."""
    return sorted(memories, key=lambda memory: (memory.created_at, memory.id), reverse=True)


def _is_true(memory: Memory, as_of: datetime | None) -> bool:
    if as_of is None:
        return memory.superseded_at is None
    return memory.created_at <= as_of and (memory.superseded_at is None or as_of < memory.superseded_at)


def _contains(memory: Memory, text: str) -> bool:
    value = json.loads(str(memory.value))
    said = (memory.content, memory.key or "", value if isinstance(value, str) else _readable_json(value))
    return any(text.translate(IN_LOWER_CASE) in one.translate(IN_LOWER_CASE) for one in said)


def _readable_json(value: Json) -> str:
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def _similarity(entry: Entry, search: MemorySearch) -> float | None:
    if entry.vector is None or search.vector is None or entry.memory.embedding != search.space:
        return None
    return float(entry.vector @ search.vector)
