"""``ArrivingMemories`` and ``ArrivingItems``: write imported memories and items into a store."""

from base64 import b64decode
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final, final

import numpy as np
from attrs import define, evolve, field

from chatmemory.effect import Do, Failure, Success
from chatmemory.effect.services.clock import Clock
from chatmemory.embedding.embedder import Vector
from chatmemory.errors import GenericMemoryError, MemoryConflictError, Problem, RepositoryError
from chatmemory.input.json_value import same_json, to_json
from chatmemory.input.rules import MAX_LIMIT, id_problems, limit_problems, sequence_problems, text_problems
from chatmemory.items.item_repository import ItemName, ItemPut, ItemRepository, WholeItem
from chatmemory.longterm.memories import Duplicate, NewMemory, Skipped, Stored, as_new
from chatmemory.longterm.memory_repository import MemoryRepository
from chatmemory.longterm.memory_rules import memory_problems, namespace_problems
from chatmemory.longterm.repository_values import ImportedPast, MemoryDraft
from chatmemory.longterm.saving.memory_drafts import memory_terms, terms_of
from chatmemory.programs.archive.import_report import ImportTally
from chatmemory.programs.archive.records import ItemRecord, MemoryRecord

BATCH: Final = 200
"""The number of memories in one transaction."""
DEDUP_BYTES: Final = 32


@final
@define(eq=False)
class ArrivingMemories:
    """Writes memories batch by batch; writes nothing in a dry run."""

    do: Do[GenericMemoryError]
    repository: MemoryRepository
    tally: ImportTally
    _waiting: list[tuple[MemoryDraft, int]] = field(factory=list[tuple[MemoryDraft, int]])

    async def take(self, record: MemoryRecord) -> None:
        """Add a memory to the current batch."""
        draft = self._draft(record)
        if draft is None:
            return
        if self.tally.is_dry_run:
            found = await self.do(self.repository.get(draft.namespace, draft.id).alt(GenericMemoryError))
            self.tally.count("memory", new=found is None, known=found is not None)
            return
        self._waiting.append((draft, self.tally.lines))
        if len(self._waiting) >= BATCH or self._waiting[0][0].namespace.user != draft.namespace.user:
            await self.flush()

    async def flush(self) -> None:
        """Write the waiting memories."""
        waiting, self._waiting = self._waiting, []
        await self._store(waiting)

    async def _store(self, waiting: Sequence[tuple[MemoryDraft, int]]) -> None:
        if not waiting:
            return
        match await self.repository.store(tuple(draft for draft, _ in waiting)):
            case Success(outcomes):
                for outcome, (draft, _) in zip(outcomes, waiting, strict=True):
                    self.tally.users[draft.namespace.user] = None
                    match outcome:
                        case Stored():
                            self.tally.count("memory", new=1)
                        case Duplicate():
                            self.tally.count("memory", known=1)
                        case Skipped():
                            self.tally.forgotten[draft.id] = None
            case Failure(MemoryConflictError() as error):
                if len(waiting) == 1:
                    ((draft, line),) = waiting
                    self.tally.issue(f"memory {draft.id!r} has other content here", line)
                    return
                taken = set(error.memory_ids)
                await self._store([one for one in waiting if one[0].id not in taken])
                for one in waiting:
                    if one[0].id in taken:  # by the store, or by an earlier one of the batch
                        await self._store([one])
            case Failure(RepositoryError() as error):
                self.do.fail(GenericMemoryError(error))
            case Failure(error):  # a draft with earlier contents replaces nothing
                self.tally.issue(error)

    def _draft(self, record: MemoryRecord) -> MemoryDraft | None:
        memory = record.memory
        new = as_new(memory)
        problems = namespace_problems(memory.namespace) + memory_problems("$.memory", new)
        problems += _past_problems(record)
        space = memory.embedding
        vector = None
        try:
            dedup_key = None if record.dedup_key is None else bytes.fromhex(record.dedup_key)
            if record.vector is not None and space is not None:
                vector = _vector_of(record.vector)
        except ValueError as error:
            self.tally.issue(f"not hexadecimal, or not base64: {error}")
            return None
        if problems:
            self.tally.issue("; ".join(map(str, problems)))
            return None
        if (dedup_key is not None and len(dedup_key) != DEDUP_BYTES) or (
            vector is not None and (space is None or vector.size != space.dim)
        ):
            self.tally.issue(
                "the dedup key is not 32 bytes long, or the vector does not have its stated length"
            )
            return None
        return MemoryDraft(
            **evolve(memory, created_at=memory.created_at.astimezone(UTC)).facts(),
            terms=terms_of(new),
            dedup_key=dedup_key,
            space=None if vector is None else space,
            vector=vector,
            past=ImportedPast(
                memory.last_accessed,
                memory.access_count,
                memory.superseded_at,
                memory.superseded_by,
                memory.version,
                record.earlier,
            ),
        )


def _past_problems(record: MemoryRecord) -> list[Problem]:
    """Return every broken rule of the past of a memory, which no service checks."""
    memory = record.memory
    problems = limit_problems("$.memory.access_count", memory.access_count)
    problems += id_problems("$.memory.superseded_by", memory.superseded_by, or_none=True)
    versions = [*(one.version for one in record.earlier), memory.version]
    if versions != sorted(set(versions)) or not 1 <= versions[0] <= versions[-1] <= MAX_LIMIT:
        problem = f"expected versions that grow from one content to the next, from 1 to {MAX_LIMIT}"
        problems.append(Problem("$.memory.version", f"{problem}, not {versions}"))
    for index, one in enumerate(record.earlier):
        problems += memory_problems(f"$.earlier[{index}]", NewMemory(**one.facts()))
    return problems


@final
@define(eq=False)
class ArrivingItems:
    """Writes items one by one; writes nothing in a dry run."""

    do: Do[GenericMemoryError]
    repository: ItemRepository
    clock: Clock
    tally: ImportTally

    async def take(self, record: ItemRecord) -> None:
        """Write an item, unless the store has a newer value."""
        if not record.namespace or any(not label or "." in label for label in record.namespace):
            self.tally.issue("not a namespace: its labels must not be empty, and must not contain dots")
            return
        problems = sequence_problems("$.namespace", record.namespace, text_problems)
        if problems := problems + text_problems("$.key", record.key):
            self.tally.issue(problems[0])
            return
        put = self._put(record)
        if isinstance(put, str):
            self.tally.issue(put)
            return
        read = self.repository.whole((put.name,), now=self.clock.now())
        (found,) = await self.do(read.alt(GenericMemoryError))
        if found is None:
            self.tally.count("item", new=1)
            await self._write(put, *dict.fromkeys((record.created_at, record.updated_at)))
        elif same_json(found.item.value, put.value):
            self.tally.count("item", known=1)
            if _lacks_a_part(found, put, record):
                await self._write(evolve(put, keeps_past=True), record.updated_at)
        elif found.item.updated_at < record.updated_at:
            self.tally.count("item", new=1)
            await self._write(evolve(put, keeps_past=True), record.updated_at)
        else:
            self.tally.issue(f"item {record.key!r} has a newer value here")

    def _put(self, record: ItemRecord) -> ItemPut | str:
        """Return the put of *record*, or what is wrong with it."""
        name, value = ItemName(record.namespace, record.key), to_json(record.value) or "null"
        index = record.index
        if index is None:
            return ItemPut(name, value, memory_terms("", key=record.key, value=record.value))
        problems = text_problems("$.index.model", index.model)
        if problems := problems + text_problems("$.index.terms", index.terms or ""):
            return str(problems[0])
        try:
            vectors = tuple(map(_vector_of, index.vectors))
        except ValueError as error:
            return f"a vector is not base64 of numbers: {error}"
        return ItemPut(name, value, index.terms, index.model, vectors)

    async def _write(self, put: ItemPut, *instants: datetime) -> None:
        for now in instants if not self.tally.is_dry_run else ():
            await self.do(self.repository.write((put,), now=now).alt(GenericMemoryError))


def _lacks_a_part(found: WholeItem, put: ItemPut, record: ItemRecord) -> bool:
    """Return whether an earlier import was cut off between the two writes of this item, or brought it without vectors."""
    is_first_write = found.item.updated_at == record.created_at < record.updated_at
    is_without = bool(put.vectors) and not found.vectors
    return is_first_write or (is_without and found.item.updated_at <= record.updated_at)


def _vector_of(text: str) -> Vector:
    vector = np.frombuffer(b64decode(text, validate=True), "<f4")
    if not np.isfinite(vector).all():
        raise ValueError("not all numbers are finite")
    return vector
