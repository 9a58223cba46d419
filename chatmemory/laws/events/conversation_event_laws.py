"""The laws of events of conversations: N1 to N4."""

from functools import partial

from chatmemory.access.namespace import Namespace
from chatmemory.access.principal import Granted, Principal, acting_as
from chatmemory.laws.events.follower import Told, follower
from chatmemory.laws.kit.concurrency import race
from chatmemory.laws.kit.law import expect, law
from chatmemory.laws.kit.samples import ALWAYS, INSTANTS, START, batch, said, summary_of
from chatmemory.laws.messages.witness import MessageRepositoryUnderTest, Witness

WRITERS = 6
ROUNDS = 8


class ConversationEventLaws(MessageRepositoryUnderTest):
    """Each change of a conversation leaves one event; all else leaves none."""

    @law
    async def test_n1_event(self) -> None:
        """N1 event: each change leaves one event with the new version, under every principal, and no text of a message."""
        async with self.open() as witness:
            log = await follower(self, witness, witness.repository)
            talk = witness.named("会议")
            drafts = (said("1", "geheim"), said("2", timestamp=INSTANTS[1]), said("3"))
            await witness.get(witness.repository.append(batch(talk, *drafts[:2])))
            await witness.get(witness.repository.append(batch(talk, drafts[2], threshold=ALWAYS)))
            covered = (await witness.read(talk))[:2]
            summary = summary_of(talk, covered, message_id=witness.named("s"), planned_at_version=2)
            await witness.get(witness.repository.summarize(summary))
            remove = witness.repository.remove_newest(talk, now=START, threshold=None)
            await witness.get(remove)
            await witness.get(witness.repository.clear(talk, now=START))
            await witness.get(witness.repository.append(batch(talk, said("1"))))
            await log.expect(
                Told("added", "会议", 1),
                Told("added", "会议", 2),
                Told("summarized", "会议", 3, by="s"),
                Told("removed", "会议", 4),
                Told("cleared", "会议", 5),
                Told("added", "会议", 6),
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
            await witness.get(witness.repository.append(batch(talk, said("1"))))
            for refused in (
                witness.repository.append(batch(talk, said("1"))),
                witness.repository.append(batch(talk, said("2"), said("1", "else"))),
                witness.repository.append(batch(talk, said("2"), expected_version=7)),
                witness.repository.clear(witness.named("unknown"), now=START),
                witness.repository.remove_newest(witness.named("unknown"), now=START, threshold=None),
            ):
                await witness.ask(refused)
            await witness.observe(talk)
            await witness.get(witness.repository.append(batch(talk, said("2"))))
            await log.expect(Told("added", "a", 1), Told("added", "a", 2))

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
            hers, his = Namespace(witness.named("ada")), Namespace(witness.named("bob"))
            ada = Principal(name="ada", namespace=hers, granted=(Granted(hers),))
            bob = Principal(
                name="bob", namespace=his, granted=(Granted(his), Granted(hers, witness.named("b")))
            )
            with acting_as(ada):
                for name in ("a", "b"):
                    await witness.get(witness.repository.append(batch(witness.named(name), said("1"))))
            await log.expect(Told("added", "a", 1), Told("added", "b", 1))
            acted = [(event.who, event.user, event.owner) for event in log.events]
            expect(acted, [("ada", hers.user, hers)] * 2, "who acted, in whose name, and whose it is")
            for who, seen in ((ada, ["a", "b"]), (bob, ["b"])):
                with acting_as(who):
                    page = await witness.get(log.log.changes_page(None, limit=100_000))
                told = [event.target for event in page.events if witness.space in event.target]
                expect(told, [witness.named(name) for name in seen], f"what {who.name} is told")


async def _write(witness: Witness, name: str) -> None:
    for number in range(ROUNDS):
        await witness.get(witness.repository.append(batch(witness.named(name), said(f"{number}"))))
