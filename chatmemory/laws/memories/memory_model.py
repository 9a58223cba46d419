"""``ModelMemories``: what a memory repository has to do, in the plainest words.

The other half of the yardstick, see ``memory_reading_model.py``: no indexes, no effects, and what fails is undone by
going back to the list as it was.
"""

import json
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import final

from attrs import evolve

from chatmemory.effect import Failure, Outcome, Success
from chatmemory.embedding.space import EmbeddingSpace
from chatmemory.errors import MemoryChangedError, MemoryConflictError, MemoryNotFoundError
from chatmemory.laws.memories.memory_reading_model import Entry, ReadingModel, newest_first
from chatmemory.longterm.memories import Duplicate, Memory, MemoryType, Namespace, Stored, UseReport
from chatmemory.longterm.memory_repository import Attachment, Forgetting, MemoryDraft


@final
class ModelMemories(ReadingModel):
    """The reading of ``MemoryRepository`` that the laws go by."""

    def store(
        self, drafts: Iterable[MemoryDraft]
    ) -> Outcome[tuple[Stored | Duplicate, ...], MemoryConflictError | MemoryNotFoundError]:
        """Answer ``MemoryRepository.store``."""
        before = list(self.entries)
        outcomes: list[Stored | Duplicate] = []
        conflicts: list[str] = []
        missing: list[str] = []
        for draft in drafts:
            taken = [entry.memory for entry in self.entries if entry.memory.id == draft.id]
            twins = [
                entry.memory.id
                for entry in self.true_in(draft.namespace)
                if draft.dedup_key is not None and entry.dedup_key == draft.dedup_key
            ]
            replaced = self._replaced_by(draft)
            if taken and _what_it_says(taken[0]) == _what_it_says(_memory_of(draft)):
                outcomes.append(Duplicate(draft.id))
            elif taken:
                conflicts.append(draft.id)
            elif twins:
                outcomes.append(Duplicate(twins[0]))
            elif draft.replaces is not None and draft.replaces not in replaced:
                missing.append(draft.replaces)
            else:
                self._end(replaced, draft.created_at, by=draft.id)
                memory = _memory_of(draft)
                self.entries.append(Entry(memory, draft.terms, draft.dedup_key, draft.vector))
                outcomes.append(Stored(draft.id, tuple(replaced)))
        if conflicts or missing:
            self.entries = before
            conflict = MemoryConflictError(tuple(conflicts))
            return Failure(conflict if conflicts else MemoryNotFoundError(missing[0]))
        return Success(tuple(outcomes))

    def retire(self, namespace: Namespace, key: str, *, now: datetime) -> bool:
        """Answer ``MemoryRepository.retire``."""
        retired = [entry.memory.id for entry in self.true_in(namespace) if entry.memory.key == key]
        self._end(retired, now, by=None)
        return bool(retired)

    def rewrite(
        self, draft: MemoryDraft, *, expected_version: int, keep_vector: bool
    ) -> Outcome[Memory | None, MemoryChangedError]:
        """Answer ``MemoryRepository.rewrite``."""
        before = self.get(draft.namespace, draft.id)
        if before is None:
            return Success(None)
        if before.version != expected_version:
            return Failure(MemoryChangedError(draft.id, expected_version, before.version))
        is_taken = any(
            entry.dedup_key == draft.dedup_key and entry.memory.id != draft.id
            for entry in self.true_in(before.namespace)
        )
        said = _memory_of(draft)

        def rewritten(entry: Entry) -> Entry:
            entry = entry.with_memory(
                content=said.content,
                key=said.key,
                value=said.value,
                category=said.category,
                tags=said.tags,
                confidence=said.confidence,
                source=said.source,
                provenance=said.provenance,
                version=before.version + 1,
            )
            entry = evolve(entry, terms=draft.terms, dedup_key=None if is_taken else draft.dedup_key)
            return entry if keep_vector else entry.with_vector(draft.space, draft.vector)

        self._change([draft.id], rewritten)
        return Success(self.get(draft.namespace, draft.id))

    def mark(
        self,
        namespace: Namespace,
        memory_id: str,
        *,
        memory_type: MemoryType | None = None,
        pinned: bool | None = None,
    ) -> Memory | None:
        """Answer ``MemoryRepository.mark``."""
        if self.get(namespace, memory_id) is not None:
            if memory_type is not None:
                self._change([memory_id], lambda entry: entry.with_memory(memory_type=memory_type))
            if pinned is not None:
                self._change([memory_id], lambda entry: entry.with_memory(pinned=pinned))
        return self.get(namespace, memory_id)

    def record_use(
        self,
        namespace: Namespace,
        memory_ids: Iterable[str],
        *,
        use_id: str,
        session_id: str | None,
        now: datetime,
        promote_after: int | None = None,
    ) -> UseReport:
        """Answer ``MemoryRepository.record_use``."""
        used: list[str] = []
        promoted: list[str] = []

        def with_use(entry: Entry) -> Entry:
            memory = entry.memory
            sessions = entry.used_in | {session_id} if session_id is not None else entry.used_in
            is_stated = (memory.source, memory.role) == ("user_stated", "user")
            if promote_after is not None and memory.memory_type == "short_term" and is_stated:
                promoted.extend([memory.id] if len(sessions) >= promote_after else [])
            memory_type = "long_term" if memory.id in promoted else memory.memory_type
            entry = evolve(entry, last_use_id=use_id, used_in=sessions)
            return entry.with_memory(
                last_accessed=now, access_count=memory.access_count + 1, memory_type=memory_type
            )

        for memory_id in memory_ids:
            is_new = any(
                entry.memory.id == memory_id and entry.last_use_id != use_id for entry in self.entries
            )
            if is_new and self.get(namespace, memory_id) is not None:
                self._change([memory_id], with_use)
                used.append(memory_id)
        return UseReport(len(used), tuple(promoted))

    def forget(self, forgetting: Forgetting) -> tuple[int, int]:
        """Answer ``MemoryRepository.forget``: how many memories and how many vectors are gone."""
        chain = [forgetting.memory_id]
        is_seen = forgetting.memory_id is None or self.get(forgetting.namespace, forgetting.memory_id)
        for newer in chain:
            chain += [
                entry.memory.id
                for entry in self.entries
                if newer is not None and entry.memory.superseded_by == newer
            ]
        gone = [
            memory.id
            for memory in self.seen(forgetting.namespace)
            if is_seen
            and (forgetting.memory_id is None or memory.id in chain)
            and forgetting.session_id in {None, memory.session_id}
            and (forgetting.message_id is None or forgetting.message_id in memory.provenance.message_ids)
            and forgetting.path in {None, memory.provenance.path}
        ]
        vectors = sum(entry.vector is not None for entry in self.entries if entry.memory.id in gone)
        self._remove(gone)
        return len(gone), vectors

    def expire(
        self,
        namespace: Namespace,
        *,
        session_id: str | None = None,
        created_before: datetime | None = None,
    ) -> int:
        """Answer ``MemoryRepository.expire``."""
        gone = [
            memory.id
            for memory in self.seen(namespace)
            if memory.memory_type == "short_term"
            and not memory.pinned
            and session_id in {None, memory.session_id}
            and (created_before is None or memory.created_at < created_before)
        ]
        self._remove(gone)
        return len(gone)

    def attach(self, namespace: Namespace, space: EmbeddingSpace, attachments: Iterable[Attachment]) -> int:
        """Answer ``MemoryRepository.attach``."""
        vectors = {
            attachment.memory_id: attachment.vector
            for attachment in attachments
            if (memory := self.get(namespace, attachment.memory_id)) and memory.version == attachment.version
        }
        self._change(vectors, lambda entry: entry.with_vector(space, vectors[entry.memory.id]))
        return len(vectors)

    def _replaced_by(self, draft: MemoryDraft) -> list[str]:
        named = [
            memory
            for memory in self.seen(draft.namespace)
            if memory.id == draft.replaces and memory.superseded_at is None
        ]
        of_key = [
            entry.memory
            for entry in self.true_in(draft.namespace)
            if draft.replaces_key and entry.memory.key == draft.key
        ]
        return list(dict.fromkeys(memory.id for memory in newest_first([*named, *of_key])))

    def _end(self, memory_ids: Iterable[str], at: datetime, *, by: str | None) -> None:
        def ended(entry: Entry) -> Entry:
            return entry.with_memory(superseded_at=max(at, entry.memory.created_at), superseded_by=by)

        self._change(memory_ids, ended)

    def _change(self, memory_ids: Iterable[str], change: Callable[[Entry], Entry]) -> None:
        changed = set(memory_ids)
        self.entries = [change(entry) if entry.memory.id in changed else entry for entry in self.entries]

    def _remove(self, gone: Iterable[str]) -> None:
        gone = set(gone)
        self.entries = [
            entry.with_memory(superseded_by=None) if entry.memory.superseded_by in gone else entry
            for entry in self.entries
            if entry.memory.id not in gone
        ]


def _memory_of(draft: MemoryDraft) -> Memory:
    return Memory(
        id=draft.id,
        namespace=draft.namespace,
        content=draft.content,
        key=draft.key,
        value=json.dumps(draft.value, sort_keys=True),
        category=draft.category,
        tags=draft.tags,
        confidence=draft.confidence,
        source=draft.source,
        role=draft.role,
        session_id=draft.session_id,
        memory_type=draft.memory_type,
        pinned=draft.pinned,
        provenance=draft.provenance,
        created_at=draft.created_at,
        embedding=draft.space,
    )


def _what_it_says(memory: Memory) -> tuple[object, ...]:
    return memory.namespace, memory.content, memory.key, memory.value
