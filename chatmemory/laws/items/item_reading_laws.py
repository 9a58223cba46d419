"""The laws of reading items: L5, L8, L9, L10, L20, L32."""

import json

from chatmemory.laws.items.item_witness import (
    LABELS,
    LIFETIMES,
    MODEL,
    OTHER_MODEL,
    VALUES,
    ItemRepositoryUnderTest,
    ItemWitness,
    conditions,
    keys_of,
    later,
    put,
)
from chatmemory.laws.kit.law import expect, law
from chatmemory.laws.kit.samples import MINUTE, START
from chatmemory.laws.memories.memory_witness import TERMS, VECTORS, rounded, unit


class ItemReadingLaws(ItemRepositoryUnderTest):
    """A read returns what was put, by every way of asking."""

    @law
    async def test_l5_reopen(self) -> None:
        """L5 reopen: closing and opening changes nothing that can be read."""
        self.expect_durability()
        async with self.open() as before:
            await _some_items(before)
            seen = await before.observe(now=later(3))
        async with self.open(space=before.space) as after:
            expect(await after.observe(now=later(3)), seen, "what is read")

    @law
    async def test_l8_found(self) -> None:
        """L8 found: a query finds the items with one of its words or a vector of its model, and no others."""
        async with self.open() as witness:
            await witness.write(
                put(witness.name("words"), terms=f"{TERMS[0]} {TERMS[2]}"),
                put(witness.name("vector"), model=MODEL, vectors=(VECTORS[2],)),
                put(witness.name("other model"), model=OTHER_MODEL, vectors=(VECTORS[2],)),
                put(witness.name("other words"), terms=f"{TERMS[1]} {TERMS[3]}"),
                put(witness.name("nothing")),
                now=START,
            )
            by_words = await witness.search(now=START, terms=(TERMS[2],))
            expect(keys_of(by_words), ["words"], f"what is found by {TERMS[2]!r}")
            by_vector = await witness.search(now=START, model=MODEL, vector=VECTORS[2])
            expect(keys_of(by_vector), ["vector"], "what is found by a vector")
            by_both = await witness.search(now=START, terms=(TERMS[2],), model=MODEL, vector=VECTORS[2])
            expect(sorted(keys_of(by_both)), ["vector", "words"], "what is found by both")
            below = await witness.search(LABELS[1], now=START, terms=(TERMS[2],))
            expect(below, (), "what is found in another namespace")

    @law
    async def test_l32_whole(self) -> None:
        """L32 whole: an item is read whole with its words, its model and its vectors, in order."""
        async with self.open() as witness:
            puts = (
                put(witness.name("both"), terms=TERMS[4], model=MODEL, vectors=VECTORS[:3]),
                put(witness.name("words"), terms=TERMS[0]),
                put(witness.name("nothing")),
                put(witness.name("passing"), lifetime=MINUTE),
            )
            await witness.write(*puts, now=START)
            names = (*[each.name for each in puts], witness.name("?"))
            read = await witness.get(witness.repository.whole(names, now=later(2)))
            items = await witness.get(witness.repository.read(names, now=later(2)))
            expect(tuple([whole and whole.item for whole in read]), items, "the items that are read whole")
            for each, whole in zip(puts[:3], read, strict=False):
                expect(whole and (whole.terms, whole.model), (each.terms, each.model), "words and model")
                vectors = [vector.tolist() for vector in (whole.vectors if whole else ())]
                expect(vectors, [vector.tolist() for vector in each.vectors], "the vectors")

    @law
    async def test_l9_self(self) -> None:
        """L9 self: the score of a vector is the cosine of the nearest passage, and the nearest item comes first."""
        async with self.open() as witness:
            near = (unit(0, 0, 1, 0), VECTORS[0])
            await witness.write(
                put(witness.name("far"), model=MODEL, vectors=(VECTORS[1],)),
                put(witness.name("near"), model=MODEL, vectors=near),
                put(witness.name("between"), model=MODEL, vectors=(VECTORS[3],)),
                now=START,
            )
            found = await witness.search(now=START, model=MODEL, vector=VECTORS[0])
            scores = [(item.name.key, rounded(item.score)) for item in found]
            expect(scores, [("near", 1.0), ("between", 0.6), ("far", -1.0)], "what is found, with its score")
            page = await witness.search(now=START, model=MODEL, vector=VECTORS[0], limit=1, offset=1)
            expect(keys_of(page), ["between"], "the second of them")

    @law
    async def test_l10_window(self) -> None:
        """L10 window: joined pages are the whole list, and a prefix selects the items below its labels."""
        async with self.open() as witness:
            await _some_items(witness)
            whole = await witness.search(now=START)
            for size in (1, 3, 100):
                pages = [
                    await witness.search(now=START, limit=size, offset=offset)
                    for offset in range(0, len(whole), size)
                ]
                expect(
                    tuple([item for page in pages for item in page]), whole, f"the list in pages of {size}"
                )
            for labels in LABELS:
                prefix = witness.below(labels)
                part = tuple([item for item in whole if item.name.namespace[: len(prefix)] == prefix])
                expect(await witness.search(labels, now=START), part, f"the list below {labels}")
                namespaces = await witness.get(witness.repository.namespaces(prefix, now=START))
                expect(namespaces, tuple(sorted({item.name.namespace for item in part})), f"below {labels}")

    @law
    async def test_l10_window_by_conditions(self) -> None:
        """L10 window: a condition selects the items that fulfil it as JSON, no more and no less, with any other items."""
        async with self.open() as witness:
            puts = [
                put(witness.name(f"{number}"), value, terms=TERMS[0]) for number, value in enumerate(VALUES)
            ]
            await witness.write(*puts, now=START)
            for condition in conditions():
                part = {
                    f"{number}" for number, value in enumerate(VALUES) if condition.holds(json.loads(value))
                }
                listed = await witness.search(now=START, conditions=(condition,))
                expect(set(keys_of(listed)), part, f"the items of which {condition}")
                if condition.field == "n":
                    page = await witness.search(now=START, conditions=(condition,), limit=2, offset=1)
                    expect(page, listed[1:3], f"a page of the items of which {condition}")
            several = tuple([each for each in conditions() if each.field == "n" and each.operand == 1][:1])
            found = await witness.search(now=START, conditions=several, terms=(TERMS[0],))
            listed = await witness.search(now=START, conditions=several)
            expect(set(keys_of(found)), set(keys_of(listed)), "what a query finds of them")

    @law
    async def test_l20_errors(self) -> None:
        """L20 errors: a released repository fails with a tagged error, or really does the operation."""
        async with self.open() as witness:
            await witness.write(put(witness.name("a")), now=START)

        async def written(later_on: ItemWitness) -> bool:
            return await later_on.item(witness.name("b"), now=START) is not None

        write = witness.repository.write((put(witness.name("b")),), now=START)
        read = witness.repository.read((witness.name("a"),), now=START)
        await self.expect_no_pretence(witness, write, read, written)


async def _some_items(witness: ItemWitness) -> None:
    """Put two dozen items, in some namespaces, at a few instants, with and without lifetimes, words and vectors."""
    for number in range(24):
        name = witness.name(f"{number % 7}", LABELS[number % len(LABELS)])
        indexed = {
            "terms": TERMS[number % 3] if number % 4 else None,
            "model": MODEL if number % 5 else OTHER_MODEL,
            "vectors": VECTORS[: number % 3],
        }
        lifetime = (None, *LIFETIMES[2:])[number % 3]
        value = VALUES[number % len(VALUES)]
        await witness.write(put(name, value, lifetime=lifetime, **indexed), now=later(number // 12))
