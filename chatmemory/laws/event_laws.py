"""The laws of events of conversations, memories and items: N1 to N4; of forgotten and earlier data: N5, N6."""

from datetime import timedelta
from functools import partial
from operator import attrgetter

from attrs import evolve

from chatmemory.access.namespace import Namespace
from chatmemory.access.principal import Granted, acting_as
from chatmemory.effect import Failure
from chatmemory.events.event_log import no_cursor
from chatmemory.items.item_repository import ItemPut, name_in_log
from chatmemory.laws.follower import Logged, follower
from chatmemory.laws.items.item_witness import ItemRepositoryUnderTest
from chatmemory.laws.kit.law import expect, law, race
from chatmemory.laws.kit.samples import ALWAYS, INSTANTS, START, batch, said, somebody
from chatmemory.laws.memories.memory_witness import PUT, MemoryRepositoryUnderTest, dedup_key, remembered
from chatmemory.laws.messages.witness import MessageRepositoryUnderTest, Witness
from chatmemory.longterm.memories import Duplicate, Provenance, Skipped, Stored
from chatmemory.longterm.repository_values import Expiry, Forgetting, Mark

WRITERS = 6
ROUNDS = 8
LATER = START + timedelta(days=1)


class ConversationEventLaws(MessageRepositoryUnderTest):
    """Each change of a conversation leaves one event; all else leaves none."""

    @law
    async def test_n1_event(self) -> None:
        """N1 event: each change leaves one event with the new version, under every principal, and no text of a message."""
        async with self.open() as witness:
            log = await follower(self, witness, witness.repository)
            talk = witness.named("会议")
            drafts = (said("1", "geheim"), said("2", timestamp=INSTANTS[1]), said("3"))
            await witness.append(talk, *drafts[:2])
            await witness.append(talk, drafts[2], threshold=ALWAYS)
            covered = (await witness.read(talk))[:2]
            await witness.summarize(talk, 0, 2, message_id=witness.named("s"))
            remove = witness.repository.remove_newest(talk, now=START, threshold=None)
            await witness.get(remove)
            await witness.clear(talk)
            await witness.append(talk, said("1"))
            await log.expect(
                Logged("added", "会议", 1),
                Logged("added", "会议", 2),
                Logged("summarized", "会议", 3, by="s"),
                Logged("removed", "会议", 4),
                Logged("cleared", "会议", 5),
                Logged("added", "会议", 6),
            )
            reaches = [event.reach for event in log.events]
            expect(reaches, [2, 3, 4, 4, 4, 5], "the number of the last message, after each change")
            times = [event.said_at for event in log.events]
            newest = [INSTANTS[1], START, max(message.timestamp for message in covered)]
            expect(times, [*newest, None, None, START], "when the newest message of each was said")
            kinds = {(event.kind, event.owner) for event in log.events}
            expect(kinds, {("conversation", Namespace(""))}, "kinds and owners")
            expect("geheim" in str(log.events), False, "whether an event tells what was said")

    @law
    async def test_n2_no_event(self) -> None:
        """N2 no event: a change without effect, a refused change and a read leave no event."""
        async with self.open() as witness:
            log = await follower(self, witness, witness.repository)
            talk = witness.named("a")
            await witness.append(talk, said("1"))
            for refused in (
                witness.repository.append(batch(talk, said("1"))),
                witness.repository.append(batch(talk, said("2"), said("1", "else"))),
                witness.repository.append(batch(talk, said("2"), expected_version=7)),
                witness.repository.clear(witness.named("unknown"), now=START),
                witness.repository.remove_newest(witness.named("unknown"), now=START, threshold=None),
            ):
                await witness.ask(refused)
            await witness.observe(talk)
            await witness.append(talk, said("2"))
            await log.expect(Logged("added", "a", 1), Logged("added", "a", 2))

    @law
    async def test_n3_changes(self) -> None:
        """N3 changes: a follower of the log reads each event once, and a conversation's events in order, during other writes."""
        async with self.open() as witness:
            log = await follower(self, witness, witness.repository, page=3)
            writers = [partial(_write, witness, f"{number}") for number in range(WRITERS)]

            async def follow() -> None:
                while True:
                    await log.read_all(len(log.events) + 1)

            await race(writers, meanwhile=follow)
            refused = await log.log.changes_page("", limit=1)
            expect(refused, Failure(no_cursor()), "the answer to a text that is not a cursor")
            again = await follower(self, witness, witness.repository, page=3)
            again.cursor = log.cursor
            await again.read_all(WRITERS * ROUNDS - len(log.events))
            met = [(event.target, event.version) for event in (*log.events, *again.events)]
            expected = {
                (witness.named(f"{one}"), 1 + each) for one in range(WRITERS) for each in range(ROUNDS)
            }
            expect(len(met), len(set(met)), "events that were met, and how many are different")
            expect(set(met), expected, "the changes that were met")
            for number in range(WRITERS):
                versions = [version for target, version in met if target == witness.named(f"{number}")]
                expect(
                    versions, sorted(versions, key=lambda one: one or 0), f"the order of those of {number}"
                )

    @law
    async def test_n4_seen(self) -> None:
        """N4 seen: a principal that may not read a conversation gets none of its events."""
        async with self.open() as witness:
            log = await follower(self, witness, witness.repository)
            hers = Namespace(witness.named("ada"))
            ada = somebody(hers.user)
            bob = somebody(witness.named("bob"), Granted(hers, witness.named("b")))
            with acting_as(ada):
                for name in ("a", "b"):
                    await witness.append(witness.named(name), said("1"))
            await log.expect(Logged("added", "a", 1), Logged("added", "b", 1))
            acted = [(event.who, event.user, event.owner) for event in log.events]
            expect(acted, [(hers.user, hers.user, hers)] * 2, "who acted, in whose name, and whose it is")
            for who, seen in ((ada, ["a", "b"]), (bob, ["b"])):
                with acting_as(who):
                    page = await witness.get(log.log.changes_page(None, limit=100_000))
                told = [event.target for event in page.events if witness.space in event.target]
                expect(told, [witness.named(name) for name in seen], f"what {who.name} is told")


async def _write(witness: Witness, name: str) -> None:
    for number in range(ROUNDS):
        await witness.append(witness.named(name), said(f"{number}"))


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
            await witness.get(witness.repository.mark(Mark(user, a, pinned=True)))
            await witness.get(witness.repository.mark(Mark(user, a, pinned=False)))
            await witness.get(witness.repository.mark(Mark(user, a, memory_type="short_term")))
            await witness.use(user, a, now=LATER, promote_after=1)
            await witness.get(witness.repository.retire(user, "geheim", now=LATER))
            await witness.get(witness.repository.forget(Forgetting(user, memory_id=a)))
            short = {"memory_type": "short_term", "session_id": "会"}
            await witness.store(remembered(d, namespace=user, **short))
            await witness.get(witness.repository.expire(Expiry(user, session_id="会")))
            await witness.store(remembered(witness.named("e"), namespace=user, **short))
            await witness.get(witness.repository.expire(Expiry(user, created_before=LATER)))
            pet = remembered(witness.named("f"), namespace=user, attribute="pet:geheim")
            await witness.store(pet)
            await witness.store(evolve(pet, id=witness.named("g"), created_at=LATER))
            await log.expect(
                Logged("stored", "a", 1),
                Logged("stored", "b", 1),
                Logged("superseded", "b", by="c"),
                Logged("stored", "c", 1),
                Logged("changed", "a", 2),
                Logged("pinned", "a"),
                Logged("unpinned", "a"),
                Logged("demoted", "a"),
                Logged("promoted", "a", reason="use"),
                Logged("retired", "c"),
                Logged("forgotten", "a"),
                Logged("stored", "d", 1),
                Logged("forgotten", "d", reason="session"),
                Logged("stored", "e", 1),
                Logged("expired", "e", reason="age"),
                Logged("stored", "f", 1),
                Logged("superseded", "f", by="g", reason="pet"),
                Logged("stored", "g", 1),
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
                witness.repository.mark(Mark(witness.user("b"), a, pinned=True)),
                witness.repository.mark(Mark(user, a, memory_type="long_term", pinned=False)),
                witness.repository.retire(user, "unknown", now=START),
                witness.repository.forget(Forgetting(witness.user("b"))),
            ):
                await witness.ask(refused)
            await witness.use(user, a)
            await witness.observe(user)
            await witness.get(witness.repository.mark(Mark(user, a, pinned=True)))
            await log.expect(Logged("stored", "a", 1), Logged("pinned", "a"))

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
                with acting_as(somebody(namespace.user, app=namespace.app)):
                    page = await witness.get(log.log.changes_page(None, limit=100_000))
                told = [event.owner for event in page.events if witness.space in event.target]
                expect(len(told), count, f"how many events {namespace} is told of")
                expect(all(map(namespace.sees, told)), True, f"whether {namespace} sees what it is told of")


class ItemEventLaws(ItemRepositoryUnderTest):
    """Each change of an item leaves one event; all else leaves none."""

    @law
    async def test_n1_event(self) -> None:
        """N1 event: each put, removal and expiry of an item leaves one event, without its value."""
        async with self.open() as witness:
            log = await follower(self, witness, witness.repository)
            names = [
                witness.name(key, labels) for key, labels in (("一", ("a",)), ("a.b", ("a", "b")), ("", ()))
            ]
            puts = [ItemPut(name, '"geheim"', lifetime=timedelta(days=1)) for name in names]
            await witness.write(*puts, now=START)
            await witness.write(puts[0], ItemPut(names[1], None), now=START)
            await witness.write(ItemPut(names[1], None), now=START)
            await witness.get(witness.repository.refresh((names[0],), now=START + timedelta(hours=12)))
            await witness.get(witness.repository.sweep(now=START + timedelta(days=1)))
            expected = [
                *[("stored", name_in_log(name), None) for name in names],
                ("removed", name_in_log(names[1]), None),
                ("stored", name_in_log(names[0]), None),
                ("expired", name_in_log(names[2]), "age"),
            ]
            await log.read_all(len(expected))
            told = [(event.action, event.target, event.reason) for event in log.events]
            expect(told, expected, "what the log tells of items")
            expect({event.kind for event in log.events}, {"item"}, "their kind")
            expect("geheim" in str(log.events), False, "whether an event tells a value")


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
                Logged("stored", "a", 1),
                Logged("forgotten", "a"),
                Logged("stored", "a", 1),
                Logged("stored", "b", 1),
                Logged("stored", "c", 1),
                Logged("stored", "d", 1, reason="again"),
                Logged("superseded", "d", by="e"),
                Logged("stored", "e", 1, reason="again"),
                Logged("stored", "a", 1, reason="again"),
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
            await witness.get(witness.repository.expire(Expiry(user, session_id="s")))
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
            said_by = attrgetter("content", "key", "value", "tags", "confidence", "provenance")
            said = [(one.version, said_by(one)) for one in told.earlier]
            expect(said, [(1, said_by(first)), (2, said_by(second))], "what it said before")
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
