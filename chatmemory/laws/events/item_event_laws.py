"""The law of events of items: N1."""

from datetime import timedelta

from chatmemory.items.item_repository import ItemPut, name_in_log
from chatmemory.laws.events.follower import follower
from chatmemory.laws.items.item_witness import ItemRepositoryUnderTest
from chatmemory.laws.kit.law import expect, law
from chatmemory.laws.kit.samples import START


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
