"""The laws of forgotten and earlier data: N5 tombstone, N6 history."""

from attrs import evolve

from chatmemory.laws.events.follower import Told, follower
from chatmemory.laws.kit.law import expect, law
from chatmemory.laws.memories.memory_witness import MemoryRepositoryUnderTest, remembered
from chatmemory.longterm.memories import Duplicate, Provenance, Skipped, Stored
from chatmemory.longterm.repository_values import Forgetting


class TombstoneLaws(MemoryRepositoryUnderTest):
    """A forgotten memory does not come back by itself, and the history of a memory can be read until it is forgotten."""

    @law
    async def test_n5_tombstone(self) -> None:
        """N5 tombstone: a forgotten memory comes back neither by its id nor from its messages; a new message brings it back."""
        async with self.open() as witness:
            log = await follower(self, witness, witness.repository)
            user, stranger = witness.user("a"), witness.user("b")
            a, b, c, d, e = (witness.named(name) for name in "abcde")
            draft = remembered(a, namespace=user, session_id="会议", provenance=Provenance(("1", "2")))
            await witness.store(draft)
            await witness.get(witness.repository.forget(Forgetting(user, memory_id=a)))
            for kept_out in (
                draft,
                evolve(draft, provenance=Provenance(), session_id=None),
                evolve(draft, id=b, provenance=Provenance(("2",))),
                evolve(draft, id=b, namespace=witness.user("a", "工作")),
            ):
                expect(await witness.store(kept_out), (Skipped("forgotten"),), f"what becomes of {kept_out}")
            for let_in in (
                evolve(draft, namespace=stranger),
                evolve(draft, id=b, provenance=Provenance()),
                evolve(draft, id=c, session_id="会"),
                evolve(draft, id=d, provenance=Provenance(("2", "3"))),
                evolve(draft, id=e, replaces=d),
                evolve(draft, provenance=Provenance(("3",))),
            ):
                expect(
                    isinstance((await witness.store(let_in))[0], Stored), True, f"whether {let_in} is stored"
                )
            again = evolve(draft, provenance=Provenance(("3",)))
            expect(await witness.store(again), (Duplicate(a),), "what becomes of it once more")
            await log.expect(
                Told("stored", "a", 1),
                Told("forgotten", "a"),
                Told("stored", "a", 1),
                Told("stored", "b", 1),
                Told("stored", "c", 1),
                Told("stored", "d", 1, reason="again"),
                Told("superseded", "d", by="e"),
                Told("stored", "e", 1, reason="again"),
                Told("stored", "a", 1, reason="again"),
            )

    @law
    async def test_n5_tombstone_lifted(self) -> None:
        """N5 tombstone: a forgotten memory is stored when the caller asks to store it again, each time."""
        async with self.open() as witness:
            user, a = witness.user(), witness.named("a")
            draft = remembered(a, namespace=user, session_id="会议", provenance=Provenance(("1",)))
            for _ in range(2):
                expect(await witness.store(evolve(draft, again=True)), (Stored(a),), "what becomes of it")
                await witness.get(witness.repository.forget(Forgetting(user, memory_id=a)))
                expect(await witness.store(draft), (Skipped("forgotten"),), "what becomes of a replay")

    @law
    async def test_n5_tombstone_of_a_batch(self) -> None:
        """N5 tombstone: the forgotten memories of a batch are skipped, and the rest is stored; an expired one may come back."""
        async with self.open() as witness:
            user = witness.user()
            a, b, c = (witness.named(name) for name in "abc")
            short = {"memory_type": "short_term", "session_id": "s"}
            await witness.store(remembered(a, namespace=user), remembered(b, namespace=user, **short))
            await witness.get(witness.repository.forget(Forgetting(user, memory_id=a)))
            await witness.get(witness.repository.expire(user, session_id="s"))
            stored = await witness.store(*(remembered(each, namespace=user) for each in (c, a, b)))
            expect(stored, (Stored(c), Skipped("forgotten"), Stored(b)), "what becomes of a batch")
            expect(await witness.memory(user, a), None, "what was forgotten")

    @law
    async def test_n6_history(self) -> None:
        """N6 history: the events and earlier contents of a memory can be read by those who see it, until it is forgotten."""
        async with self.open() as witness:
            user, a = witness.user("a", "工作"), witness.named("a")
            first = remembered(a, "住在北京", namespace=user, key="城市", value={"n": 1}, tags=("x",))
            await witness.store(first, remembered(witness.named("b"), namespace=user))
            second = remembered(a, "住在上海", namespace=user, provenance=Provenance(("1",)), confidence=0.5)
            await witness.get(witness.repository.rewrite(second, expected_version=1))
            third = remembered(a, "住在杭州", namespace=user)
            await witness.get(witness.repository.rewrite(third, expected_version=2))
            told = await witness.get(witness.repository.history(user, a))
            done = [(event.action, event.version) for event in told.events]
            expect(done, [("stored", 1), ("changed", 2), ("changed", 3)], "the events of a memory")
            said = [
                (one.version, one.content, one.key, one.value, one.tags, one.confidence, one.provenance)
                for one in told.earlier
            ]
            before = [
                (
                    version,
                    draft.content,
                    draft.key,
                    draft.value,
                    draft.tags,
                    draft.confidence,
                    draft.provenance,
                )
                for version, draft in ((1, first), (2, second))
            ]
            expect(said, before, "what it said before")
            for stranger in (witness.user("a", "chat"), witness.user("b")):
                nothing = await witness.get(witness.repository.history(stranger, a))
                expect((nothing.events, nothing.earlier), ((), ()), f"what {stranger} is told")
            everywhere = await witness.get(witness.repository.history(witness.user("a"), a))
            expect(len(everywhere.events), 3, "how many events a reader without an app is told")
            await witness.get(witness.repository.forget(Forgetting(user, memory_id=a)))
            gone = await witness.get(witness.repository.history(user, a))
            expect(gone.earlier, (), "what a forgotten memory said before")
            expect([event.action for event in gone.events[-1:]], ["forgotten"], "its last event")
            await witness.store(remembered(a, "again", namespace=user, provenance=Provenance(("9",))))
            renewed = await witness.get(witness.repository.history(user, a))
            expect(renewed.earlier, (), "what a memory said that was stored again under its id")
