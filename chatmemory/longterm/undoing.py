"""``Undoing``: undoes one change of a memory, with the events in the log and the earlier contents of the memory."""

from datetime import timedelta
from typing import Final, final

from attrs import evolve, frozen

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Do, Effect
from chatmemory.effect.services.clock import Clock
from chatmemory.errors import (
    GenericMemoryError,
    MemoryChangedError,
    MemoryNotFoundError,
    MemoryUndoError,
    NotUndoableError,
    Problem,
    memory_error,
)
from chatmemory.events.event import UNDO, Event, because
from chatmemory.longterm.memories import EarlierContent, Memory, MemoryHistory, MemoryType, as_new
from chatmemory.longterm.memory_repository import MemoryRepository
from chatmemory.longterm.reading import find, mark, with_attribute_of_content
from chatmemory.longterm.repository_values import Mark
from chatmemory.longterm.saving.memory_drafts import MemoryDrafts

MOMENT: Final = timedelta(microseconds=1)
PINNED: Final = {"pinned": False, "unpinned": True}
TYPES: Final[dict[str, MemoryType]] = {"promoted": "short_term", "demoted": "long_term"}
"""For each action that changes the type of a memory, the type that undoes it."""

NOT_ON_RECORD: Final = "no change has this number; the history of the memory lists the numbers"
GONE: Final = "its content was removed and is not stored anywhere else; remember it again"
NOTHING_BEFORE: Final = (
    "it was new: to bring back one that it replaced, undo that one; to forget both, forget it"
)
NOT_KEPT: Final = "the earlier content of the memory is not stored"


@final
@frozen
class Undoing:
    """Undoes changes of the memories in *repository*; *drafts* embeds a content that becomes current again."""

    repository: MemoryRepository
    drafts: MemoryDrafts
    clock: Clock

    @Effect.gen
    async def undo(
        self, do: Do[MemoryUndoError], namespace: Namespace, memory_id: str, *, number: int | None
    ) -> Memory:
        """Undo the change *number*, or the newest one, see ``LongTermMemory.undo``."""
        past = await do(self.repository.history(namespace, memory_id).alt(GenericMemoryError))
        if not past.events:
            do.fail(MemoryNotFoundError(memory_id))
        newest = past.events[-1].number
        event = next((event for event in past.events if event.number == (number or newest)), None)
        if event is None:
            do.fail(NotUndoableError(memory_id, number or newest, NOT_ON_RECORD))
        with because(UNDO):
            return await do(self._undo(namespace, event, past))

    @Effect.gen
    async def _undo(
        self, do: Do[MemoryUndoError], namespace: Namespace, event: Event, past: MemoryHistory
    ) -> Memory:
        memory_id, action = event.target, event.action
        if action in {"forgotten", "expired"}:
            do.fail(NotUndoableError(memory_id, event.number, GONE))
        memory = await do(find(self.repository, namespace, memory_id))
        # The log of an imported memory begins with the import; earlier changes show only in the memory.
        is_imported = action == "stored" and event is past.events[-1]
        if action in {"superseded", "retired"} or (is_imported and memory.superseded_at is not None):
            by = event.by or memory.superseded_by
            return await do(self._true_again(namespace, memory_id, instead_of=by))
        if action == "changed" or (is_imported and memory.version > 1):
            version = memory.version if is_imported else event.version
            earlier = next((one for one in past.earlier if one.version + 1 == version), None)
            if earlier is None:
                do.fail(NotUndoableError(memory_id, event.number, NOT_KEPT))
            return await do(self._said_before(memory, earlier))
        if action in PINNED or action in TYPES:
            kind, pinned = TYPES.get(action), PINNED.get(action)
            return await do(mark(self.repository, Mark(namespace, memory_id, kind, pinned)))
        before = None
        if action == "stored" and memory.value_key is not None:
            value = self.repository.value(
                memory.namespace, memory.value_key, as_of=memory.created_at - MOMENT
            )
            before = await do(value.alt(GenericMemoryError))
        if before is None or before.superseded_by != memory_id:
            do.fail(NotUndoableError(memory_id, event.number, NOTHING_BEFORE))
        return await do(self._true_again(namespace, before.id, instead_of=memory_id))

    @Effect.gen
    async def _true_again(
        self,
        do: Do[MemoryNotFoundError | GenericMemoryError],
        namespace: Namespace,
        memory_id: str,
        *,
        instead_of: str | None,
    ) -> Memory:
        """Restore a memory instead of its successor, or instead of what superseded that one meanwhile.

        If one of them was forgotten, only the memory is restored.
        """
        passed = {memory_id}
        while instead_of is not None and instead_of not in passed:
            passed.add(instead_of)
            successor = await do(self.repository.get(namespace, instead_of).alt(GenericMemoryError))
            instead_of = successor and (successor.superseded_by or successor.id)
        restore = self.repository.restore(namespace, memory_id, instead_of=instead_of, now=self.clock.now())
        return await do(restore.alt(memory_error))

    @Effect.gen
    async def _said_before(self, do: Do[MemoryUndoError], memory: Memory, earlier: EarlierContent) -> Memory:
        """Give *memory* the content again that it had before its last correction."""
        if memory.version != earlier.version + 1:
            do.fail(MemoryChangedError(memory.id, earlier.version + 1, memory.version))
        said = evolve(as_new(memory), **earlier.facts())
        said = evolve(said, key=memory.value_key or earlier.key)
        said = await do(with_attribute_of_content(self.repository, memory, said))
        drafted = await do(self.drafts.draft(memory.namespace, [said], dedup="exact"))
        (draft,) = drafted.drafts
        rewrite = self.repository.rewrite(draft, expected_version=memory.version)
        return (await do(rewrite.alt(memory_error))) or do.fail(MemoryNotFoundError(memory.id))


def number_problems(number: object) -> list[Problem]:
    """Return the problem of the number of an event, if any; it has no upper limit, because some stores number by microseconds."""
    if number is None or (isinstance(number, int) and not isinstance(number, bool) and number > 0):
        return []
    return [Problem("$.number", "must be a whole number above 0: give that of an event of the history")]
