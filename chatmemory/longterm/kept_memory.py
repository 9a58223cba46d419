"""``KeptMemory``: one memory as ``KeptMemories`` stores it, with its queries and its changes.

It is immutable: a change replaces it by another one, so that a batch that fails changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from heapq import nlargest
from typing import final

from attrs import evolve, field, frozen

from chatmemory.access.namespace import Namespace
from chatmemory.embedding.embedder import Vector
from chatmemory.embedding.space import EmbeddingSpace
from chatmemory.input.json_value import from_json, to_json
from chatmemory.input.rules import Place
from chatmemory.longterm.changes import CurrentRow, MemoryName, Words
from chatmemory.longterm.memories import EarlierContent, Memory, MemoryType
from chatmemory.longterm.memory_rules import folded
from chatmemory.longterm.repository_values import Forgetting, MemoryDraft, MemoryListing, Use, WholeMemory


@final
@frozen(eq=False)
class KeptMemory:
    """A stored memory.

    Attributes:
        memory: the memory without its value, so that callers can share it.
        value: its value as JSON text, which no caller can change, and which keeps ``1``, ``1.0`` and ``true`` apart.
        terms: the words by which it is found, see ``MemoryDraft``.
        dedup_key: see ``MemoryDraft``.
        vector: its vector in the space that ``memory.embedding`` names; None: it was not embedded.
        last_use_id: the id of its last use; None: it was never used.
        used_in: the sessions in which it was used.
        earlier: its content before each correction, oldest first.
    """

    memory: Memory
    value: str | None
    terms: str
    dedup_key: bytes | None
    vector: Vector | None = field(repr=False)
    last_use_id: str | None = None
    used_in: frozenset[str] = frozenset()
    earlier: tuple[EarlierContent, ...] = field(default=(), repr=False)

    @property
    def id(self) -> str:
        """The id of the memory."""
        return self.memory.id

    @property
    def name(self) -> MemoryName:
        """The user and the id, which identify it in the store."""
        return self.memory.namespace.user, self.memory.id

    @property
    def place(self) -> Place:
        """The creation time and the id, which order listings."""
        return self.memory.created_at, self.memory.id

    def is_true(self, as_of: datetime | None = None) -> bool:
        """Return whether it was true at *as_of*; None: whether it is true now."""
        until = self.memory.superseded_at
        if as_of is None:
            return until is None
        return self.memory.created_at <= as_of and (until is None or as_of < until)

    def is_over(self, as_of: datetime | None = None) -> bool:
        """Return whether it is true no longer, or was true no longer at *as_of*."""
        until = self.memory.superseded_at
        return until is not None and (as_of is None or until <= as_of)

    def is_recallable(self, namespace: Namespace, as_of: datetime | None = None) -> bool:
        """Return whether a recall in *namespace* may return it: it is long-term, the reader sees it, and it was true at *as_of*.

        *as_of* is UTC; None: now.
        """
        memory = self.memory
        return memory.memory_type == "long_term" and namespace.sees(memory.namespace) and self.is_true(as_of)

    def is_listed(self, listing: MemoryListing) -> bool:
        """Return whether it belongs to the listing, on this page or on a later one."""
        memory, prefix = self.memory, listing.value_prefix
        return (
            listing.namespace.sees(memory.namespace)
            and (self.is_over if listing.superseded else self.is_true)(listing.as_of)
            and (memory.namespace == listing.namespace or not listing.exact_app)
            and (memory.attribute is not None or not listing.has_attribute)
            and (listing.after is None or self.place < listing.after)
            and (listing.since is None or memory.created_at >= listing.since)
            and (listing.tag is None or listing.tag in memory.tags)
            and (prefix is None or (memory.value_key is not None and memory.value_key.startswith(prefix)))
            and listing.memory_type in {None, memory.memory_type}
            and listing.category in {None, memory.category}
            and listing.source in {None, memory.source}
            and listing.session_id in {None, memory.session_id}
            and (listing.containing is None or self.contains(listing.containing))
        )

    def contains(self, text: str) -> bool:
        """Return whether its content, key or value contains *text*; see ``MemoryRepository.list``."""
        sought, value = folded(text), from_json(self.value)
        said = self.memory.content, self.memory.key, value if isinstance(value, str) else self.value
        return any(sought in folded(one) for one in said if one is not None)

    def comes_from(self, forgetting: Forgetting) -> bool:
        """Return whether the namespace of *forgetting* sees it, and it has the given session, message and path."""
        memory, provenance = self.memory, self.memory.provenance
        return (
            forgetting.namespace.sees(memory.namespace)
            and (forgetting.message_id is None or forgetting.message_id in provenance.message_ids)
            and forgetting.session_id in {None, memory.session_id}
            and forgetting.path in {None, provenance.path}
        )

    @property
    def words(self) -> Words:
        """The fields in which a draft with its id must agree to repeat it."""
        return self.memory.namespace, self.memory.content, self.memory.key, self.value

    @property
    def current(self) -> CurrentRow:
        """The fields that decide whether a draft repeats or replaces it, while it is true."""
        memory = self.memory
        return CurrentRow(
            memory.id,
            memory.namespace,
            memory.value_key,
            self.dedup_key,
            memory.created_at,
            memory.attribute,
            is_stated=memory.is_stated,
            pinned=memory.pinned,
        )

    def superseded(self, at: datetime, *, by: str | None) -> KeptMemory:
        """Return the memory as no longer true from *at* on, UTC, but not before it became true; *by* None: nothing replaces it."""
        until = max(at, self.memory.created_at)
        return evolve(self, memory=evolve(self.memory, superseded_at=until, superseded_by=by))

    def restored(self, *, has_twin: bool) -> KeptMemory:
        """Return the memory as true again; without its dedup key when another memory that is true now has it."""
        memory = evolve(self.memory, superseded_at=None, superseded_by=None)
        return evolve(self, memory=memory, dedup_key=None if has_twin else self.dedup_key)

    def replaced(self, now: datetime) -> KeptMemory:
        """Return the memory with its present content added to its earlier contents, as replaced at *now*, UTC."""
        memory = self.handed_out()
        content = EarlierContent(
            memory.version,
            now,
            memory.content,
            memory.key,
            memory.value,
            memory.category,
            memory.tags,
            memory.confidence,
            memory.source,
            memory.provenance,
        )
        return evolve(self, earlier=(*self.earlier, content))

    def rewritten(self, draft: MemoryDraft, *, dedup_key: bytes | None, keep_vector: bool) -> KeptMemory:
        """Return the memory with the content of *draft*, at the next version.

        Unless *keep_vector* is True it takes the vector of *draft*, if any.  Without a dedup key it is never a
        duplicate.
        """
        memory = evolve(
            self.memory,
            content=draft.content,
            key=draft.key,
            category=draft.category,
            tags=draft.tags,
            confidence=draft.confidence,
            source=draft.source,
            provenance=draft.provenance,
            attribute=draft.attribute,
            version=self.memory.version + 1,
        )
        row = evolve(self, memory=memory, value=to_json(draft.value), terms=draft.terms, dedup_key=dedup_key)
        return row if keep_vector else row.embedded(draft.space, draft.vector)

    def marked(self, *, memory_type: MemoryType | None, pinned: bool | None) -> KeptMemory:
        """Return the memory promoted, demoted, pinned or unpinned; None: its type, or its pin, stays the same."""
        memory = self.memory
        return evolve(
            self,
            memory=evolve(
                memory,
                memory_type=memory_type or memory.memory_type,
                pinned=memory.pinned if pinned is None else pinned,
            ),
        )

    def embedded(self, space: EmbeddingSpace | None, vector: Vector | None) -> KeptMemory:
        """Return the memory with a copy of *vector*, shape ``(dim,)``, of *space*; None for both: without a vector."""
        # A copy, because the caller may change its vector, or it may be a row of a large matrix that would stay in memory.
        copied = None if vector is None else vector.copy()
        return evolve(self, memory=evolve(self.memory, embedding=space), vector=copied)

    def used(self, use: Use) -> KeptMemory:
        """Return the memory with one more use."""
        memory = evolve(self.memory, last_accessed=use.now, access_count=self.memory.access_count + 1)
        used_in = self.used_in if use.session_id is None else self.used_in | {use.session_id}
        return evolve(self, memory=memory, last_use_id=use.use_id, used_in=used_in)

    def promotes_itself(self, after: int | None) -> bool:
        """Return whether it becomes long-term after its use in *after* sessions; never when that is None."""
        memory = self.memory
        return (
            after is not None
            and len(self.used_in) >= after
            and (memory.memory_type, memory.source, memory.role) == ("short_term", "user_stated", "user")
        )

    def whole(self) -> WholeMemory:
        """Return the memory with everything that is copied with it to another store."""
        dedup_key = self.dedup_key if self.is_true() else None
        return WholeMemory(self.handed_out(), self.earlier, dedup_key, self.vector)

    def handed_out(self) -> Memory:
        """Return the memory with a copy of its value, which the caller may change."""
        return self.memory if self.value is None else evolve(self.memory, value=from_json(self.value))


def kept(draft: MemoryDraft) -> KeptMemory:
    """Return the memory that stores *draft*."""
    memory = evolve(draft.stored(), value=None)
    earlier = () if draft.past is None else draft.past.earlier
    new = KeptMemory(memory, to_json(draft.value), draft.terms, draft.dedup_key, vector=None, earlier=earlier)
    return new.embedded(draft.space, draft.vector)


def newest(rows: Iterable[KeptMemory], *, limit: int | None = None) -> list[KeptMemory]:
    """Return the newest *limit* of *rows*, by ``created_at`` and then by id, both descending; None: all of them."""
    if limit is None:
        return sorted(rows, key=lambda row: row.place, reverse=True)
    return nlargest(limit, rows, key=lambda row: row.place)
