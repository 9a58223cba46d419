"""Repositories of memories that get the past wrong: what an undo asks of them."""

from datetime import datetime
from typing import Any

from attrs import evolve

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Effect
from chatmemory.longterm.memories import Memory, MemoryHistory
from chatmemory.longterm.repository_values import Mark
from tests.laws.broken_memories import BrokenMemory


class LeavesTheSuccessorTrue(BrokenMemory, in_service="u1_undo"):
    def restore(
        self, namespace: Namespace, memory_id: str, *, instead_of: str | None = None, now: datetime
    ) -> Effect[Memory, Any]:
        del instead_of
        return self.inner.restore(namespace, memory_id, now=now)


class NeverUnpins(BrokenMemory, in_service="u1_undo"):
    def mark(self, mark: Mark) -> Effect[Memory | None, Any]:
        if mark.pinned is False:
            return self.inner.get(mark.namespace, mark.memory_id)
        return self.inner.mark(mark)


class HidesWhatWasForgotten(BrokenMemory, in_service="u2_no_undo"):
    """Its history of a forgotten memory is that of one that never was."""

    def history(self, namespace: Namespace, memory_id: str) -> Effect[MemoryHistory, Any]:
        def hidden(told: MemoryHistory) -> MemoryHistory:
            is_gone = any(event.action == "forgotten" for event in told.events)
            return evolve(told, events=()) if is_gone else told

        return self.inner.history(namespace, memory_id).map(hidden)
