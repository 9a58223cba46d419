"""``KeptMemories``: dictionaries of memories that keep every promise of ``MemoryRepository`` except durability.

It is the executable specification: ``InMemoryMemoryRepository`` returns its answers as effects, and the laws compare the
answers of other repositories with it.  No method waits for anything, so each of them is a transaction.  ``candidates.py``
finds the memories for a recall.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import TypeAlias, final

from attrs import define, evolve, field

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Failure, Outcome, Success
from chatmemory.embedding.space import EmbeddingSpace
from chatmemory.errors import MemoryChangedError, MemoryConflictError, MemoryNotFoundError
from chatmemory.events.event import USE, Change
from chatmemory.events.kept_log import KeptLog
from chatmemory.input.rules import Place
from chatmemory.longterm.candidates import candidates
from chatmemory.longterm.changes import (
    Forgotten,
    MemoryName,
    Source,
    StoreDecision,
    change_of_expiry,
    change_of_forgetting,
    changed_by,
    changes_of_mark,
    changes_of_restore,
    decide_store,
    name_of,
    sources,
)
from chatmemory.longterm.kept_memory import KeptMemory, kept, newest
from chatmemory.longterm.memories import Memory, MemoryHistory, SaveOutcome, UseReport
from chatmemory.longterm.repository_values import (
    Attachment,
    Candidates,
    Expiry,
    Forgetting,
    Mark,
    MemoryCount,
    MemoryDraft,
    MemoryListing,
    MemorySearch,
    Use,
    WholeMemory,
)

DedupKey: TypeAlias = tuple[Namespace, bytes]


@final
@define(eq=False)
class KeptMemories:
    """All memories of a store.

    Attributes:
        rows: the memories by user and id.
        by_dedup_key: the name of the memory that got the key last; its row shows whether it is true and still has the key.
        log: the log of changes.
    """

    rows: dict[MemoryName, KeptMemory] = field(factory=dict[MemoryName, KeptMemory])
    by_dedup_key: dict[DedupKey, MemoryName] = field(factory=dict[DedupKey, MemoryName])
    log: KeptLog = field(factory=KeptLog)
    _forgotten_names: set[MemoryName] = field(factory=set[MemoryName])
    _forgotten_sources: set[Source] = field(factory=set[Source])

    @property
    def forgotten(self) -> Forgotten:
        """The names and messages of forgotten memories, which must not be stored again."""
        return Forgotten(self._forgotten_names, self._forgotten_sources)

    def store(
        self, drafts: tuple[MemoryDraft, ...]
    ) -> Outcome[tuple[SaveOutcome, ...], MemoryConflictError | MemoryNotFoundError]:
        """Store *drafts*, all or none.  Each draft is compared with the stored memories and with the drafts before it."""
        names = [name for name in map(name_of, drafts) if name in self.rows]
        taken = {name: self.rows[name].words for name in names}
        current = [row.current for draft in drafts for row in self._current(draft)]
        decision = decide_store(drafts, taken, current, self.forgotten)
        if not isinstance(decision, StoreDecision):
            return Failure(decision)
        for step in decision.steps:
            self._put(
                self.rows[end.namespace.user, end.memory_id].superseded(end.at, by=end.by)
                for end in step.ends
            )
            row = kept(step.draft)
            if step.over is not None:
                row = row.superseded(step.over.at, by=step.over.by)
            self._put([row])
            self._hold(row)
        self.log.note(decision.changes)
        return Success(decision.answer)

    def seen(self, namespace: Namespace, memory_id: str) -> KeptMemory | None:
        """Return the row of a memory; None when the namespace sees no memory with this id."""
        row = self.rows.get((namespace.user, memory_id))
        return row if row is not None and namespace.sees(row.memory.namespace) else None

    def get(self, namespace: Namespace, memory_id: str) -> Memory | None:
        """Return a memory, whether true now or superseded."""
        row = self.seen(namespace, memory_id)
        return row and row.handed_out()

    def value(self, namespace: Namespace, key: str, *, as_of: datetime | None = None) -> Memory | None:
        """Return the value of a key in exactly this namespace: the newest memory with this ``value_key``."""
        rows = self.values(namespace, key, as_of=as_of)
        return rows[0].handed_out() if rows else None

    def values(self, namespace: Namespace, key: str, *, as_of: datetime | None = None) -> list[KeptMemory]:
        """Return the values of a key in exactly this namespace that were true at *as_of*, UTC, newest first.

        *as_of* None: the value that is true now, which is one at most.
        """
        return newest(
            row
            for row in self.rows.values()
            if row.memory.namespace == namespace and row.memory.value_key == key and row.is_true(as_of)
        )

    def retire(self, namespace: Namespace, key: str, *, now: datetime) -> bool:
        """Mark the value of this key in exactly this namespace as no longer true."""
        retired = [row.superseded(now, by=None) for row in self.values(namespace, key)]
        self._put(retired)
        self.log.note(
            Change("retired", "memory", row.id, row.memory.namespace, said_at=row.memory.superseded_at)
            for row in retired
        )
        return bool(retired)

    def restore(
        self, namespace: Namespace, memory_id: str, *, instead_of: str | None = None, now: datetime
    ) -> Outcome[Memory, MemoryNotFoundError]:
        """Make a memory true again, from its ``created_at`` on, as if it had never stopped being true."""
        row = self.seen(namespace, memory_id)
        if row is None:
            return Failure(MemoryNotFoundError(memory_id))
        ended: list[KeptMemory] = []
        if instead_of is not None:
            other = self.seen(namespace, instead_of)
            if other is None:
                return Failure(MemoryNotFoundError(instead_of))
            ended = [other] if other.is_true() and other is not row else []
        restored = [] if row.is_true() else [row]
        if restored and (key := row.memory.value_key) is not None:
            ended += [one for one in self.values(row.memory.namespace, key) if one not in ended]
        self._put(one.superseded(now, by=memory_id) for one in ended)
        for one in restored:
            row = one.restored(has_twin=self._holder(one.memory.namespace, one.dedup_key) is not None)
            self._put([row])
            self._hold(row)
        names = ([(one.id, one.memory.namespace) for one in rows] for rows in (restored, ended))
        self.log.note(changes_of_restore(*names, by=memory_id, now=now))
        return Success(row.handed_out())

    def listed(self, listing: MemoryListing, /) -> tuple[Memory, ...]:
        """Return the memories of a page, newest first."""
        rows = [row for row in self.rows.values() if row.is_listed(listing)]
        return _handed_out(newest(rows, limit=listing.limit))

    def count(self, listing: MemoryListing, /) -> tuple[MemoryCount, ...]:
        """Count the memories of *listing*, whatever its ``limit`` and ``after``, by type, category and source, in any order."""
        listed = [row.memory for row in self.rows.values() if row.is_listed(evolve(listing, after=None))]
        counts = Counter(MemoryCount(one.memory_type, one.category, one.source, 1) for one in listed)
        return tuple([evolve(one, count=count) for one, count in counts.items()])

    def whole(self, *, limit: int, after: MemoryName | None = None) -> tuple[WholeMemory, ...]:
        """Return memories of all users, true now or not, with everything that is copied with them to another store."""
        names = sorted(name for name in self.rows if after is None or name > after)
        return tuple([self.rows[name].whole() for name in names[:limit]])

    def reach(self, namespace: Namespace, count: int, *, after: Place | None = None) -> datetime | None:
        """Return the creation time of the *count*-th memory, counted from the newest on."""
        rows = [
            row
            for row in self.rows.values()
            if namespace.sees(row.memory.namespace) and (after is None or row.place < after)
        ]
        return newest(rows, limit=count)[-1].memory.created_at if len(rows) >= count else None

    def search(self, search: MemorySearch, /) -> Candidates:
        """Return the candidates of a recall: up to ``search.limit`` for each way of searching, and their neighbours."""
        return candidates(self.rows.values(), search)

    def history(self, namespace: Namespace, memory_id: str) -> MemoryHistory:
        """Return the events of a memory that the namespace sees, and its earlier contents."""
        row = self.seen(namespace, memory_id)
        events = [
            event
            for event in self.log.kept
            if event.kind == "memory" and event.target == memory_id and namespace.sees(event.owner)
        ]
        return MemoryHistory(tuple(events), () if row is None else row.earlier)

    def rewrite(
        self, draft: MemoryDraft, *, expected_version: int, keep_vector: bool = False
    ) -> Outcome[Memory | None, MemoryChangedError]:
        """Replace the content of a memory with the content of *draft*, and increase its version by one."""
        row = self.seen(draft.namespace, draft.id)
        if row is None:
            return Success(None)
        if row.memory.version != expected_version:
            return Failure(MemoryChangedError(row.id, expected=expected_version, actual=row.memory.version))
        holder = self._holder(row.memory.namespace, draft.dedup_key)
        dedup_key = draft.dedup_key if holder is None or holder.name == row.name else None
        rewritten = row.replaced(self.log.clock.now()).rewritten(
            draft, dedup_key=dedup_key, keep_vector=keep_vector
        )
        self._put([rewritten])
        self._hold(rewritten)
        self.log.note([changed_by(draft, rewritten.memory)])
        return Success(rewritten.handed_out())

    def mark(self, mark: Mark, /) -> Memory | None:
        """Change the type of a memory, or pin or unpin it."""
        row = self.seen(mark.namespace, mark.memory_id)
        if row is None:
            return None
        if changes := changes_of_mark(mark, row.memory):
            row = row.marked(memory_type=mark.memory_type, pinned=mark.pinned)
            self._put([row])
            self.log.note(changes)
        return row.handed_out()

    def record_use(self, use: Use, /) -> UseReport:
        """Count one use of each memory that the namespace sees, and set ``last_accessed``."""
        used = 0
        promoted: list[str] = []
        for memory_id in use.memory_ids:
            row = self.seen(use.namespace, memory_id)
            if row is None or row.last_use_id == use.use_id:
                continue
            row = row.used(use)
            used += 1
            if row.promotes_itself(use.promote_after):
                row = row.marked(memory_type="long_term", pinned=None)
                promoted.append(memory_id)
                self.log.note([Change("promoted", "memory", memory_id, row.memory.namespace, reason=USE)])
            self._put([row])
        return UseReport(used, tuple(promoted))

    def forget(self, forgetting: Forgetting, /) -> list[KeptMemory]:
        """Remove the memories that *forgetting* names, and return them.

        The caller makes the receipt, because it also names summaries, which are stored elsewhere.
        """
        chain = (
            None if forgetting.memory_id is None else self._chain(forgetting.namespace, forgetting.memory_id)
        )
        gone = self._remove(
            row
            for row in self.rows.values()
            if (chain is None or row.id in chain) and row.comes_from(forgetting)
        )
        for row in gone:
            messages = row.memory.provenance.message_ids
            self._forgotten_names.add(row.name)
            self._forgotten_sources |= sources(forgetting.namespace.user, row.memory.session_id, messages)
        self.log.note(
            change_of_forgetting(
                row.id, row.memory.namespace, row.memory.session_id, row.memory.provenance.message_ids
            )
            for row in gone
        )
        return gone

    def expire(self, expiry: Expiry, /) -> int:
        """Remove short-term memories that are not pinned, whether true now or superseded."""
        before, ended = expiry.created_before, expiry.session_id
        expired = self._remove(
            row
            for row in self.rows.values()
            if expiry.namespace.sees(row.memory.namespace)
            and row.memory.memory_type == "short_term"
            and not row.memory.pinned
            and ended in {None, row.memory.session_id}
            and (before is None or row.memory.created_at < before)
        )
        self.log.note(
            change_of_expiry(row.id, row.memory.namespace, session_id=row.memory.session_id, ended=ended)
            for row in expired
        )
        return len(expired)

    def unembedded(
        self, namespace: Namespace, space: EmbeddingSpace, *, limit: int, after: Place | None = None
    ) -> tuple[tuple[Memory, ...], int]:
        """Return long-term memories that are true now and lack a vector of *space*."""
        lacking = [
            row
            for row in self.rows.values()
            if row.is_recallable(namespace) and row.memory.embedding != space
        ]
        behind = [row for row in lacking if after is None or row.place < after]
        return _handed_out(newest(behind, limit=limit)), len(lacking)

    def attach(self, namespace: Namespace, space: EmbeddingSpace, attachments: tuple[Attachment, ...]) -> int:
        """Store a vector of *space* for each memory, replacing any other vector."""
        found = [(self.seen(namespace, attached.memory_id), attached) for attached in attachments]
        embedded = [
            row.embedded(space, attached.vector)
            for row, attached in found
            if row is not None and row.memory.version == attached.version
        ]
        self._put(embedded)
        return len(embedded)

    def _put(self, rows: Iterable[KeptMemory]) -> None:
        for row in rows:
            self.rows[row.name] = row

    def _holder(self, namespace: Namespace, dedup_key: bytes | None) -> KeptMemory | None:
        """Return the memory that is true now and has the dedup key; None when there is none."""
        if dedup_key is None or (name := self.by_dedup_key.get((namespace, dedup_key))) is None:
            return None
        row = self.rows[name]
        return row if row.is_true() and row.dedup_key == dedup_key else None

    def _hold(self, row: KeptMemory) -> None:
        if row.dedup_key is not None:
            self.by_dedup_key[row.memory.namespace, row.dedup_key] = row.name

    def _current(self, draft: MemoryDraft) -> Iterator[KeptMemory]:
        """Yield the memories that are true now and that *draft* may repeat or replace."""
        if (twin := self._holder(draft.namespace, draft.dedup_key)) is not None:
            yield twin
        if (
            draft.replaces is not None
            and (row := self.seen(draft.namespace, draft.replaces))
            and row.is_true()
        ):
            yield row
        if draft.value_key is not None:
            yield from self.values(draft.namespace, draft.value_key)
        if (attribute := draft.attribute) is not None:
            for row in self.rows.values():
                if (row.memory.namespace, row.memory.attribute) == (
                    draft.namespace,
                    attribute,
                ) and row.is_true():
                    yield row

    def _chain(self, namespace: Namespace, memory_id: str) -> list[str]:
        """Return the id, the ids of the memories that it has superseded, and so on; nothing when it is not seen."""
        if self.seen(namespace, memory_id) is None:
            return []
        older = defaultdict[str | None, list[str]](list)
        for row in self.rows.values():
            if row.memory.namespace.user == namespace.user:
                older[row.memory.superseded_by].append(row.id)
        chain = [memory_id]
        for newer in chain:
            chain += older[newer]  # the loop also visits the ids that it adds
        return chain

    def _remove(self, rows: Iterable[KeptMemory]) -> list[KeptMemory]:
        gone = {row.name: row for row in rows}
        for name in gone:
            del self.rows[name]
        self.by_dedup_key = {key: name for key, name in self.by_dedup_key.items() if name not in gone}
        orphans = [
            row for row in self.rows.values() if (row.memory.namespace.user, row.memory.superseded_by) in gone
        ]
        self._put(evolve(row, memory=evolve(row.memory, superseded_by=None)) for row in orphans)
        return list(gone.values())


def _handed_out(rows: Iterable[KeptMemory]) -> tuple[Memory, ...]:
    return tuple([row.handed_out() for row in rows])
