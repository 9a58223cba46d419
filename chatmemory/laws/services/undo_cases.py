"""The cases of the laws of undo: U1 undo, U2 no undo."""

from attrs import evolve

from chatmemory.effect import Failure, Outcome, Success
from chatmemory.errors import MemoryChangedError, NotUndoableError
from chatmemory.laws.kit.law import expect
from chatmemory.laws.services.long_term_witness import LongTermWitness
from chatmemory.longterm.memories import Memory, MemoryChanges, NewMemory

KEY = "城市"


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
    stored = await witness.ask(memory.undo(user, a))
    expect(_refused(stored), NotUndoableError, "what undoing the first of all changes ends with")
    unknown = await witness.ask(memory.undo(user, a, number=10**15))
    expect(_refused(unknown), NotUndoableError, "what undoing a change that is not on record ends with")
    await witness.get(memory.update(user, a, MemoryChanges(content="住在上海 20")))
    number = await _number(witness, a, "changed")
    await witness.get(memory.update(user, a, MemoryChanges(content="住在杭州 30")))
    late = await witness.ask(memory.undo(user, a, number=number))
    expect(
        _refused(late), MemoryChangedError, "what undoing a correction behind which stands another ends with"
    )
    (kept,) = await witness.read([a])
    expect(kept.content, "住在杭州 30", "what the memory says")
    await witness.get(memory.forget(user, a))
    gone = await witness.ask(memory.undo(user, a))
    expect(_refused(gone), NotUndoableError, "what undoing a forgetting ends with")


def _refused(outcome: Outcome[Memory, object]) -> type | None:
    match outcome:
        case Failure():
            return type(outcome.failure())
        case Success():
            return None


async def _number(witness: LongTermWitness, memory_id: str, action: str) -> int:
    history = await witness.get(witness.memory.history(witness.user(), memory_id))
    return [event.number for event in history.events if event.action == action][-1]
