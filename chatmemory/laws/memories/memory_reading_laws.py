"""The laws of reading memories: L5, L10, L16, L20; of searching them: L8, L9, V1."""

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from itertools import product
from typing import Any

import pytest
from attrs import evolve

from chatmemory.access.namespace import Namespace
from chatmemory.laws.kit.law import expect, law
from chatmemory.laws.kit.samples import HOUR, START
from chatmemory.laws.memories.memory_witness import (
    APPS,
    CONTAINED,
    INSTANTS,
    OTHER_SPACES,
    SPACE,
    TERMS,
    VECTORS,
    MemoryRepositoryUnderTest,
    MemoryWitness,
    found,
    ids_of,
    plain,
    remembered,
    rounded,
    unit,
)
from chatmemory.longterm.memories import Memory
from chatmemory.longterm.recall.recall import Coverage
from chatmemory.longterm.repository_values import Attachment, Mark, MemoryListing

MANY = 60  # the number of memories that share words
FEW = 7  # the number of nearest neighbours that are compared
ORDERED = "09ABZ_abz中乙甲﹏🙂"  # one name for each of TERMS
ACCURACY = 1e-6  # of a similarity, as the contract promises


class MemoryReadingLaws(MemoryRepositoryUnderTest):
    """A read returns what was stored, for every reader, and by every way of asking."""

    @law
    async def test_l5_reopen(self) -> None:
        """L5 reopen: closing and opening changes nothing that can be read, and the counting of uses continues."""
        self.expect_durability()
        async with self.open() as before:
            user = await _some_memories(before)
            await before.use(user, before.named("0"))
            ids = [before.named(f"{number}") for number in range(13)]
            seen = await before.observe(user, ids=ids, instants=INSTANTS)
        async with self.open(space=before.space) as after:
            expect(await after.observe(user, ids=ids, instants=INSTANTS), seen, "what is read")
            await after.use(user, after.named("0"))
            again = await after.memory(user, after.named("0"))
            expect(again and again.access_count, 1, "uses after one of them was repeated")

    @law
    async def test_l10_window(self) -> None:
        """L10 window: joined pages are the whole list, ordered by instant and id, and a filter selects a part of it."""
        async with self.open() as witness:
            user = await _some_memories(witness)
            whole = await witness.listed(user)
            order = sorted(whole, key=lambda memory: (memory.created_at, memory.id), reverse=True)
            expect(ids_of(whole), ids_of(order), "the order of the list")
            for size in (1, 2, 5, 100):
                expect(await _pages(witness, user, size), whole, f"the list in pages of {size}")
            parts: list[tuple[dict[str, Any], Callable[[Memory], bool]]] = [
                ({"memory_type": "short_term"}, lambda memory: memory.memory_type == "short_term"),
                ({"tag": "work"}, lambda memory: "work" in memory.tags),
                ({"session_id": "会"}, lambda memory: memory.session_id == "会"),
                ({"value_prefix": "c_"}, lambda memory: (memory.value_key or "").startswith("c_")),
                ({"source": "inferred"}, lambda memory: memory.source == "inferred"),
                ({"exact_app": True}, lambda memory: not memory.app_type),
                ({"since": INSTANTS[1]}, lambda memory: memory.created_at >= INSTANTS[1]),
                (
                    {"since": START, "containing": "c_ty"},
                    lambda memory: memory.created_at >= START and memory.key in {"c_ty", "C_TY"},
                ),
            ]
            for filters, passes in parts:
                part = tuple(memory for memory in whole if passes(memory))
                expect(await witness.listed(user, **filters), part, f"the list by {filters}")
                expect(await _pages(witness, user, 2, **filters), part, f"the pages by {filters}")
                kinds = Counter((memory.memory_type, memory.category, memory.source) for memory in part)
                listing = MemoryListing(user, 1, after=(START, ""), **filters)
                counts = await witness.get(witness.repository.count(listing))
                told = {(one.memory_type, one.category, one.source): one.count for one in counts}
                expect(told, dict(kinds), f"the counts by {filters}")

    @law
    async def test_l10_window_on_a_text(self) -> None:
        """L10 window: a list by a text has the memories whose content, key or value contains it; only ASCII case is ignored."""
        async with self.open() as witness:
            user = witness.user()
            for number, text in enumerate(CONTAINED):
                said = {"content": f"茶 {text}."}, {"key": f"茶 {text}."}, {"value": f"茶 {text}."}
                for place, saying in zip("abc", said, strict=True):
                    await witness.store(
                        remembered(witness.named(f"{number}{place}"), namespace=user, **saying)
                    )
            for text in CONTAINED:
                alike = [number for number, other in enumerate(CONTAINED) if _is_in(text, other)]
                listed = [memory.id for memory in await witness.listed(user, containing=text)]
                expected = [witness.named(f"{number}{place}") for number in alike for place in "abc"]
                expect(sorted(listed), sorted(expected), f"what is listed by {text!r}")
            # Any other value is searched as its JSON; a text is not.
            other, value = witness.user("b"), {"价": ["咖啡", None, 4.5], "Tea": 1}
            structure = remembered(witness.named("structure"), namespace=other, value=value)
            await witness.store(
                structure, remembered(witness.named("text"), namespace=other, value='"黑"\n咖啡')
            )
            for text, listed in (
                *((text, [structure.id]) for text in ('["咖啡", null', "4.5", "tea")),
                *((text, [witness.named("text")]) for text in ('"黑', "\n咖啡")),
                *((text, []) for text in ("4.50", "\\n咖啡", "\\u")),
            ):
                found_ids = ids_of(await witness.listed(other, containing=text))
                expect(found_ids, listed, f"what is listed by {text!r} in values")

    @law
    async def test_l16_filter(self) -> None:
        """L16 filter: a reader in one app finds a part of what a reader without an app finds, and never short-term memories."""
        async with self.open() as witness:
            user = await _some_memories(witness)
            whole = found(await witness.search(user))
            for app in APPS:
                reader = Namespace(user.user, app)
                seen = {key: one for key, one in whole.items() if reader.sees(one[0].namespace)}
                expect(found(await witness.search(reader)), seen, f"what is found in app {app!r}")
                visible = [memory for memory in await witness.listed(user) if reader.sees(memory.namespace)]
                expect(list(await witness.listed(reader)), visible, f"what is listed in app {app!r}")
            types = {memory.memory_type for memory, _, _ in whole.values()}
            expect(types, {"long_term"}, "the types of what is found")

    @law
    async def test_l16_filter_promote(self) -> None:
        """L16 filter: a promoted memory is found, promoting it again changes nothing, and a demoted one is not found."""
        async with self.open() as witness:
            user, mark = witness.user(), witness.repository.mark
            draft = remembered(
                witness.named("1"), namespace=user, memory_type="short_term", space=SPACE, vector=VECTORS[0]
            )
            await witness.store(evolve(draft, pinned=True))
            for memory_type in ("long_term", "long_term", "short_term", "short_term", "long_term"):
                await witness.get(mark(Mark(user, draft.id, memory_type)))
                is_found = draft.id in found(await witness.search(user))
                expect(is_found, memory_type == "long_term", f"whether it is found as {memory_type}")
                memory = await witness.memory(user, draft.id)
                marked = memory and (memory.memory_type, memory.version, memory.pinned)
                expect(marked, (memory_type, 1, True), "type, version and pin")
            before = await witness.memory(user, draft.id)
            changes: tuple[dict[str, Any], ...] = ({}, {"memory_type": "short_term", "pinned": False})
            for change in changes:
                expected = before and evolve(before, **change)
                answer = await witness.get(mark(Mark(user, draft.id, **change)))
                expect(answer and plain(answer), expected, f"the answer to a mark of {change}")
                expect(await witness.memory(user, draft.id), expected, f"the memory after a mark of {change}")

    @law
    async def test_l20_errors(self) -> None:
        """L20 errors: a released repository fails with a tagged error, or really does the operation."""
        async with self.open() as witness:
            user = witness.user()
            await witness.store(remembered(witness.named("1"), namespace=user))
        draft = remembered(witness.named("2"), namespace=user)

        async def written(later: MemoryWitness) -> bool:
            return await later.memory(user, draft.id) is not None

        store, read = witness.repository.store((draft,)), witness.repository.get(user, witness.named("1"))
        await self.expect_no_pretence(witness, store, read, written)


def _is_in(text: str, other: str) -> bool:
    return text == other or {text, other} <= {"Tea", "tEA"}


async def _some_memories(witness: MemoryWitness) -> Namespace:
    """Store a dozen memories of one user: in some apps, of few instants, some of them superseded or short-term."""
    user = witness.user("会")
    for number, (app, instant) in zip(range(12), product(APPS[:4], INSTANTS[:3]), strict=True):
        draft = remembered(
            witness.named(f"{number}"),
            namespace=Namespace(user.user, app),
            key=(None, "c_ty", "city", "C_TY")[number % 4],
            tags=((), ("work",), ("Work", "work"))[number % 3],
            session_id=(None, "会", "会议")[number // 2 % 3],
            memory_type="short_term" if number % 5 == 1 else "long_term",
            source="inferred" if number % 3 == 1 else "user_stated",
            created_at=instant,
            terms=TERMS[number],
            space=SPACE if number % 2 else None,
            vector=VECTORS[number % len(VECTORS)] if number % 2 else None,
        )
        await witness.store(draft)
    await witness.store(remembered(witness.named("12"), namespace=user, replaces=witness.named("2")))
    return user


async def _pages(witness: MemoryWitness, user: Namespace, size: int, **filters: Any) -> tuple[Memory, ...]:
    joined: tuple[Memory, ...] = ()
    after = None
    for _ in range(100):  # a cursor that does not move must not hang the law
        page = await witness.listed(user, limit=size, after=after, **filters)
        if not page:
            break
        joined += page
        after = (page[-1].created_at, page[-1].id)
    return joined


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
            user = witness.user()
            sessions = [witness.named(name) for name in ("会议", "会")]
            # Ids in the order of code points: it decides between memories of one instant.
            ids = {session: [witness.named(f"{session} {name}") for name in ORDERED] for session in sessions}
            for number, term in reversed([*enumerate(TERMS)]):  # the sessions take turns
                at = START + timedelta(minutes=number // 7)
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
            # These need no vector: an ended memory, a short-term one, and one of another user.
            old = remembered(witness.named("old"), namespace=user)
            await witness.store(
                old, remembered(witness.named("short"), namespace=user, memory_type="short_term")
            )
            await witness.store(remembered(witness.named("his"), namespace=witness.user("b")))
            for number, (space, vector) in enumerate(placed):
                draft = remembered(ids[number], namespace=user, space=space, vector=vector)
                at, replaces = START - number // 2 * HOUR, None if number else old.id
                await witness.store(evolve(draft, created_at=at, replaces=replaces))
            for memory_id, (space, vector) in zip(ids[:3], placed[:3], strict=True):
                query = {"terms": (), "space": space, "vector": vector}
                candidates = await witness.search(user, **query)
                expect(set(found(candidates)), {memory_id}, f"what is similar in {space}")
                expect(candidates.coverage, Coverage(1, len(ids)), f"the coverage in {space}")
            lacking, count = await witness.get(repository.unembedded(user, SPACE, limit=2))
            expect(
                (ids_of(lacking), count),
                ([ids[1], ids[3]], 3),
                "the newest two that have no vector of the space",
            )
            after = (lacking[-1].created_at, lacking[-1].id)
            lacking, count = await witness.get(repository.unembedded(user, SPACE, limit=2, after=after))
            expect((ids_of(lacking), count), ([ids[2]], 3), "the other one that has no vector of the space")
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
