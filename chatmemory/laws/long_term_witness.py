"""``LongTermWitness``: asks a long-term memory on behalf of a law, and holds its embedder and its clock.

``LawEmbedder`` is an embedder whose similarities a law can predict, and that fails when ``fails`` is set.
``expect_undone``, ``expect_values_undone`` and ``expect_not_undone`` are the cases of the laws of undo.
"""

import re
from collections.abc import Sequence
from functools import partial
from math import cos, radians, sin
from typing import ClassVar, Final, final, get_args

import numpy as np
from attrs import define, evolve, frozen

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Effect, Failure, Outcome, Success
from chatmemory.effect.services.clock import TestClock
from chatmemory.embedding.embedder import Matrix
from chatmemory.errors import EmbeddingError, MemoryChangedError, MemoryUndoError, NotUndoableError
from chatmemory.laws.kit.law import Asker, expect
from chatmemory.longterm.contract import LongTermMemory
from chatmemory.longterm.memories import Memory, MemoryChanges, NewMemory, RememberReport
from chatmemory.longterm.recall.recall import Recall

KEY = "城市"
MOST: Final = 50  # more hits than any law can have
_NUMBER: Final = re.compile(r"\d+")


@final
@define
class LawEmbedder:
    """Turns a text into a vector at the angle, in degrees, of the last number in the text, or fails.

    The similarity of two texts is the cosine of the angle between them.
    """

    fails: bool = False
    calls: int = 0
    model: str = "law"
    similarity_threshold: float = 0.3

    def unavailability(self) -> EmbeddingError | None:
        """Return None: only a call shows whether the embedder works."""
        return None

    def embed(self, texts: Sequence[str], /) -> Effect[Matrix, EmbeddingError]:
        """Return one row per text, shape ``(count, 2)``."""
        return Effect.from_outcome(partial(self._embed, texts))

    async def _embed(self, texts: Sequence[str]) -> Outcome[Matrix, EmbeddingError]:
        self.calls += 1
        if self.fails:
            return Failure(EmbeddingError(self.model, "unavailable"))
        turns = [radians(int((_NUMBER.findall(text) or [0])[-1])) for text in texts]
        return Success(np.array([(cos(turn), sin(turn)) for turn in turns], dtype=np.float32))


@final
@frozen
class LongTermWitness(Asker):
    """Asks one long-term memory, as its own users."""

    ERRORS: ClassVar[tuple[type, ...]] = get_args(MemoryUndoError)
    memory: LongTermMemory
    embedder: LawEmbedder
    clock: TestClock

    def user(self, app: str = "") -> Namespace:
        """Return the user of this space, in an app."""
        return Namespace(self.named("a"), app)

    async def remember(
        self, memories: Sequence[NewMemory], *, namespace: Namespace | None = None
    ) -> RememberReport:
        """Store memories that must be accepted."""
        return await self.get(self.memory.remember(namespace or self.user(), memories, dedup="none"))

    async def recall(self, query: str, *, limit: int = MOST, namespace: Namespace | None = None) -> Recall:
        """Return the hits for *query*."""
        return await self.get(self.memory.recall(namespace or self.user(), query, limit=limit))

    async def read(self, memory_ids: Sequence[str]) -> list[Memory]:
        """Return these memories, which exist."""
        return [await self.get(self.memory.get(self.user(), memory_id)) for memory_id in memory_ids]


def ids_of(recall: Recall) -> list[str]:
    """Return the ids of the hits, best first."""
    return [hit.memory.id for hit in recall.hits]


async def expect_undone(witness: LongTermWitness) -> None:
    """Break the law unless each kind of change is undone by one call."""
    memory, user = witness.memory, witness.user()
    first = NewMemory("住在北京 10", key="k", value={"n": 1}, tags=("x",), memory_type="short_term")
    (a,) = (await witness.remember([first])).stored
    (before,) = await witness.read([a])
    corrected = MemoryChanges(content="住在上海 20", key=None, value=None, tags=())
    await witness.get(memory.update(user, a, corrected))
    undone = await witness.get(memory.undo(user, a))
    expect(undone, evolve(before, version=3), "a correction that was undone")
    found = [hit.memory.content for hit in (await witness.recall("住在北京 10")).hits]
    expect("住在上海 20" in found, False, "whether the correction is found")
    await witness.get(memory.promote(user, a))
    await witness.get(memory.pin(user, a))
    promoted = [one.number for one in (await witness.get(memory.history(user, a))).events][-2]
    undone = await witness.get(memory.undo(user, a, number=promoted))
    expect((undone.memory_type, undone.pinned), ("short_term", True), "a promotion that was undone")
    pinned = [one.number for one in (await witness.get(memory.history(user, a))).events][-2]
    undone = await witness.get(memory.undo(user, a, number=pinned))
    expect(undone.pinned, False, "a pin that was undone")
    newer = await witness.get(memory.supersede(user, a, NewMemory("住在杭州 30")))
    undone = await witness.get(memory.undo(user, a))
    expect((undone.superseded_at, undone.superseded_by), (None, None), "the end of what is true again")
    (successor,) = await witness.read([newer.id])
    expect(successor.superseded_by, a, "what took the place of the successor")
    reasons = [one.reason for one in (await witness.get(memory.history(user, a))).events if one.reason]
    expect(reasons, ["undo"] * 4, "the reasons of the changes that undid another")
    second = await witness.get(memory.supersede(user, a, NewMemory("住在杭州 40")))
    third = await witness.get(memory.supersede(user, second.id, NewMemory("住在杭州 50")))
    await witness.get(memory.undo(user, a))
    (_, replaced) = await witness.read([a, third.id])
    expect(replaced.superseded_by, a, "what took the place of the successor of the successor")


async def expect_values_undone(witness: LongTermWitness) -> None:
    """Break the law unless the put and the end of a value are undone."""
    memory, user = witness.memory, witness.user()
    await witness.get(memory.put_value(user, KEY, "北京"))
    await witness.clock.advance(1)
    put = await witness.get(memory.put_value(user, KEY, "上海"))
    new_id = getattr(put, "id", "")
    undone = await witness.get(memory.undo(user, new_id, number=await _number(witness, new_id, "stored")))
    expect(undone.value, "北京", "the value before")
    value = await witness.get(memory.get_value(user, KEY))
    expect(value and value.value, "北京", "the value of the key")
    await witness.clock.advance(1)
    expect(await witness.get(memory.delete_value(user, KEY)), True, "whether there was a value")
    await witness.get(memory.undo(user, undone.id))
    value = await witness.get(memory.get_value(user, KEY))
    expect(value and value.value, "北京", "the value of the key, once its end was undone")


async def expect_not_undone(witness: LongTermWitness) -> None:
    """Break the law unless a change that cannot be undone is refused, and nothing changes."""
    memory, user = witness.memory, witness.user()
    (a,) = (await witness.remember([NewMemory("住在北京 10")])).stored
    stored = await witness.refusal(memory.undo(user, a))
    expect(stored, NotUndoableError, "what undoing the first of all changes ends with")
    unknown = await witness.refusal(memory.undo(user, a, number=10**15))
    expect(unknown, NotUndoableError, "what undoing a change that is not on record ends with")
    await witness.get(memory.update(user, a, MemoryChanges(content="住在上海 20")))
    number = await _number(witness, a, "changed")
    await witness.get(memory.update(user, a, MemoryChanges(content="住在杭州 30")))
    late = await witness.refusal(memory.undo(user, a, number=number))
    expect(late, MemoryChangedError, "what undoing a correction behind which stands another ends with")
    (kept,) = await witness.read([a])
    expect(kept.content, "住在杭州 30", "what the memory says")
    await witness.get(memory.forget(user, a))
    gone = await witness.refusal(memory.undo(user, a))
    expect(gone, NotUndoableError, "what undoing a forgetting ends with")


async def _number(witness: LongTermWitness, memory_id: str, action: str) -> int:
    history = await witness.get(witness.memory.history(witness.user(), memory_id))
    return [event.number for event in history.events if event.action == action][-1]
