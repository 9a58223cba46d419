"""What storing memories adds, repeats, replaces or refuses: a decision that every store executes.

A store gives the facts that it has read, and gets back what to write and what to answer, or the error that refuses the
whole batch.  Nothing here reads, writes or waits.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final, Protocol, TypeAlias, final

from attrs import field, frozen

from chatmemory.access.namespace import Namespace
from chatmemory.errors import MemoryConflictError, MemoryNotFoundError
from chatmemory.events.event import AGE, SESSION, Change, EventAction
from chatmemory.input.json_value import same_json, to_json
from chatmemory.longterm.extraction.attributes import is_single_valued
from chatmemory.longterm.forgotten import NOTHING, Forgotten, MemoryName
from chatmemory.longterm.memories import Duplicate, Memory, MemoryType, Retired, SaveOutcome, Skipped, Stored
from chatmemory.longterm.repository_values import MemoryDraft

KEY: Final = "key"
"""The reason for which the value of a key ends when the key gets another one."""

AGAIN: Final = "again"
"""The reason that tells that what is stored had been forgotten, and was said again."""

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

    @property
    def attribute(self) -> str | None:
        """What of the user it states or ends; None: nothing in particular."""
        ...

    @property
    def is_stated(self) -> bool:
        """Whether the user said it himself."""
        ...

    @property
    def pinned(self) -> bool:
        """Whether a person has marked it as important."""
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
    attribute: str | None = None
    is_stated: bool = field(default=False, kw_only=True)
    pinned: bool = field(default=False, kw_only=True)


@final
@frozen
class End:
    """A memory of *namespace* ceases to be true at *at*; the memory *by* takes its place, for a *reason* of the log."""

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
        over: its own end, when something newer about its attribute is known already; None: it is true now.
        is_again: whether it says again, in a new message, what was forgotten.
    """

    draft: MemoryDraft
    ends: Sequence[End] = ()
    over: End | None = None
    is_again: bool = False


@final
@frozen
class StoreDecision:
    """What a batch stores, step by step in its order, and what the repository answers."""

    steps: Sequence[Step]
    answer: tuple[SaveOutcome, ...]

    @property
    def changes(self) -> Iterator[Change]:
        """What is done, for the log."""
        for step in self.steps:
            draft = step.draft
            for end in step.ends:
                yield _superseded(end, draft)
            yield Change(
                "stored",
                "memory",
                draft.id,
                draft.namespace,
                version=1,
                said_at=draft.created_at,
                reason=AGAIN if step.is_again else None,
                session_id=draft.session_id,
                evidence=draft.provenance.message_ids,
            )
            if step.over is not None:
                yield _superseded(step.over, draft)


def _superseded(end: End, draft: MemoryDraft) -> Change:
    """Return that *end* has come by what *draft* says, for the log."""
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
    standing: Iterable[Standing],
    forgotten: Forgotten = NOTHING,
) -> StoreDecision | MemoryConflictError | MemoryNotFoundError:
    """Tell apart what *drafts* add, repeat, replace and contradict; see ``MemoryRepository.store``.

    Args:
        drafts: in order; each sees those before it.
        taken: what is stored under those of their names that are stored, whether it is true now or not.
        standing: at least the stored memories, true now, that have the dedup key of a draft in its namespace, the id
            that a draft replaces, or the key that a draft replaces or the attribute of a draft, in its namespace.
        forgotten: at least what was forgotten of the names of the drafts, and of the conversations that they come from.
    """
    true_now = {name_of(memory): memory for memory in standing}
    twins = {(memory.namespace, memory.dedup_key): name for name, memory in true_now.items()}
    new: dict[MemoryName, MemoryDraft] = {}
    steps: list[Step] = []
    answer: list[SaveOutcome] = []
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
        elif forgotten.keeps_out(draft):
            answer.append(Skipped("forgotten"))
        elif draft.replaces is not None and not _is_seen(true_now.get((user, draft.replaces)), draft):
            missing.append(draft.replaces)
        else:
            replaced = _replaced(draft, true_now)
            others = [old for old in _of_attribute(draft, true_now) if old not in replaced]
            retired = [old for old in others if _takes_the_place_of(draft, old, is_new=name_of(old) in new)]
            ends = [
                End(
                    old.id,
                    old.namespace,
                    max(draft.created_at, old.created_at),
                    by=id_,
                    reason=draft.attribute if old in retired else None if old.id == draft.replaces else KEY,
                )
                for old in _newest_first([*replaced, *retired])
            ]
            for end in ends:
                del true_now[user, end.memory_id]
            new[name] = draft
            over = _end_of_the_late(draft, others)
            if over is None:
                true_now[name] = draft
                twins[draft.namespace, draft.dedup_key] = name
            steps.append(Step(draft, ends, over, is_again=forgotten.concerns(draft)))
            answer.append(
                Stored(
                    id_,
                    tuple([end.memory_id for end in ends]),
                    tuple([Retired(old.id, old.attribute or "") for old in _newest_first(retired)]),
                    over and over.by,
                )
            )
    return _refusal(conflicts, missing) or StoreDecision(steps, tuple(answer))


def _refusal(conflicts: list[str], missing: list[str]) -> MemoryConflictError | MemoryNotFoundError | None:
    if conflicts:
        return MemoryConflictError(tuple(conflicts))
    return MemoryNotFoundError(missing[0]) if missing else None


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
    """Return the memories that *draft* replaces by their id or their key."""
    if draft.replaces is None and not draft.replaces_key:
        return ()
    return [
        old
        for old in true_now.values()
        if name_of(old) == (draft.namespace.user, draft.replaces)
        or (
            draft.replaces_key
            and draft.key is not None
            and (old.namespace, old.key) == (draft.namespace, draft.key)
        )
    ]


def _newest_first(memories: Iterable[Standing]) -> Sequence[Standing]:
    return sorted(memories, key=lambda memory: (memory.created_at, memory.id), reverse=True)


def _of_attribute(draft: MemoryDraft, true_now: Mapping[MemoryName, Standing]) -> Sequence[Standing]:
    """Return what the user has said about the attribute of *draft*, in exactly its namespace; it has one value at a time.

    What another role, a tool, a program or a file says neither ends anything nor is ended.
    """
    attribute = draft.attribute
    if attribute is None or not is_single_valued(attribute) or not draft.is_stated:
        return ()
    return [
        old
        for old in true_now.values()
        if (old.namespace, old.attribute) == (draft.namespace, attribute) and old.is_stated
    ]


def _takes_the_place_of(draft: MemoryDraft, old: Standing, *, is_new: bool) -> bool:
    """Tell whether *draft*, about the same attribute, ends *old*; what was said at once, in one batch, stands together."""
    if old.pinned:
        return False
    return old.created_at < draft.created_at or (old.created_at == draft.created_at and not is_new)


def _end_of_the_late(draft: MemoryDraft, others: Iterable[Standing]) -> End | None:
    """Return the end of a draft that comes late: something newer about its attribute is known, and ended it back then."""
    newer = [old for old in others if old.created_at > draft.created_at]
    if draft.pinned or not newer:
        return None
    first = min(newer, key=lambda old: (old.created_at, old.id))
    return End(draft.id, draft.namespace, first.created_at, by=first.id, reason=draft.attribute)


def changes_of_restore(
    restored: Iterable[tuple[str, Namespace]],
    ended: Iterable[tuple[str, Namespace]],
    *,
    by: str,
    now: datetime,
) -> Iterator[Change]:
    """Return what ``MemoryRepository.restore`` does, for the log.

    Args:
        restored: what is true again, by id and namespace.
        ended: what is true no longer.
        by: the id of the memory that is to be true.
        now: the instant at which the others end.
    """
    for memory_id, namespace in ended:
        yield Change("superseded", "memory", memory_id, namespace, said_at=now, by=by)
    for memory_id, namespace in restored:
        yield Change("restored", "memory", memory_id, namespace)


def changes_of_mark(
    memory_id: str, namespace: Namespace, *, memory_type: MemoryType | None, pinned: bool | None
) -> Iterator[Change]:
    """Return what ``MemoryRepository.mark`` does to a memory of *namespace*, for the log."""
    actions: list[EventAction] = []
    if memory_type is not None:
        actions.append("promoted" if memory_type == "long_term" else "demoted")
    if pinned is not None:
        actions.append("pinned" if pinned else "unpinned")
    return (Change(action, "memory", memory_id, namespace) for action in actions)


def changed_by(draft: MemoryDraft, changed: Memory) -> Change:
    """Return that *draft* has become what a memory says, for the log."""
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
    """Return that a memory was forgotten, for the log.

    Args:
        memory_id: the id of the memory.
        namespace: whose it was.
        session_id: the conversation that it came from.
        evidence: the messages that it came from.
    """
    return Change(
        "forgotten", "memory", memory_id, namespace, session_id=session_id, evidence=tuple(evidence)
    )


def change_of_expiry(
    memory_id: str, namespace: Namespace, *, session_id: str | None, ended: str | None
) -> Change:
    """Return what becomes of a memory that expires, for the log.

    Args:
        memory_id: the id of the memory.
        namespace: whose it is.
        session_id: the conversation that it comes from.
        ended: the session that is over; None: it goes by its age, whoever happens to act.
    """
    if ended is not None:
        return Change("forgotten", "memory", memory_id, namespace, reason=SESSION, session_id=session_id)
    return Change(
        "expired", "memory", memory_id, namespace, reason=AGE, session_id=session_id, is_by_itself=True
    )
