"""The laws of putting and removing items: L1, L2, L3, L6, L7, L11, L12, L23."""

from collections.abc import Callable
from functools import partial
from typing import Any

from anyio.lowlevel import checkpoint

from chatmemory.items.item_repository import ItemChange, ItemPut
from chatmemory.laws.items.item_witness import (
    KEYS,
    LABELS,
    MODEL,
    NOTHING,
    VALUES,
    ItemRepositoryUnderTest,
    ItemWitness,
    later,
    put,
)
from chatmemory.laws.kit.law import Cancellation, expect, expect_one_of, law, race
from chatmemory.laws.kit.samples import START
from chatmemory.laws.memories.memory_witness import INSTANTS, TERMS, VECTORS

WRITERS = 8
BATCHES = 5  # by each writer
SIZE = 3  # items in a batch


class ItemWritingLaws(ItemRepositoryUnderTest):
    """A put is stored as it was given, completely or not at all, and changes nothing else."""

    @law
    async def test_l1_put(self) -> None:
        """L1 put: an item reads as it was put, with the times of its first and its last put."""
        async with self.open() as witness:
            for number, value in enumerate(VALUES):
                name = witness.name(f"{number}")
                now = (START, *INSTANTS[:3])[number % 4]
                await witness.write(put(name, value), now=now)
                item = await witness.item(name, now=now)
                expect(item and (item.name, item.value), (name, value), "what is read")
                expect(item and (item.created_at, item.updated_at), (now, now), f"its times, put at {now}")
            name = witness.name("0")
            await witness.write(put(name, "[]"), now=later(9))
            item = await witness.item(name, now=later(9))
            expect(
                item and (item.value, item.created_at, item.updated_at),
                ("[]", START, later(9)),
                "what is put again",
            )

    @law
    async def test_l2_batch(self) -> None:
        """L2 batch: of several puts of one name in a batch the last one counts, and the first time stays."""
        async with self.open() as witness:
            a, b, c = (witness.name(key) for key in "abc")
            await witness.write(put(a, "1"), put(c, "1"), now=later(0))
            await witness.write(
                put(a, None), put(b, "2"), put(a, "2"), put(b, None), put(c, None), now=later(1)
            )
            observed = await witness.observe((a, b, c), now=later(1))
            kept = [(item.name, item.value, item.created_at) for item in observed.items.values()]
            expect(kept, [(a, "2", later(0))], "what is there")

    @law
    async def test_l3_isolation(self) -> None:
        """L3 isolation: similar names are different names, and a change of one of them changes no other."""
        async with self.open() as witness:
            names = [witness.name(key, LABELS[0]) for key in KEYS]
            names += [witness.name("a", labels) for labels in LABELS[1:]]
            await witness.write(*[put(name, f"{place}") for place, name in enumerate(names)], now=START)
            for place, name in enumerate(names):
                before = await witness.observe(now=START)
                expect(before.items[name].value, f"{place}", f"what is read of {name}")
                await witness.write(put(name, None), now=START)
                after = await witness.observe(names, now=START)
                left = {other: item for other, item in before.items.items() if other != name}
                expect(after.items, left, f"what is left after {name} was removed")

    @law
    async def test_l6_cancel(self) -> None:
        """L6 cancel: a cancelled batch is whole or absent, and the next operation succeeds."""
        async with self.open() as witness:
            for round_ in range(self.rounds):
                await _cancel_once(witness, f"{round_}", self.cancellation(round_))

    @law
    async def test_l7_race(self) -> None:
        """L7 race: concurrent batches are all stored, each whole, at every moment."""
        async with self.open() as witness:
            sizes_seen: set[int] = set()

            async def write(writer: int) -> None:
                for number in range(BATCHES):
                    await witness.write(*_batch(witness, f"{writer} {number}"), now=START)

            async def read() -> None:
                while True:
                    sizes_seen.add(len(await witness.search(now=START)) % SIZE)
                    await checkpoint()

            await race([partial(write, writer) for writer in range(WRITERS)], meanwhile=read)
            expect(sizes_seen, {0}, f"remainders of a batch of {SIZE} that a reader saw")
            expect(len(await witness.search(now=START)), WRITERS * BATCHES * SIZE, "items kept")

    @law
    async def test_l7_race_of_changes(self) -> None:
        """L7 race: no other write happens between the reads of a change and its puts."""
        async with self.open() as witness:
            steps = _counting(witness)
            answers: list[int] = []

            async def count() -> None:
                for _ in range(BATCHES):
                    answer = await witness.get(witness.repository.change(steps, now=START))
                    answers.append(answer)

            await race([count] * WRITERS)
            expect(
                sorted(answers),
                [*range(1, WRITERS * BATCHES + 1)],
                "the answers of changes that each add one",
            )

    @law
    async def test_l11_empty(self) -> None:
        """L11 empty: a missing item is missing, and reading, removing or refreshing it does not create it."""
        async with self.open() as witness:
            name = witness.name("a")
            empty = await witness.observe((name,), now=START)
            expect(empty, NOTHING, "what is there")
            await witness.write(put(name, None), now=START)
            await witness.write(now=START)
            await witness.get(witness.repository.refresh((name,), now=START))
            expect(await witness.get(witness.repository.read((), now=START)), (), "what is read of no name")
            expect(await witness.observe((name,), now=START), empty, "what is there afterwards")

    @law
    async def test_l12_retry(self) -> None:
        """L12 retry: repeating the same batch at the same time changes nothing."""
        async with self.open() as witness:
            indexed: dict[str, Any] = {"terms": TERMS[0], "model": MODEL, "vectors": VECTORS[:2]}
            puts = [put(witness.name(key), **indexed) for key in "ab"]
            await witness.write(*puts, put(witness.name("c"), None), now=START)
            before = await witness.observe(now=START)
            await witness.write(*puts, put(witness.name("c"), None), now=START)
            expect(await witness.observe(now=START), before, "what is read after the retry")

    @law
    async def test_l23_remove(self) -> None:
        """L23 remove: a removed or replaced item is found by none of its earlier words and vectors."""
        async with self.open() as witness:
            name, other = witness.name("a"), witness.name("b", ("b",))
            indexed: dict[str, Any] = {
                "terms": f"{TERMS[0]} {TERMS[2]}",
                "model": MODEL,
                "vectors": VECTORS[:3],
            }
            await witness.write(put(other), now=START)
            alone = await witness.observe((name,), now=START)
            await witness.write(put(name, **indexed), now=START)
            await witness.write(put(name, None), now=START)
            expect(await witness.observe((name,), now=START), alone, "what is read after it was removed")
            await witness.write(put(name, **indexed), now=START)
            await witness.write(put(name, "{}"), now=START)
            replaced = await witness.observe((name,), now=START)
            expect(
                replaced.found,
                NOTHING.found,
                "what is found after it was put again without words and vectors",
            )


def _batch(witness: ItemWitness, name: str) -> list[ItemPut]:
    return [put(witness.name(f"{name} {part}", LABELS[part])) for part in range(SIZE)]


def _counting(witness: ItemWitness) -> Callable[[], ItemChange[int]]:
    name = witness.name("次数")

    def steps() -> ItemChange[int]:
        (item,) = yield (name,)
        count = 1 if item is None else int(item.value) + 1
        return (put(name, f"{count}"),), count

    return steps


async def _cancel_once(witness: ItemWitness, round_: str, cancellation: Cancellation) -> None:
    lost = _batch(witness, f"{round_} lost")
    before = set((await witness.observe(now=START)).items)
    await cancellation.of(lambda: witness.ask(witness.repository.write(tuple(lost), now=START)))
    await witness.write(put(witness.name(f"{round_} next")), now=START)
    without = before | {witness.name(f"{round_} next")}
    kept = set((await witness.observe(now=START)).items)
    expect_one_of(kept, (without, without | {each.name for each in lost}), f"the items after {cancellation}")
    await witness.write(*[put(name, None) for name in kept], now=START)
