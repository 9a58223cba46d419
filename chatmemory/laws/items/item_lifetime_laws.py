"""The laws of items with a lifetime: E1 end, E2 refresh, E3 sweep."""

from datetime import timedelta
from typing import Any

from chatmemory.laws.items.item_samples import MODEL, later, put
from chatmemory.laws.items.item_witness import ItemRepositoryUnderTest
from chatmemory.laws.kit.law import expect, law
from chatmemory.laws.memories.memory_samples import TERMS, VECTORS

MINUTE = timedelta(minutes=1)
MOMENT = timedelta(microseconds=1)


class ItemLifetimeLaws(ItemRepositoryUnderTest):
    """An item whose lifetime has ended is gone, whether it has been removed from the store or not."""

    @law
    async def test_e1_end(self) -> None:
        """E1 end: an item whose lifetime has ended is gone for every method, and putting it again makes a new item."""
        async with self.open() as witness:
            name, lasting = witness.name("a"), witness.name("b", ("b",))
            indexed: dict[str, Any] = {"terms": TERMS[0], "model": MODEL, "vectors": VECTORS[:1]}
            await witness.write(put(lasting, **indexed), now=later(0))
            alone = await witness.observe((name, lasting), now=later(0))
            await witness.write(put(name, lifetime=MINUTE, **indexed), now=later(0))
            item = await witness.item(name, now=later(1) - MOMENT)
            expect(item and item.has_lifetime, True, "whether it has a lifetime, a moment before its end")
            kept = await witness.item(lasting, now=later(1))
            expect(kept and kept.has_lifetime, False, "whether the other one has")
            expect(await witness.observe((name, lasting), now=later(1)), alone, "what is there at its end")
            await witness.write(put(name), now=later(2))
            item = await witness.item(name, now=later(9))
            expect(
                item and (item.created_at, item.has_lifetime), (later(2), False), "what was put afterwards"
            )

    @law
    async def test_e1_end_of_long_lives(self) -> None:
        """E1 end: a lifetime that ends after the last date of the calendar is a valid lifetime."""
        async with self.open() as witness:
            name = witness.name("a")
            await witness.write(put(name, lifetime=timedelta.max), now=later(0))
            item = await witness.item(name, now=later(0) + timedelta(days=200_000))
            expect(item and item.has_lifetime, True, "whether it is there in 500 years, with its lifetime")

    @law
    async def test_e2_refresh(self) -> None:
        """E2 refresh: a refresh restarts a lifetime, adds none, and does not bring back an expired item."""
        async with self.open() as witness:
            brief, lasting, gone = (witness.name(key) for key in "abc")
            refresh = witness.repository.refresh
            lives = {brief: 3 * MINUTE, lasting: None, gone: MINUTE}
            await witness.write(
                *[put(name, lifetime=lifetime) for name, lifetime in lives.items()], now=later(0)
            )
            before = await witness.item(brief, now=later(2))
            await witness.get(refresh((brief, lasting, gone, brief), now=later(2)))
            expect(
                await witness.item(brief, now=later(5) - MOMENT),
                before,
                "what was refreshed, before its new end",
            )
            expect(await witness.item(brief, now=later(5)), None, "what was refreshed, at its new end")
            expect(await witness.item(gone, now=later(2)), None, "what was gone already")
            kept = await witness.item(lasting, now=later(99))
            expect(kept and kept.has_lifetime, False, "whether what has no lifetime has got one")

    @law
    async def test_e3_sweep(self) -> None:
        """E3 sweep: a sweep removes the items whose lifetime has ended, counts each once, and changes no result of a read."""
        async with self.open() as witness:
            await witness.get(witness.repository.sweep(now=later(9)))
            lives = {"a": MINUTE, "b": 2 * MINUTE, "c": 3 * MINUTE, "d": None}
            names = [witness.name(key) for key in lives]
            for key, lifetime in lives.items():
                await witness.write(put(witness.name(key), lifetime=lifetime), now=later(0))
            before = await witness.observe(names, now=later(2))
            counts = [await witness.get(witness.repository.sweep(now=later(2))) for _ in range(2)]
            expect(counts, [2, 0], "how many were swept, and then again")
            expect(await witness.observe(names, now=later(2)), before, "what is read after sweeping")
