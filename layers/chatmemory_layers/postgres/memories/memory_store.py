"""``store``: a batch of memories, all or none, in a transaction of their user.

What is stored already is read once, what becomes of each draft is decided here, and what is new is written at once.
"""

from collections.abc import Sequence
from typing import Final, TypeAlias, final

from attrs import define, evolve, field, frozen

from chatmemory.effect import Failure, Outcome, Success
from chatmemory.errors import MemoryConflictError, MemoryNotFoundError
from chatmemory.input.json_value import same_json
from chatmemory.longterm.memories import Duplicate, Namespace, Stored
from chatmemory.longterm.memory_repository import MemoryDraft
from chatmemory_layers.postgres.engine.connection import Connection, Row
from chatmemory_layers.postgres.memories.memory_row import MemoryRow, insert_memories
from chatmemory_layers.postgres.memories.memory_space import space_keys

SELECT_TAKEN: Final = """
SELECT memory_id, user_id, app_type, content, key, value
FROM atomic_memory JOIN memory_user USING (user_key)
WHERE memory_id = ANY ($1::text[])
"""
# What is true now and may be what a draft repeats or replaces.
SELECT_STANDING: Final = """
SELECT memory_id, user_id, app_type, key, encode(dedup_key, 'hex') AS dedup_key, created_at_us
FROM memory_user JOIN atomic_memory USING (user_key)
WHERE user_id = ANY ($1::text[]) AND superseded_at_us IS NULL AND (
    memory_id = ANY ($2::text[]) OR key = ANY ($3::text[])
    OR dedup_key = ANY (ARRAY(SELECT decode(wanted, 'hex') FROM unnest($4::text[]) AS wanted))
)
"""
END_REPLACED: Final = """
UPDATE atomic_memory SET superseded_at_us = ended.at_us, superseded_by = ended.successor
FROM unnest($1::text[], $2::text[]::bigint[], $3::text[]) AS ended (memory_id, at_us, successor)
WHERE atomic_memory.memory_id = ended.memory_id
"""

Words: TypeAlias = tuple[Namespace, str, str | None, str | None]
"""What two memories of one id must have in common: namespace, content, key and value."""


@final
@frozen
class Standing:
    """A memory that is true now, as far as a draft may repeat or replace it."""

    memory_id: str
    namespace: Namespace
    key: str | None
    dedup_key: str | None
    created_at_us: int


@final
@define(eq=False)
class Batch:
    """What becomes of drafts, one after the other.

    Attributes:
        taken: the words that are stored under an id.
        standing: what is true now, by id.
        twins: the id of the memory that got a dedup key last; it has to be true still.
        new: rows to be inserted, by id.
        ended: when the truth of a stored memory ended, and what took its place, by id.
    """

    taken: dict[str, Words]
    standing: dict[str, Standing] = field(factory=dict[str, Standing])
    twins: dict[tuple[Namespace, str], str] = field(factory=dict[tuple[Namespace, str], str])
    new: dict[str, MemoryRow] = field(factory=dict[str, MemoryRow])
    ended: dict[str, tuple[int, str]] = field(factory=dict[str, tuple[int, str]])
    outcomes: list[Stored | Duplicate] = field(factory=list[Stored | Duplicate])
    conflicts: list[str] = field(factory=list[str])
    missing: list[str] = field(factory=list[str])

    def stand(self, memory: Standing) -> None:
        """Know of a memory that is true now."""
        self.standing[memory.memory_id] = memory
        if memory.dedup_key is not None:
            self.twins[memory.namespace, memory.dedup_key] = memory.memory_id

    def add(self, draft: MemoryDraft, row: MemoryRow) -> None:
        """Decide what becomes of *draft*, which travels as *row*."""
        words = (draft.namespace, row.content, row.key, row.value)
        twin = None if row.dedup_key is None else self.twins.get((draft.namespace, row.dedup_key))
        if draft.id in self.taken:
            if _is_same(self.taken[draft.id], words):
                self.outcomes.append(Duplicate(draft.id))
            else:
                self.conflicts.append(draft.id)
        elif twin in self.standing:
            self.outcomes.append(Duplicate(twin))
        elif draft.replaces is not None and not self._is_replaceable(draft.namespace, draft.replaces):
            self.missing.append(draft.replaces)
        else:
            replaced = tuple([self._end(old, row) for old in self._replaced(draft)])
            self.taken[draft.id] = words
            self.new[draft.id] = row
            self.stand(Standing(draft.id, draft.namespace, row.key, row.dedup_key, row.created_at_us))
            self.outcomes.append(Stored(draft.id, replaced))

    def _is_replaceable(self, namespace: Namespace, memory_id: str) -> bool:
        return memory_id in self.standing and namespace.sees(self.standing[memory_id].namespace)

    def _replaced(self, draft: MemoryDraft) -> Sequence[Standing]:
        """Return those whose place *draft* takes, newest first."""
        if draft.replaces is None and not draft.replaces_key:
            return ()
        key = draft.key if draft.replaces_key else None
        replaced = [
            old
            for old in self.standing.values()
            if old.memory_id == draft.replaces
            or (key is not None and (old.namespace, old.key) == (draft.namespace, key))
        ]
        return sorted(replaced, key=lambda old: (old.created_at_us, old.memory_id), reverse=True)

    def _end(self, old: Standing, successor: MemoryRow) -> str:
        at_us = max(old.created_at_us, successor.created_at_us)
        if old.memory_id in self.new:
            row = self.new[old.memory_id]
            self.new[old.memory_id] = evolve(row, superseded_at_us=at_us, superseded_by=successor.memory_id)
        else:
            self.ended[old.memory_id] = (at_us, successor.memory_id)
        del self.standing[old.memory_id]
        return old.memory_id


async def store(
    connection: Connection, drafts: tuple[MemoryDraft, ...]
) -> Outcome[tuple[Stored | Duplicate, ...], MemoryConflictError | MemoryNotFoundError]:
    """See ``MemoryRepository.store``."""
    spaces = await space_keys(connection, [draft.space for draft in drafts if draft.space is not None])
    batch = await _load(connection, drafts)
    for draft in drafts:
        batch.add(draft, MemoryRow.of(draft, None if draft.space is None else spaces[draft.space]))
    if batch.conflicts:
        return Failure(MemoryConflictError(tuple(batch.conflicts)))
    if batch.missing:
        return Failure(MemoryNotFoundError(batch.missing[0]))
    if batch.ended:  # before the new ones come: a dedup key is free when the truth of its memory has ended
        ends = [(memory_id, str(at_us), by) for memory_id, (at_us, by) in batch.ended.items()]
        await connection.execute(END_REPLACED, *map(list, zip(*ends, strict=True)))
    if batch.new:
        await insert_memories(connection, batch.new.values())
    return Success(tuple(batch.outcomes))


async def _load(connection: Connection, drafts: Sequence[MemoryDraft]) -> Batch:
    rows = await connection.fetch(SELECT_TAKEN, [draft.id for draft in drafts])
    batch = Batch(
        {row["memory_id"]: (_namespace(row), row["content"], row["key"], row["value"]) for row in rows}
    )
    ids = [draft.replaces for draft in drafts if draft.replaces is not None]
    keys = [draft.key for draft in drafts if draft.replaces_key and draft.key is not None]
    dedup_keys = [draft.dedup_key.hex() for draft in drafts if draft.dedup_key is not None]
    if ids or keys or dedup_keys:
        users = list({draft.namespace.user for draft in drafts})
        for row in await connection.fetch(SELECT_STANDING, users, ids, keys, dedup_keys):
            batch.stand(
                Standing(
                    row["memory_id"], _namespace(row), row["key"], row["dedup_key"], row["created_at_us"]
                )
            )
    return batch


def _namespace(row: Row) -> Namespace:
    return Namespace(row["user_id"], row["app_type"])


def _is_same(stored: Words, words: Words) -> bool:
    return stored[:3] == words[:3] and same_json(stored[3], words[3])
