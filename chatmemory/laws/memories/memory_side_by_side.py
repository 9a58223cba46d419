"""``MemorySideBySide``: compares all that can be read of a memory repository under test and of the model.

``memory_writing_rules.py`` and ``memory_machine.py`` define the operations on both.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, Final, cast

from attrs import evolve
from hypothesis import strategies as st

from chatmemory.access.namespace import Namespace
from chatmemory.laws.kit.law import Host, expect
from chatmemory.laws.kit.samples import START
from chatmemory.laws.kit.side_by_side import SideBySide
from chatmemory.laws.memories.memory_witness import (
    ALL,
    APPS,
    MemoryObservation,
    MemoryWitness,
    found,
    plain,
    search_for,
)
from chatmemory.longterm.kept_memories import KeptMemories
from chatmemory.longterm.memories import Memory
from chatmemory.longterm.repository_values import MemoryDraft, MemoryListing

REMEMBER: Final = "L1 remember: a memory reads as it was stored, and nothing else changes"
ATOMIC: Final = "L2 atomic batch: a refused batch fails with its reason, and changes nothing"
FIND: Final = (
    "L8 candidates: a search finds all stored memories that match it and pass every filter, and no others"
)
WINDOW: Final = "L10 window: a list is the part of the whole that its filters and its cursor select"
DEDUP: Final = (
    "L13 dedup: every dropped memory is reported, and a memory that is already stored is stored once"
)
MARK: Final = "L16 filter: promoting, demoting, pinning or unpinning a memory changes nothing else of it"
USE: Final = "L17 access: a use is counted once for each memory that is seen"
FORGET: Final = "L23 forget: a forgotten memory is gone, and everything else is unchanged"
TRUTH: Final = "T1 truth: a replacement ends the truth of a memory, and nothing else does"
CORRECT: Final = (
    "T3 correct: a correction changes the content of a memory and its version, guarded by that version"
)
VECTOR: Final = "V1 vectors: a memory is compared in the space of its vector, and in no other"

which = st.integers(0, 9)
"""The index of an earlier draft, the newest first."""

readers = st.tuples(st.integers(0, 1), st.sampled_from((*APPS[:3], "")))
"""One of the two users, in an app or, often enough to see a memory of any app, without an app."""


class MemorySideBySide(SideBySide[MemoryWitness]):
    """Two users with similar names, in a few apps."""

    def __init__(self, host: Host[MemoryWitness], *, is_durable: bool) -> None:
        super().__init__(host, is_durable=is_durable)
        self.model: KeptMemories = KeptMemories()
        self.users: list[str] = []
        self.sent: list[MemoryDraft] = []

    def _plain(self, answer: Any) -> Any:
        if isinstance(answer, tuple):
            return tuple(map(self._plain, cast("Iterable[Any]", answer)))
        return plain(answer) if isinstance(answer, Memory) else answer

    def _namespace(self, user: int, app: str) -> Namespace:
        return Namespace(self.users[user], app)

    def _named(self, draft: MemoryDraft, namespace: Namespace, index: int) -> MemoryDraft:
        memory_id = f"{self.space}{self.minutes}.{index}{draft.id}"
        return evolve(draft, id=memory_id, namespace=namespace)

    def _sent(self, which: int) -> MemoryDraft:
        return self.sent[-1 - which % len(self.sent)]

    def _reading(self, reader: tuple[int, str] | None, which: int) -> Namespace:
        """Return the namespace of *reader*, or of the named memory: a random reader would see too few memories."""
        return self._sent(which).namespace if reader is None else self._namespace(*reader)

    def _agree(self, law: str) -> None:
        """Compare all that the users can read, with an app and without."""
        for namespace, observed in self._ask(self._observe).items():
            expect(observed, self._predicted(namespace), f"what is read in {namespace}", law=law)

    def _predicted(self, namespace: Namespace) -> MemoryObservation:
        """Return the expected result of ``MemoryWitness.observe``."""
        candidates = self.model.search(search_for(namespace))
        return MemoryObservation(
            now=self._listed(MemoryListing(namespace, ALL)),
            then={
                instant: self._listed(MemoryListing(namespace, ALL, as_of=instant))
                for instant in self._instants()
            },
            by_id={
                memory_id: plain_or_none(self.model.get(namespace, memory_id)) for memory_id in self._ids()
            },
            found=found(candidates),
            coverage=candidates.coverage,
        )

    def _listed(self, listing: MemoryListing) -> tuple[Memory, ...]:
        return tuple(map(plain, self.model.listed(listing)))

    async def _observe(self, witness: MemoryWitness) -> dict[Namespace, MemoryObservation]:
        namespaces = [self._namespace(user, app) for user in (0, 1) for app in APPS[:2]]
        return {
            namespace: await witness.observe(namespace, ids=self._ids(), instants=self._instants())
            for namespace in namespaces
        }

    def _ids(self) -> Iterable[str]:
        return dict.fromkeys(draft.id for draft in self.sent)

    def _instants(self) -> Iterable[datetime]:
        return START, START + timedelta(minutes=self.minutes // 2)


def plain_or_none(memory: Memory | None) -> Memory | None:
    """Return *memory* with its value as JSON text; None for None."""
    return memory and plain(memory)


def place(draft: MemoryDraft) -> tuple[datetime, str]:
    """Return the position of the memory of *draft* in listings."""
    return draft.created_at, draft.id
