"""What storing memories adds, repeats, replaces or refuses: a decision that every store executes.

A store gives the facts that it has read, and gets back what to write and what to answer, or the error that refuses the
whole batch.  Nothing here reads, writes or waits.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Protocol, TypeAlias, final

from attrs import frozen

from chatmemory.access.audit import AuditAction, Deed
from chatmemory.access.namespace import Namespace
from chatmemory.errors import MemoryConflictError, MemoryNotFoundError
from chatmemory.input.json_value import same_json, to_json
from chatmemory.longterm.memories import Duplicate, MemoryType, Stored
from chatmemory.longterm.repository_values import MemoryDraft

MemoryName: TypeAlias = tuple[str, str]
"""What no two memories of a store share: user and id."""

Words: TypeAlias = tuple[Namespace, str, str | None, str | None]
"""What two memories of one id must have in common: namespace, content, key and value (as JSON)."""


class Standing(Protocol):
    """What a draft may repeat or replace: a stored memory that is true now, or a draft before it."""

    @property
    def id(self) -> str:
        """The id of the memory."""
        ...

    @property
    def namespace(self) -> Namespace:
        """The namespace of the memory."""
        ...

    @property
    def key(self) -> str | None:
        """The key whose value it is; None without one."""
        ...

    @property
    def dedup_key(self) -> bytes | None:
        """What every duplicate of it has as well; None: it has no duplicate."""
        ...

    @property
    def created_at(self) -> datetime:
        """The instant from which it is true."""
        ...


@final
@frozen
class StandingMemory:
    """A stored memory that is true now."""

    id: str
    namespace: Namespace
    key: str | None
    dedup_key: bytes | None
    created_at: datetime


@final
@frozen
class End:
    """A memory of *namespace* ceases to be true at *at*; the memory *by* takes its place."""

    memory_id: str
    namespace: Namespace
    at: datetime
    by: str


@final
@frozen(slots=False)  # made for every memory, see messages.py
class Step:
    """A memory to insert, and the memories that it replaces: stored ones, or ones of the steps before."""

    draft: MemoryDraft
    ends: Sequence[End] = ()


@final
@frozen
class StoreDecision:
    """What a batch stores, step by step in its order, and what the repository answers."""

    steps: Sequence[Step]
    answer: tuple[Stored | Duplicate, ...]

    @property
    def deeds(self) -> Iterator[Deed]:
        """What is done, for the audit trail."""
        for step in self.steps:
            for end in step.ends:
                yield Deed("superseded", "memory", end.memory_id, end.namespace)
            yield Deed("stored", "memory", step.draft.id, step.draft.namespace)


def decide_store(
    drafts: Iterable[MemoryDraft], taken: Mapping[MemoryName, Words], standing: Iterable[Standing]
) -> StoreDecision | MemoryConflictError | MemoryNotFoundError:
    """Tell apart what *drafts* add, repeat, replace and contradict; see ``MemoryRepository.store``.

    Args:
        drafts: in order; each sees those before it.
        taken: what is stored under those of their names that are stored, whether it is true now or not.
        standing: at least the stored memories, true now, that have the dedup key of a draft in its namespace, the id
            that a draft replaces, or the key that a draft replaces, in its namespace.
    """
    true_now = {name_of(memory): memory for memory in standing}
    twins = {(memory.namespace, memory.dedup_key): name for name, memory in true_now.items()}
    new: dict[MemoryName, MemoryDraft] = {}
    steps: list[Step] = []
    answer: list[Stored | Duplicate] = []
    conflicts: list[str] = []
    missing: list[str] = []
    for draft in drafts:
        user, id_ = name = name_of(draft)
        twin = None
        if draft.dedup_key is not None:
            twin = twins.get((draft.namespace, draft.dedup_key))
        if name in taken or name in new:
            if _repeats(draft, taken[name] if name in taken else words_of(new[name])):
                answer.append(Duplicate(id_))
            else:
                conflicts.append(id_)
        elif twin in true_now:
            answer.append(Duplicate(true_now[twin].id))
        elif draft.replaces is not None and not _is_seen(true_now.get((user, draft.replaces)), draft):
            missing.append(draft.replaces)
        else:
            ends = [
                End(old.id, old.namespace, max(draft.created_at, old.created_at), by=id_)
                for old in _replaced(draft, true_now)
            ]
            for end in ends:
                del true_now[user, end.memory_id]
            new[name] = true_now[name] = draft
            twins[draft.namespace, draft.dedup_key] = name
            steps.append(Step(draft, ends))
            answer.append(Stored(id_, tuple([end.memory_id for end in ends])))
    if conflicts:
        return MemoryConflictError(tuple(conflicts))
    if missing:
        return MemoryNotFoundError(missing[0])
    return StoreDecision(steps, tuple(answer))


def name_of(memory: Standing) -> MemoryName:
    """Return what no other memory of the store has."""
    return memory.namespace.user, memory.id


def words_of(draft: MemoryDraft) -> Words:
    """Return what a draft must say to repeat this one."""
    return draft.namespace, draft.content, draft.key, to_json(draft.value)


def _repeats(draft: MemoryDraft, stored: Words) -> bool:
    *said, value = words_of(draft)
    return said == list(stored[:3]) and same_json(value, stored[3])


def _is_seen(memory: Standing | None, draft: MemoryDraft) -> bool:
    return memory is not None and draft.namespace.sees(memory.namespace)


def _replaced(draft: MemoryDraft, true_now: Mapping[MemoryName, Standing]) -> Sequence[Standing]:
    """Return the memories that *draft* replaces, newest first."""
    if draft.replaces is None and not draft.replaces_key:
        return ()
    replaced = [
        old
        for old in true_now.values()
        if name_of(old) == (draft.namespace.user, draft.replaces)
        or (
            draft.replaces_key
            and draft.key is not None
            and (old.namespace, old.key) == (draft.namespace, draft.key)
        )
    ]
    return sorted(replaced, key=lambda old: (old.created_at, old.id), reverse=True)


def deeds_of_mark(
    memory_id: str, namespace: Namespace, *, memory_type: MemoryType | None, pinned: bool | None
) -> Iterator[Deed]:
    """Return what ``MemoryRepository.mark`` does to a memory of *namespace*, for the audit trail."""
    actions: list[AuditAction] = []
    if memory_type is not None:
        actions.append("promoted" if memory_type == "long_term" else "demoted")
    if pinned is not None:
        actions.append("pinned" if pinned else "unpinned")
    return (Deed(action, "memory", memory_id, namespace) for action in actions)
