"""The laws of events of memories: N1, N2 and N4."""

from datetime import timedelta

from attrs import evolve

from chatmemory.access.namespace import Namespace
from chatmemory.access.principal import Granted, Principal, acting_as
from chatmemory.laws.events.follower import Told, follower
from chatmemory.laws.kit.law import expect, law
from chatmemory.laws.kit.samples import START
from chatmemory.laws.memories.memory_samples import PUT, dedup_key, remembered
from chatmemory.laws.memories.memory_witness import MemoryRepositoryUnderTest
from chatmemory.longterm.memories import Provenance
from chatmemory.longterm.repository_values import Forgetting

LATER = START + timedelta(days=1)


class MemoryEventLaws(MemoryRepositoryUnderTest):
    """Each change of a memory leaves one event; all else leaves none."""

    @law
    async def test_n1_event(self) -> None:
        """N1 event: each change of each memory leaves one event, under every principal, with its evidence and none of its text."""
        async with self.open() as witness:
            log = await follower(self, witness, witness.repository)
            user = witness.user()
            a, b, c, d = (witness.named(name) for name in "abcd")
            said = {"provenance": Provenance(("m1", "m2")), "session_id": "会议"}
            first = remembered(a, "geheim", namespace=user, key="geheim", value="geheim", **said)
            await witness.store(first, remembered(b, namespace=user))
            await witness.store(
                remembered(c, namespace=user, replaces=b, created_at=LATER, **PUT, key="geheim")
            )
            changed = remembered(a, "geheimer", namespace=user, key="geheim")
            await witness.get(witness.repository.rewrite(changed, expected_version=1))
            await witness.get(witness.repository.mark(user, a, pinned=True))
            await witness.get(witness.repository.mark(user, a, pinned=False))
            await witness.get(witness.repository.mark(user, a, memory_type="short_term"))
            use = witness.repository.record_use(
                user, (a,), use_id="u", session_id="s", now=LATER, promote_after=1
            )
            await witness.get(use)
            await witness.get(witness.repository.retire(user, "geheim", now=LATER))
            await witness.get(witness.repository.forget(Forgetting(user, memory_id=a)))
            short = {"memory_type": "short_term", "session_id": "会"}
            await witness.store(remembered(d, namespace=user, **short))
            await witness.get(witness.repository.expire(user, session_id="会"))
            await witness.store(remembered(witness.named("e"), namespace=user, **short))
            await witness.get(witness.repository.expire(user, created_before=LATER))
            pet = remembered(witness.named("f"), namespace=user, attribute="pet:geheim")
            await witness.store(pet)
            await witness.store(evolve(pet, id=witness.named("g"), created_at=LATER))
            await log.expect(
                Told("stored", "a", 1),
                Told("stored", "b", 1),
                Told("superseded", "b", by="c"),
                Told("stored", "c", 1),
                Told("changed", "a", 2),
                Told("pinned", "a"),
                Told("unpinned", "a"),
                Told("demoted", "a"),
                Told("promoted", "a", reason="use"),
                Told("retired", "c"),
                Told("forgotten", "a"),
                Told("stored", "d", 1),
                Told("forgotten", "d", reason="session"),
                Told("stored", "e", 1),
                Told("expired", "e", reason="age"),
                Told("stored", "f", 1),
                Told("superseded", "f", by="g", reason="pet"),
                Told("stored", "g", 1),
            )
            stored, superseded, forgotten = (log.events[place] for place in (0, 2, 10))
            evidence = (stored.session_id, stored.evidence, stored.said_at)
            expect(
                evidence, ("会议", ("m1", "m2"), START), "conversation, evidence and time of what was stored"
            )
            expect(superseded.said_at, LATER, "when a memory ceased to be true")
            expect(forgotten.session_id, "会议", "the conversation that a forgotten memory came from")
            expect({event.owner for event in log.events}, {user}, "whose memories they are")
            expect("geheim" in str(log.events), False, "whether an event tells what was remembered")

    @law
    async def test_n2_no_event(self) -> None:
        """N2 no event: a change without effect, a refused change, a read and a use leave no event."""
        async with self.open() as witness:
            log = await follower(self, witness, witness.repository)
            user, a = witness.user(), witness.named("a")
            await witness.store(remembered(a, namespace=user, dedup_key=dedup_key("1")))
            for refused in (
                witness.repository.store((remembered(a, namespace=user),)),
                witness.repository.store(
                    (remembered(witness.named("b"), namespace=user, dedup_key=dedup_key("1")),)
                ),
                witness.repository.store(
                    (remembered(witness.named("c"), namespace=user), remembered(a, "x", namespace=user))
                ),
                witness.repository.rewrite(remembered(a, "x", namespace=user), expected_version=7),
                witness.repository.mark(witness.user("b"), a, pinned=True),
                witness.repository.retire(user, "unknown", now=START),
                witness.repository.forget(Forgetting(witness.user("b"))),
                witness.repository.record_use(user, (a,), use_id="u", session_id="s", now=START),
            ):
                await witness.ask(refused)
            await witness.observe(user)
            await witness.get(witness.repository.mark(user, a, pinned=True))
            await log.expect(Told("stored", "a", 1), Told("pinned", "a"))

    @law
    async def test_n4_seen(self) -> None:
        """N4 seen: a principal that may not see a memory gets none of its events."""
        async with self.open() as witness:
            log = await follower(self, witness, witness.repository)
            hers, his = witness.user("ada"), witness.user("bob")
            for owner in (hers, Namespace(hers.user, "工作"), his):
                await witness.store(
                    remembered(witness.named(f"{owner.app} of {owner.user}"), namespace=owner)
                )
            await log.read_all(3)
            for namespace, count in ((hers, 2), (Namespace(hers.user, "chat"), 1), (his, 1)):
                who = Principal(name="who", namespace=namespace, granted=(Granted(namespace),))
                with acting_as(who):
                    page = await witness.get(log.log.changes_page(None, limit=100_000))
                told = [event.owner for event in page.events if witness.space in event.target]
                expect(len(told), count, f"how many events {namespace} is told of")
                expect(all(map(namespace.sees, told)), True, f"whether {namespace} sees what it is told of")
