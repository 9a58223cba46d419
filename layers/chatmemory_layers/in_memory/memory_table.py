"""``MemoryTable``: the memories of every namespace, in dictionaries.

It changes itself or refuses whole, and knows neither effects nor conversations: ``memory_repository.py`` does.  How
memories are found for a recall stands in ``memory_search.py``.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from heapq import nlargest
from typing import TypeAlias, final

from attrs import define, evolve, field

from chatmemory.embedding.space import EmbeddingSpace
from chatmemory.errors import MemoryConflictError, MemoryNotFoundError
from chatmemory.input.page_cursor import Place
from chatmemory.longterm.changes import StoreDecision, decide_store
from chatmemory.longterm.memories import Duplicate, MemoryType, Namespace, Stored, UseReport
from chatmemory.longterm.memory_repository import Attachment, Forgetting, MemoryDraft, MemoryListing
from chatmemory_layers.in_memory.memory_row import Row, new_row

DedupKey: TypeAlias = tuple[Namespace, bytes]


@final
@define(eq=False)
class MemoryTable:
    """Every memory.

    Attributes:
        rows: by the id of the memory.
        by_dedup_key: the id of the memory that got the key last; whether it is true and has it still, its row says.
    """

    rows: dict[str, Row] = field(factory=dict[str, Row])
    by_dedup_key: dict[DedupKey, str] = field(factory=dict[DedupKey, str])

    def store(
        self, drafts: Sequence[MemoryDraft]
    ) -> tuple[Stored | Duplicate, ...] | MemoryConflictError | MemoryNotFoundError:
        """Store every draft that is new, or refuse them all."""
        taken = {draft.id: self.rows[draft.id].words for draft in drafts if draft.id in self.rows}
        standing = [row.standing for draft in drafts for row in self._standing(draft)]
        decision = decide_store(drafts, taken, standing)
        if not isinstance(decision, StoreDecision):
            return decision
        for step in decision.steps:
            self._put([self.rows[end.memory_id].superseded(end.at, by=end.by) for end in step.ends])
            row = new_row(step.draft)
            self._put([row])
            self._hold(row)
        return decision.answer

    def seen(self, namespace: Namespace, memory_id: str) -> Row | None:
        """Return the row, if a reader in *namespace* sees it."""
        row = self.rows.get(memory_id)
        return row if row is not None and namespace.sees(row.memory.namespace) else None

    def of_key(self, namespace: Namespace, key: str, *, as_of: datetime | None = None) -> list[Row]:
        """Return what is true of the key in exactly this namespace, newest first."""
        return newest(
            row
            for row in self.rows.values()
            if row.memory.namespace == namespace and row.memory.key == key and row.is_true(as_of)
        )

    def retire(self, namespace: Namespace, key: str, *, now: datetime) -> bool:
        """End the truth of the key's memories; False when none was true."""
        retired = [row.superseded(now, by=None) for row in self.of_key(namespace, key)]
        self._put(retired)
        return bool(retired)

    def listed(self, listing: MemoryListing) -> list[Row]:
        """Return the page that *listing* asks for."""
        return newest((row for row in self.rows.values() if row.is_listed(listing)), limit=listing.limit)

    def rewrite(self, row: Row, draft: MemoryDraft, *, keep_vector: bool) -> Row:
        """Put what *draft* says in the place of what *row* says."""
        holder = self._holder(row.memory.namespace, draft.dedup_key)
        dedup_key = draft.dedup_key if holder is None or holder.id == row.id else None
        rewritten = row.rewritten(draft, dedup_key=dedup_key, keep_vector=keep_vector)
        self._put([rewritten])
        self._hold(rewritten)
        return rewritten

    def mark(self, row: Row, *, memory_type: MemoryType | None, pinned: bool | None) -> Row:
        """Promote, demote, pin or unpin."""
        marked = evolve(
            row,
            memory=evolve(
                row.memory,
                memory_type=memory_type or row.memory.memory_type,
                pinned=row.memory.pinned if pinned is None else pinned,
            ),
        )
        self._put([marked])
        return marked

    def record_use(
        self,
        namespace: Namespace,
        memory_ids: Iterable[str],
        *,
        use_id: str,
        session_id: str | None,
        now: datetime,
        promote_after: int | None,
    ) -> UseReport:
        """Count one use of each memory that is seen."""
        used = 0
        promoted: list[str] = []
        for memory_id in memory_ids:
            row = self.seen(namespace, memory_id)
            if row is None or row.last_use_id == use_id:
                continue
            row = row.used(use_id=use_id, session_id=session_id, now=now)
            used += 1
            if row.promotes_itself(promote_after):
                row = evolve(row, memory=evolve(row.memory, memory_type="long_term"))
                promoted.append(memory_id)
            self._put([row])
        return UseReport(used, tuple(promoted))

    def forget(self, forgetting: Forgetting) -> list[Row]:
        """Remove what *forgetting* names, and return it."""
        chain = (
            None if forgetting.memory_id is None else self._chain(forgetting.namespace, forgetting.memory_id)
        )
        return self._remove(
            row
            for row in self.rows.values()
            if (chain is None or row.id in chain) and row.comes_from(forgetting)
        )

    def expire(self, namespace: Namespace, *, session_id: str | None, created_before: datetime | None) -> int:
        """Remove short-term memories that are not pinned, and return how many."""
        expired = self._remove(
            row
            for row in self.rows.values()
            if namespace.sees(row.memory.namespace)
            and row.memory.memory_type == "short_term"
            and not row.memory.pinned
            and session_id in {None, row.memory.session_id}
            and (created_before is None or row.memory.created_at < created_before)
        )
        return len(expired)

    def unembedded(
        self, namespace: Namespace, space: EmbeddingSpace, *, limit: int, after: Place | None
    ) -> tuple[list[Row], int]:
        """Return what could be recalled and has no vector of *space*, behind *after*, and how much there is in all."""
        lacking = [
            row
            for row in self.rows.values()
            if row.is_recallable(namespace) and row.memory.embedding != space
        ]
        return newest((row for row in lacking if after is None or row.place < after), limit=limit), len(
            lacking
        )

    def attach(self, namespace: Namespace, space: EmbeddingSpace, attachments: Iterable[Attachment]) -> int:
        """Give memories their vectors, unless they changed since they were read."""
        found = [(self.seen(namespace, attached.memory_id), attached) for attached in attachments]
        embedded = [
            row.embedded(space, attached.vector)
            for row, attached in found
            if row is not None and row.memory.version == attached.version
        ]
        self._put(embedded)
        return len(embedded)

    def _put(self, rows: Iterable[Row]) -> None:
        for row in rows:
            self.rows[row.id] = row

    def _holder(self, namespace: Namespace, dedup_key: bytes | None) -> Row | None:
        """Return the memory that is true now and has the key."""
        if dedup_key is None or (memory_id := self.by_dedup_key.get((namespace, dedup_key))) is None:
            return None
        row = self.rows[memory_id]
        return row if row.is_true() and row.dedup_key == dedup_key else None

    def _hold(self, row: Row) -> None:
        if row.dedup_key is not None:
            self.by_dedup_key[row.memory.namespace, row.dedup_key] = row.id

    def _standing(self, draft: MemoryDraft) -> Iterator[Row]:
        """Yield the memories, true now, that *draft* may repeat or replace."""
        if (twin := self._holder(draft.namespace, draft.dedup_key)) is not None:
            yield twin
        if draft.replaces is not None and (row := self.rows.get(draft.replaces)) and row.is_true():
            yield row
        if draft.replaces_key and draft.key is not None:
            yield from self.of_key(draft.namespace, draft.key)

    def _chain(self, namespace: Namespace, memory_id: str) -> list[str]:
        """Return the id with those that it has superseded, and those before them; nothing when it is not seen."""
        if self.seen(namespace, memory_id) is None:
            return []
        older = defaultdict[str | None, list[str]](list)
        for row in self.rows.values():
            older[row.memory.superseded_by].append(row.id)
        chain = [memory_id]
        for newer in chain:
            chain += older[newer]  # the loop goes on over what it adds
        return chain

    def _remove(self, rows: Iterable[Row]) -> list[Row]:
        gone = {row.id: row for row in rows}
        for row in gone.values():
            del self.rows[row.id]
        self.by_dedup_key = {
            key: memory_id for key, memory_id in self.by_dedup_key.items() if memory_id not in gone
        }
        orphans = [row for row in self.rows.values() if row.memory.superseded_by in gone]
        self._put(evolve(row, memory=evolve(row.memory, superseded_by=None)) for row in orphans)
        return list(gone.values())


def newest(rows: Iterable[Row], *, limit: int | None = None) -> list[Row]:
    """Return the newest *limit* rows, newest first; None: all of them."""
    if limit is None:
        return sorted(rows, key=lambda row: row.place, reverse=True)
    return nlargest(limit, rows, key=lambda row: row.place)
