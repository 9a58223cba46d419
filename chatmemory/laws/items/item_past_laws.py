"""The laws of earlier values of items: L27 past, L29 undo, L30 forget; of their lifetimes: E1 end, E2 refresh, E3 sweep."""

from datetime import datetime, timedelta
from typing import Any

from chatmemory.errors import NotUndoableError
from chatmemory.items.item_past import MOST_EARLIER
from chatmemory.items.item_repository import ItemName, ItemPut, StoredItem, name_in_log
from chatmemory.laws.follower import follower
from chatmemory.laws.items.item_witness import MODEL, ItemRepositoryUnderTest, ItemWitness, later, put
from chatmemory.laws.kit.law import expect, law
from chatmemory.laws.kit.samples import MINUTE
from chatmemory.laws.memories.memory_witness import TERMS, VECTORS

MOMENT = timedelta(microseconds=1)


class ItemPastLaws(ItemRepositoryUnderTest):
    """An earlier value of an item can be read and restored while it is kept; a forgotten one cannot."""

    @law
    async def test_l27_past(self) -> None:
        """L27 past: as of each version and each instant an item reads as it did then, removals included."""
        async with self.open() as witness:
            name, other = witness.name("a"), witness.name("A")
            values = ("1", "2", None, "3", "3")
            read: list[StoredItem | None] = []
            for minute, value in enumerate(values):
                await witness.write(kept(name, value), kept(other, "0"), now=later(minute))
                read.append(await witness.item(name, now=later(minute)))
            expect([item and item.version for item in read], [1, 2, None, 3, 4], "the versions of an item")
            for minute, item in enumerate(read):
                for within in (timedelta(0), timedelta(seconds=59)):
                    at = later(minute) + within
                    expect(await _as_of(witness, name, at), item, f"an item as of {at}")
                if item is not None:
                    expect(await _as_of(witness, name, item.version), item, f"its version {item.version}")
            nevers: tuple[int | datetime, ...] = (later(-1), 5, 99)
            for never in nevers:
                expect(await _as_of(witness, name, never), None, f"an item as of {never}")

    @law
    async def test_l27_past_is_bounded(self) -> None:
        """L27 past: a few newest earlier values are kept; one instant has one value; an item with a lifetime keeps no past."""
        async with self.open() as witness:
            name = witness.name("a")
            for minute in range(MOST_EARLIER + 3):
                await witness.write(kept(name, f"{minute}"), now=later(minute))
            for version, is_kept in ((2, False), (3, True), (MOST_EARLIER + 3, True)):
                found = await _as_of(witness, name, version)
                expect(found is not None, is_kept, f"whether version {version} is kept")
            await witness.write(kept(name, "again"), now=later(MOST_EARLIER + 2))
            item = await witness.item(name, now=later(MOST_EARLIER + 2))
            expect(item and (item.value, item.version), ("again", MOST_EARLIER + 3), "what is put at once")
            last = {"a lifetime": kept(name, lifetime=timedelta(days=1)), "no past": ItemPut(name, "1")}
            for what, put in {**last, "nothing but a removal": ItemPut(name, None)}.items():
                for minute in (90, 91):
                    await witness.write(kept(name, f"{minute}"), now=later(minute))
                item = await witness.item(name, now=later(91))
                before = item.version - 1 if item else 0
                expect(await _as_of(witness, name, before) is not None, True, f"whether {before} is kept")
                await witness.write(put, now=later(92))
                expect(await _as_of(witness, name, before), None, f"what is kept of what has {what}")

    @law
    async def test_l29_undo(self) -> None:
        """L29 undo: the undo of a put restores the value before, of a removal the removed value, of a first put nothing."""
        async with self.open() as witness:
            log = await follower(self, witness, witness.repository)
            name = witness.name("a")
            await witness.write(kept(name, "1", terms="一"), now=later(0))
            await witness.write(kept(name, "2"), now=later(1))
            undone = await witness.get(witness.repository.undo(name, now=later(2)))
            expect(undone and (undone.value, undone.version), ("1", 3), "a put that was undone")
            found = await witness.search(terms=("一",), now=later(2))
            expect([item.name for item in found], [name], "what is found by the words of what came back")
            await witness.write(kept(name, None), now=later(3))
            undone = await witness.get(witness.repository.undo(name, now=later(4)))
            expect(undone and (undone.value, undone.version), ("1", 4), "a removal that was undone")
            gone = await witness.get(witness.repository.undo(name, now=later(5)))
            expect(gone, None, "a first put that was undone")
            await log.read_all(6)
            told = [(event.action, event.reason) for event in log.events]
            expected = [("stored", None), ("stored", None), ("stored", "undo"), ("removed", None)]
            expect(told, [*expected, ("stored", "undo"), ("removed", "undo")], "what the log tells of undo")

    @law
    async def test_l29_undo_is_refused(self) -> None:
        """L29 undo: without an earlier value, and for an item with a lifetime, an undo is refused with an error."""
        async with self.open() as witness:
            unknown, passing = witness.name("a"), witness.name("b")
            await witness.write(kept(passing, lifetime=timedelta(days=1)), now=later(0))
            for name in (unknown, passing):
                refused = await witness.refusal(witness.repository.undo(name, now=later(1)))
                expect(refused, NotUndoableError, f"what the undo of {name} ends with")
            expect((await witness.item(passing, now=later(1))) is None, False, "whether an item is gone")

    @law
    async def test_l30_forget(self) -> None:
        """L30 forget: an item is removed with its earlier values, also after its removal; each leaves an event in the log."""
        async with self.open() as witness:
            log = await follower(self, witness, witness.repository)
            a, b, c = (witness.name(key) for key in "abc")
            for minute in range(2):
                await witness.write(*(kept(name, f"{minute}") for name in (a, b, c)), now=later(minute))
            await witness.write(kept(b, None), now=later(2))
            forgotten = await witness.get(witness.repository.forget((a, b, a, witness.name("?"))))
            expect(forgotten, 2, "how many were forgotten")
            for name, versions in ((a, [False, False]), (b, [False, False]), (c, [True, True])):
                found = [await _as_of(witness, name, version) is not None for version in (1, 2)]
                expect(found, versions, f"whether versions of {name} are there")
            refused = await witness.refusal(witness.repository.undo(b, now=later(3)))
            expect(refused is None, False, "whether forgetting is undone")
            await log.read_all(9)
            told = sorted(event.target for event in log.events if event.action == "forgotten")
            expect(told, sorted(map(name_in_log, (a, b))), "what the log tells of forgetting")


def kept(name: ItemName, value: str | None = '{"n": 1}', **rest: Any) -> ItemPut:
    """Return an item to store, or to remove, that keeps its earlier value."""
    return ItemPut(name, value, keeps_past=True, **rest)


async def _as_of(witness: ItemWitness, name: ItemName, at: int | datetime) -> StoredItem | None:
    read = witness.repository.read((name,), now=later(60), as_of=at)
    (item,) = await witness.get(read)
    return item


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
