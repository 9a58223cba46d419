"""The laws of finding memories: L8, L9, V1."""

from datetime import timedelta
from itertools import product

import pytest

from chatmemory.laws.kit.law import expect, law
from chatmemory.laws.kit.samples import START
from chatmemory.laws.memories.memory_witness import (
    OTHER_SPACES,
    SPACE,
    TERMS,
    VECTORS,
    MemoryRepositoryUnderTest,
    found,
    ids_of,
    remembered,
    rounded,
    unit,
)
from chatmemory.longterm.recall.recall import Coverage
from chatmemory.longterm.repository_values import Attachment

MANY = 60  # the number of memories that share words
FEW = 7  # the number of nearest neighbours that are compared
ACCURACY = 1e-6  # of a similarity, as the contract promises


class MemorySearchLaws(MemoryRepositoryUnderTest):
    """A search finds the memories that match the query, returns their similarity, and changes nothing."""

    @law
    async def test_l8_candidates(self) -> None:
        """L8 candidates: a hit was stored and has a word of the query; there are at most *limit*, the same each time."""
        async with self.open() as witness:
            user = witness.user()
            words = {witness.named(f"{number}"): set(_words(number)) for number in range(MANY)}
            for number, (memory_id, terms) in enumerate(words.items()):
                draft = remembered(memory_id, f"第{number}句", namespace=user, terms=" ".join(sorted(terms)))
                await witness.store(draft)
            before = await witness.observe(user)
            for asked in (TERMS[:1], TERMS[1:3], TERMS[4:9], TERMS):
                sharing = {memory_id for memory_id, terms in words.items() if terms.intersection(asked)}
                for limit in (1, 5, MANY):
                    query = {"terms": asked, "space": None, "vector": None, "limit": limit}
                    once, twice = [found(await witness.search(user, **query)) for _ in range(2)]
                    expect(
                        set(once) | sharing, sharing, f"what shares a word with {asked}, and what is found"
                    )
                    expect(len(once), min(limit, len(sharing)), f"how many are found for {asked}")
                    expect(twice, once, f"a second search for {asked}")
            expect(await witness.observe(user), before, "what is read after all these searches")

    @law
    async def test_l8_candidates_by_text(self) -> None:
        """L8 candidates: when no memory has a word of the query, the memories that contain its text are found, newest first."""
        async with self.open() as witness:
            user = witness.user()
            contents = ("100% 绿茶", "100 绿茶", "_绿茶_", "GREEN tea", "green tea", "绿 茶")
            for number, content in enumerate(contents):
                draft = remembered(witness.named(f"{number}"), content, namespace=user, terms="tea")
                await witness.store(draft)
            for text in ("绿茶", "100%", "%", "_", "tea", "green", "红茶", "'", "\\"):
                containing = {
                    witness.named(f"{number}") for number, said in enumerate(contents) if text in said
                }
                query = {"text": text, "terms": ("nowhere",), "space": None, "vector": None}
                candidates = await witness.search(user, **query)
                expect(set(found(candidates)), containing, f"what contains {text!r}")
                expect(candidates.matched_text, bool(containing), f"whether {text!r} was matched as a text")
                few = found(await witness.search(user, **query, limit=2))
                expect(set(few), set(sorted(containing)[-2:]), f"the newest two that contain {text!r}")
            by_word = await witness.search(user, text="绿茶", terms=("tea",), space=None, vector=None)
            expect(by_word.matched_text, False, "whether a text was matched beside a word")

    @law
    async def test_l8_beside(self) -> None:
        """L8 candidates: the memories directly before and after a candidate in its session are found with it, and no others."""
        async with self.open() as witness:
            user, count = witness.user(), len(TERMS)
            sessions = [witness.named(name) for name in ("会议", "会")]
            ids = {session: [witness.named(f"{session} {n}") for n in range(count)] for session in sessions}
            for number, term in enumerate(TERMS):  # the sessions take turns
                at = START + timedelta(minutes=number)
                for session, members in ids.items():
                    said = {"terms": f"{term} {session}", "session_id": session, "created_at": at}
                    draft = remembered(members[number], f"{number}", namespace=user, **said)
                    await witness.store(draft)
            for number, term in enumerate(TERMS):
                query = {"terms": (term,), "space": None, "vector": None}
                candidates = await witness.search(user, **query)
                expected = {
                    one for members in ids.values() for one in members[max(0, number - 1) : number + 2]
                }
                expect(set(found(candidates)), expected, f"what has {term!r}, and what stands beside it")

    @law
    async def test_l9_self(self) -> None:
        """L9 self: a memory is its own nearest neighbour, with a similarity of 1, and nearer memories come before others."""
        async with self.open() as witness:
            user = witness.user()
            # No two have the same direction.
            vectors = [unit(1, *rest) for rest in product(range(4), repeat=3)]
            ids = [witness.named(f"{number}") for number in range(len(vectors))]
            drafts = [
                remembered(memory_id, namespace=user, space=SPACE, vector=vector)
                for memory_id, vector in zip(ids, vectors, strict=True)
            ]
            await witness.store(*drafts)
            for memory_id, vector in zip(ids, vectors, strict=True):
                query = {"terms": (), "vector": vector}
                nearest = found(await witness.search(user, **query, limit=1))
                alike = {key: similarity for key, (_, _, similarity) in nearest.items()}
                expect(alike, {memory_id: 1.0}, "the nearest neighbour")
                candidates = (await witness.search(user, **query, limit=FEW)).found
                similarities = sorted((one.similarity or 0 for one in candidates), reverse=True)
                exact = sorted((float(other @ vector) for other in vectors), reverse=True)
                expect(
                    similarities, pytest.approx(exact[:FEW], abs=ACCURACY), f"the {FEW} highest similarities"
                )

    @law
    async def test_v1_vectors(self) -> None:
        """V1 vectors: a memory is compared in the space of its vector and in no other, and the coverage counts it there."""
        async with self.open() as witness:
            user, repository = witness.user(), witness.repository
            other, shorter = OTHER_SPACES
            placed = ((SPACE, VECTORS[0]), (other, VECTORS[0]), (shorter, unit(1, 0, 0)), (None, None))
            ids = [witness.named(f"{number}") for number in range(len(placed))]
            for memory_id, (space, vector) in zip(ids, placed, strict=True):
                await witness.store(remembered(memory_id, namespace=user, space=space, vector=vector))
            for memory_id, (space, vector) in zip(ids[:3], placed[:3], strict=True):
                query = {"terms": (), "space": space, "vector": vector}
                candidates = await witness.search(user, **query)
                expect(set(found(candidates)), {memory_id}, f"what is similar in {space}")
                expect(candidates.coverage, Coverage(1, len(ids)), f"the coverage in {space}")
            lacking, count = await witness.get(repository.unembedded(user, SPACE, limit=2))
            expect((set(ids_of(lacking)), count), (set(ids[2:]), 3), "what has no vector of the space")
            attachments = tuple(Attachment(memory_id, 1, VECTORS[3]) for memory_id in ids[1:])
            attached = await witness.get(repository.attach(user, SPACE, attachments))
            expect(attached, 3, "vectors attached")
            candidates = await witness.search(user, terms=())
            alike = {key: similarity for key, (_, _, similarity) in found(candidates).items()}
            expected = {ids[0]: 1.0, **dict.fromkeys(ids[1:], rounded(float(VECTORS[0] @ VECTORS[3])))}
            expect((alike, candidates.coverage), (expected, Coverage(4, 4)), "what is similar now")
            for space in OTHER_SPACES:
                covered = (await witness.search(user, space=space, vector=None)).coverage
                expect(covered, Coverage(0, 4), f"the coverage in {space}, which has no vectors any more")


def _words(number: int) -> tuple[str, ...]:
    """Return some words: the first is common, the others are rarer."""
    return (TERMS[0], TERMS[1 + number % 5], TERMS[6 + number % 8])
