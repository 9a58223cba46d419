"""Decides which memories a batch adds, repeats, replaces or refuses; every store executes the decision.

A store passes the facts that it has read, and gets back the rows to write and the answer, or the error that refuses the
whole batch.  The functions read nothing, write nothing and do not wait.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from datetime import datetime
from typing import Final, TypeAlias, final

from attrs import evolve, field, frozen

from chatmemory.access.namespace import Namespace
from chatmemory.errors import MemoryConflictError, MemoryNotFoundError
from chatmemory.events.event import AGE, SESSION, Change, EventAction
from chatmemory.input.json_value import same_json, to_json
from chatmemory.longterm.extraction.attributes.names import is_single_valued
from chatmemory.longterm.memories import Duplicate, Memory, Retired, SaveOutcome, Skipped, Stored
from chatmemory.longterm.repository_values import Mark, MemoryDraft

KEY: Final = "key"
"""The reason in the log when the value of a key is superseded because the key gets another value."""

AGAIN: Final = "again"
"""The reason in the log when a stored memory had been forgotten and was stated again."""

Words: TypeAlias = tuple[Namespace, str, str | None, str | None]
"""The fields in which two memories with the same id must agree: namespace, content, key and value (as JSON)."""


MemoryName: TypeAlias = tuple[str, str]
"""User and id, which identify a memory in a store."""

Source: TypeAlias = tuple[str, str | None, str]
"""A message that a memory came from: user, conversation and message id."""


@final
@frozen
class Forgotten:
    """The names of forgotten memories, and the messages that they came from.

    A draft that has one of these names, or comes from one of these messages, is not stored.  It is stored if it also
    comes from another message: a statement that is repeated in a new message counts again.  A draft that replaces a
    memory by its id or key, or that is to be stored *again*, is always stored, because the caller asks for it.
    """

    names: AbstractSet[MemoryName] = field(factory=frozenset[MemoryName])
    sources: AbstractSet[Source] = field(factory=frozenset[Source])

    def concerns(self, draft: MemoryDraft) -> bool:
        """Return whether *draft* has the name of a forgotten memory, or comes from a message of one."""
        if not self.names:
            return False
        return (draft.namespace.user, draft.id) in self.names or not self.sources.isdisjoint(
            sources_of(draft)
        )

    def keeps_out(self, draft: MemoryDraft) -> bool:
        """Return whether *draft* is not stored, because it only brings back a forgotten memory."""
        if (
            draft.again
            or draft.replaces is not None
            or not self.concerns(draft)
            or draft.value_key is not None
        ):
            return False
        return self.sources >= sources_of(draft)


NOTHING_FORGOTTEN: Final = Forgotten()


def sources_of(draft: MemoryDraft) -> frozenset[Source]:
    """Return the messages that *draft* comes from."""
    return sources(draft.namespace.user, draft.session_id, draft.provenance.message_ids)


def sources(user: str, session_id: str | None, message_ids: Iterable[str]) -> frozenset[Source]:
    """Return messages as ``Forgotten`` stores them: ``(user, session_id, message_id)``; *session_id* None: it is unknown."""
    return frozenset((user, session_id, message_id) for message_id in message_ids)


@final
@frozen
class CurrentRow:
    """A stored memory that is true now.

    Attributes:
        value_key: the key whose value it is; None when its key is only a label, or it has none.
        dedup_key: the key that all its duplicates share; None: it is never a duplicate.
        created_at: the instant from which it is true.
        attribute: the attribute of the user that it states or ends; None when it is about no attribute.
        is_stated: whether the user stated it.
        pinned: whether a person has marked it as important.
    """

    id: str
    namespace: Namespace
    value_key: str | None
    dedup_key: bytes | None
    created_at: datetime
    attribute: str | None = None
    is_stated: bool = field(default=False, kw_only=True)
    pinned: bool = field(default=False, kw_only=True)


CurrentMemory: TypeAlias = CurrentRow | MemoryDraft
"""A memory that a draft may repeat or replace: a stored one that is true now, or an earlier draft of the batch."""


@final
@frozen
class End:
    """A memory of *namespace* stops being true at *at* and is replaced by the memory *by*; *reason* is for the log."""

    memory_id: str
    namespace: Namespace
    at: datetime
    by: str
    reason: str | None = None


@final
@frozen(slots=False)  # made for every memory, see messages.py
class Step:
    """A memory to insert, and the memories that it replaces: stored ones, or ones of the steps before.

    Attributes:
        over: its own end, when a newer statement about its attribute is already stored; None: it is true now.
        is_again: whether a new message states again what was forgotten.
    """

    draft: MemoryDraft
    ends: Sequence[End] = ()
    over: End | None = None
    is_again: bool = False


@final
@frozen
class StoreDecision:
    """The memories that a batch stores, in order, and the answer of the repository."""

    steps: Sequence[Step]
    answer: tuple[SaveOutcome, ...]

    @property
    def changes(self) -> Iterator[Change]:
        """The changes for the event log, in order."""
        for step in self.steps:
            draft = step.draft
            for end in step.ends:
                yield _superseded(end, draft)
            yield Change(
                "stored",
                "memory",
                draft.id,
                draft.namespace,
                version=1 if draft.past is None else draft.past.version,
                said_at=draft.created_at,
                reason=AGAIN if step.is_again else None,
                session_id=draft.session_id,
                evidence=draft.provenance.message_ids,
            )
            if step.over is not None:
                yield _superseded(step.over, draft)


def _superseded(end: End, draft: MemoryDraft) -> Change:
    """Return the change for the log when *draft* has superseded the memory of *end*."""
    return Change(
        "superseded",
        "memory",
        end.memory_id,
        end.namespace,
        said_at=end.at,
        by=end.by,
        reason=end.reason,
        session_id=draft.session_id,
        evidence=draft.provenance.message_ids,
    )


def decide_store(
    drafts: Iterable[MemoryDraft],
    taken: Mapping[MemoryName, Words],
    current: Iterable[CurrentMemory],
    forgotten: Forgotten = NOTHING_FORGOTTEN,
) -> StoreDecision | MemoryConflictError | MemoryNotFoundError:
    """Decide what *drafts* add, repeat, replace and contradict; see ``MemoryRepository.store``.

    Args:
        drafts: the drafts, in order; each is compared with those before it.
        taken: the stored memories that have the name of a draft, whether they are true now or not.
        current: the stored memories that are true now and have the id that a draft replaces; or, in the namespace of a
            draft, its dedup key, its ``value_key``, or its attribute.  More memories do no harm.
        forgotten: the names of the drafts that were forgotten, and the messages of forgotten memories in the
            conversations of the drafts.  More of them do no harm.
    """
    true_now = {name_of(memory): memory for memory in current}
    twins = {(memory.namespace, memory.dedup_key): name for name, memory in true_now.items()}
    new: dict[MemoryName, MemoryDraft] = {}
    steps: list[Step] = []
    answer: list[SaveOutcome] = []
    conflicts: list[str] = []
    missing: list[str] = []
    for draft in drafts:
        user, id_ = name = name_of(draft)
        may_repeat = draft.dedup_key is not None and not draft.is_over
        twin = twins.get((draft.namespace, draft.dedup_key)) if may_repeat else None
        if name in taken or name in new:
            if _repeats(draft, taken[name] if name in taken else words_of(new[name])):
                answer.append(Duplicate(id_))
            else:
                conflicts.append(id_)
        elif twin in true_now:
            answer.append(Duplicate(true_now[twin].id))
        elif forgotten.keeps_out(draft):
            answer.append(Skipped("forgotten"))
        elif draft.replaces is not None and not _is_seen(true_now.get((user, draft.replaces)), draft):
            missing.append(draft.replaces)
        else:
            step, stored = _stored(draft, true_now, new, is_again=forgotten.concerns(draft))
            for end in step.ends:
                del true_now[user, end.memory_id]
            new[name] = draft
            if step.over is None and not draft.is_over:
                true_now[name] = draft
                twins[draft.namespace, draft.dedup_key] = name
            steps.append(step)
            answer.append(stored)
    return _refusal(conflicts, missing) or StoreDecision(steps, tuple(answer))


def _stored(
    draft: MemoryDraft,
    true_now: Mapping[MemoryName, CurrentMemory],
    new: Container[MemoryName],
    *,
    is_again: bool,
) -> tuple[Step, Stored]:
    """Return what storing *draft* changes, and the answer; *new* are the names of the drafts of the batch before it."""
    if draft.is_over:  # only one memory has a dedup key, and it is true now
        return Step(evolve(draft, dedup_key=None), is_again=is_again), Stored(draft.id)
    if draft.replaces is None and draft.key is None and draft.attribute is None:  # nearly every one
        return Step(draft, is_again=is_again), Stored(draft.id)
    replaced = _replaced(draft, true_now)
    others = [old for old in _of_subject(draft, true_now) if old not in replaced]
    retired = [old for old in others if _supersedes(draft, old, is_new=name_of(old) in new)]
    ends = [
        End(
            old.id,
            old.namespace,
            max(draft.created_at, old.created_at),
            by=draft.id,
            reason=_rule_of(draft) if old in retired else None if old.id == draft.replaces else KEY,
        )
        for old in _newest_first([*replaced, *retired])
    ]
    over = _end_of_late_draft(draft, others)
    told = Stored(
        draft.id,
        tuple([end.memory_id for end in ends]),
        tuple([Retired(old.id, old.attribute or "") for old in _newest_first(retired)]),
        over and over.by,
    )
    return Step(draft, ends, over, is_again=is_again), told


def _refusal(conflicts: list[str], missing: list[str]) -> MemoryConflictError | MemoryNotFoundError | None:
    if conflicts:
        return MemoryConflictError(tuple(conflicts))
    return MemoryNotFoundError(missing[0]) if missing else None


def name_of(memory: CurrentMemory) -> MemoryName:
    """Return the name of a memory, which no other memory of the store has."""
    return memory.namespace.user, memory.id


def words_of(draft: MemoryDraft) -> Words:
    """Return the fields in which a draft must agree to repeat this memory."""
    return draft.namespace, draft.content, draft.key, to_json(draft.value)


def _repeats(draft: MemoryDraft, stored: Words) -> bool:
    *said, value = words_of(draft)
    return said == list(stored[:3]) and same_json(value, stored[3])


def _is_seen(memory: CurrentMemory | None, draft: MemoryDraft) -> bool:
    return memory is not None and draft.namespace.sees(memory.namespace)


def _replaced(draft: MemoryDraft, true_now: Mapping[MemoryName, CurrentMemory]) -> Sequence[CurrentMemory]:
    """Return the memories that *draft* replaces: by their id, or as the value of its key."""
    if draft.replaces is None and draft.value_key is None:
        return ()
    return [
        old
        for old in true_now.values()
        if name_of(old) == (draft.namespace.user, draft.replaces)
        or (_is_value_of_its_key(old, draft) and (draft.past is None or old.created_at <= draft.created_at))
    ]


def _is_value_of_its_key(old: CurrentMemory, draft: MemoryDraft) -> bool:
    key = draft.value_key
    return key is not None and (old.namespace, old.value_key) == (draft.namespace, key)


def _newest_first(memories: Iterable[CurrentMemory]) -> Sequence[CurrentMemory]:
    return sorted(memories, key=lambda memory: (memory.created_at, memory.id), reverse=True)


def _of_subject(draft: MemoryDraft, true_now: Mapping[MemoryName, CurrentMemory]) -> Sequence[CurrentMemory]:
    """Return the memories of exactly the namespace of *draft* that cannot be true beside it.

    Those are the values of its key, or the user's statements about its attribute, if it has one value at a time.
    Statements of another role, a tool, a program or a file neither supersede a memory nor are superseded; the attribute
    of a memory that comes from another store supersedes nothing.
    """
    if draft.value_key is not None:
        return [old for old in true_now.values() if _is_value_of_its_key(old, draft)]
    attribute = draft.attribute
    if attribute is None or draft.past is not None or not is_single_valued(attribute) or not draft.is_stated:
        return ()
    return [
        old
        for old in true_now.values()
        if (old.namespace, old.attribute) == (draft.namespace, attribute) and old.is_stated
    ]


def _supersedes(draft: MemoryDraft, old: CurrentMemory, *, is_new: bool) -> bool:
    """Return whether *draft* supersedes *old*, which has the same attribute.

    Drafts of one batch with the same ``created_at`` do not supersede each other.
    """
    if old.pinned:
        return False
    return old.created_at < draft.created_at or (old.created_at == draft.created_at and not is_new)


def _rule_of(draft: MemoryDraft) -> str | None:
    """Return the name of the attribute of *draft*, without its subject, because the log must not hold the subject."""
    return KEY if draft.value_key is not None else draft.attribute and draft.attribute.partition(":")[0]


def _end_of_late_draft(draft: MemoryDraft, others: Iterable[CurrentMemory]) -> End | None:
    """Return the end of a late draft, when a newer statement about its subject is known; None otherwise."""
    newer = [old for old in others if old.created_at > draft.created_at]
    if (draft.pinned and draft.value_key is None) or not newer:
        return None
    first = min(newer, key=lambda old: (old.created_at, old.id))
    return End(draft.id, draft.namespace, first.created_at, by=first.id, reason=_rule_of(draft))


def changes_of_restore(
    restored: Iterable[tuple[str, Namespace]],
    ended: Iterable[tuple[str, Namespace]],
    *,
    by: str,
    now: datetime,
) -> Iterator[Change]:
    """Return the changes of ``MemoryRepository.restore`` for the log, in order.

    *ended* stop being true at *now*, UTC, because of the restored memory *by*.
    """
    for memory_id, namespace in ended:
        yield Change("superseded", "memory", memory_id, namespace, said_at=now, by=by)
    for memory_id, namespace in restored:
        yield Change("restored", "memory", memory_id, namespace)


def changes_of_mark(mark: Mark, before: Memory) -> list[Change]:
    """Return the changes of ``MemoryRepository.mark`` for the log, in order; none: the memory is marked so *before*."""
    actions: list[EventAction] = []
    if mark.memory_type not in {None, before.memory_type}:
        actions.append("promoted" if mark.memory_type == "long_term" else "demoted")
    if mark.pinned not in {None, before.pinned}:
        actions.append("pinned" if mark.pinned else "unpinned")
    return [Change(action, "memory", mark.memory_id, before.namespace) for action in actions]


def changed_by(draft: MemoryDraft, changed: Memory) -> Change:
    """Return the change for the log when *draft* has replaced the content of a memory; *changed* is the memory after it."""
    return Change(
        "changed",
        "memory",
        changed.id,
        changed.namespace,
        version=changed.version,
        session_id=changed.session_id,
        evidence=draft.provenance.message_ids,
    )


def change_of_forgetting(
    memory_id: str, namespace: Namespace, session_id: str | None, evidence: Sequence[str]
) -> Change:
    """Return the change for the log when a memory was forgotten that came from the messages *evidence*."""
    return Change(
        "forgotten", "memory", memory_id, namespace, session_id=session_id, evidence=tuple(evidence)
    )


def change_of_expiry(
    memory_id: str, namespace: Namespace, *, session_id: str | None, ended: str | None
) -> Change:
    """Return the change for the log when a memory expires with the session *ended*; None: because of its age."""
    if ended is not None:
        return Change("forgotten", "memory", memory_id, namespace, reason=SESSION, session_id=session_id)
    return Change(
        "expired", "memory", memory_id, namespace, reason=AGE, session_id=session_id, is_by_itself=True
    )
