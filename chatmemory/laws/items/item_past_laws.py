"""The laws of earlier values of items: L27 past, L29 undo, L30 forget."""

from datetime import datetime, timedelta
from typing import Any

from chatmemory.effect import Failure, Success
from chatmemory.errors import NotUndoableError
from chatmemory.items.item_past import MOST_EARLIER
from chatmemory.items.item_repository import ItemName, ItemPut, StoredItem, name_in_log
from chatmemory.laws.events.follower import follower
from chatmemory.laws.items.item_samples import later
from chatmemory.laws.items.item_witness import ItemRepositoryUnderTest, ItemWitness
from chatmemory.laws.kit.law import expect, law


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
                answer = await witness.ask(witness.repository.undo(name, now=later(1)))
                is_refused = isinstance(answer, Failure) and isinstance(answer.failure(), NotUndoableError)
                expect(is_refused, True, f"whether the undo of {name} is refused")
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
            answer = await witness.ask(witness.repository.undo(b, now=later(3)))
            expect(isinstance(answer, Success), False, "whether forgetting is undone")
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
