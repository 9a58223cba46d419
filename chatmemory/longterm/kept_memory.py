"""``KeptMemory``: one memory as ``KeptMemories`` keeps it, what can be asked of it, and how it becomes another.

It never changes: a change puts another one in its place, so that a batch that fails leaves no trace.
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
from chatmemory.longterm.changes import StandingMemory, Words
from chatmemory.longterm.forgotten import MemoryName
from chatmemory.longterm.memories import Memory, MemoryType
from chatmemory.longterm.memory_history import EarlierContent
from chatmemory.longterm.memory_rules import folded
from chatmemory.longterm.repository_values import Forgetting, MemoryDraft, MemoryListing


@final
@frozen(eq=False)
class KeptMemory:
    """A stored memory.

    Attributes:
        memory: without its value, so that it can be handed out as it is.
        value: as JSON text: what callers give and get is never shared, and ``1``, ``1.0`` and ``true`` stay apart.
        vector: of the space that *memory* names.
        used_in: the sessions in which it was used.
        earlier: what it said before each correction, oldest first.
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
        """What no other memory of the store has."""
        return self.memory.namespace.user, self.memory.id

    @property
    def place(self) -> Place:
        """What listings order by."""
        return self.memory.created_at, self.memory.id

    def is_true(self, as_of: datetime | None = None) -> bool:
        """Tell whether it is true now, or was at *as_of*."""
        until = self.memory.superseded_at
        if as_of is None:
            return until is None
        return self.memory.created_at <= as_of and (until is None or as_of < until)

    def is_recallable(self, namespace: Namespace, as_of: datetime | None = None) -> bool:
        """Tell whether a reader in *namespace* could recall it."""
        memory = self.memory
        return memory.memory_type == "long_term" and namespace.sees(memory.namespace) and self.is_true(as_of)

    def is_listed(self, listing: MemoryListing) -> bool:
        """Tell whether it stands somewhere on the list, on this page or on a later one."""
        memory, prefix = self.memory, listing.key_prefix
        return (
            listing.namespace.sees(memory.namespace)
            and self.is_true(listing.as_of)
            and (memory.namespace == listing.namespace or not listing.exact_app)
            and (memory.attribute is not None or not listing.has_attribute)
            and (listing.after is None or self.place < listing.after)
            and (listing.tag is None or listing.tag in memory.tags)
            and (prefix is None or (memory.key is not None and memory.key.startswith(prefix)))
            and listing.memory_type in {None, memory.memory_type}
            and listing.category in {None, memory.category}
            and listing.session_id in {None, memory.session_id}
            and (listing.containing is None or self.contains(listing.containing))
        )

    def contains(self, text: str) -> bool:
        """Tell whether content, key or value contains it; see ``MemoryRepository.list``."""
        sought, value = folded(text), from_json(self.value)
        said = self.memory.content, self.memory.key, value if isinstance(value, str) else self.value
        return any(sought in folded(one) for one in said if one is not None)

    def comes_from(self, forgetting: Forgetting) -> bool:
        """Tell whether it is seen, and has the provenance that is given."""
        memory, provenance = self.memory, self.memory.provenance
        return (
            forgetting.namespace.sees(memory.namespace)
            and (forgetting.message_id is None or forgetting.message_id in provenance.message_ids)
            and forgetting.session_id in {None, memory.session_id}
            and forgetting.path in {None, provenance.path}
        )

    @property
    def words(self) -> Words:
        """What a draft must say to be this memory once more."""
        return self.memory.namespace, self.memory.content, self.memory.key, self.value

    @property
    def standing(self) -> StandingMemory:
        """What a draft may repeat or replace of it, while it is true."""
        memory = self.memory
        return StandingMemory(
            memory.id,
            memory.namespace,
            memory.key,
            self.dedup_key,
            memory.created_at,
            memory.attribute,
            is_stated=memory.is_stated,
            pinned=memory.pinned,
        )

    def superseded(self, at: datetime, *, by: str | None) -> KeptMemory:
        """Return it with its truth ended, though never before it began."""
        until = max(at, self.memory.created_at)
        return evolve(self, memory=evolve(self.memory, superseded_at=until, superseded_by=by))

    def restored(self, *, has_twin: bool) -> KeptMemory:
        """Return it as true as it was, without its dedup key when a twin has it now."""
        memory = evolve(self.memory, superseded_at=None, superseded_by=None)
        return evolve(self, memory=memory, dedup_key=None if has_twin else self.dedup_key)

    def replaced(self, now: datetime) -> KeptMemory:
        """Return it with what it says now among what it said before *now*."""
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
        """Return it with what *draft* says."""
        memory = evolve(
            self.memory,
            content=draft.content,
            key=draft.key,
            category=draft.category,
            tags=draft.tags,
            confidence=draft.confidence,
            source=draft.source,
            provenance=draft.provenance,
            version=self.memory.version + 1,
        )
        row = evolve(self, memory=memory, value=to_json(draft.value), terms=draft.terms, dedup_key=dedup_key)
        return row if keep_vector else row.embedded(draft.space, draft.vector)

    def marked(self, *, memory_type: MemoryType | None, pinned: bool | None) -> KeptMemory:
        """Return it promoted, demoted, pinned or unpinned; None: as it was."""
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
        """Return the same memory with this vector, or without one."""
        # A copy: the caller's may change, or be one row of a large matrix that it would keep alive.
        copied = None if vector is None else vector.copy()
        return evolve(self, memory=evolve(self.memory, embedding=space), vector=copied)

    def used(self, *, use_id: str, session_id: str | None, now: datetime) -> KeptMemory:
        """Return it with one more use."""
        memory = evolve(self.memory, last_accessed=now, access_count=self.memory.access_count + 1)
        used_in = self.used_in if session_id is None else self.used_in | {session_id}
        return evolve(self, memory=memory, last_use_id=use_id, used_in=used_in)

    def promotes_itself(self, after: int | None) -> bool:
        """Tell whether use in so many sessions makes it long-term."""
        memory = self.memory
        return (
            after is not None
            and len(self.used_in) >= after
            and (memory.memory_type, memory.source, memory.role) == ("short_term", "user_stated", "user")
        )

    def handed_out(self) -> Memory:
        """Return the memory with a value of the caller's own."""
        return self.memory if self.value is None else evolve(self.memory, value=from_json(self.value))


def kept(draft: MemoryDraft) -> KeptMemory:
    """Make what is kept of *draft*."""
    memory = evolve(draft.stored(), value=None)
    new = KeptMemory(memory, to_json(draft.value), draft.terms, draft.dedup_key, vector=None)
    return new.embedded(draft.space, draft.vector)


def newest(rows: Iterable[KeptMemory], *, limit: int | None = None) -> list[KeptMemory]:
    """Return the newest *limit* rows, newest first; None: all of them."""
    if limit is None:
        return sorted(rows, key=lambda row: row.place, reverse=True)
    return nlargest(limit, rows, key=lambda row: row.place)
