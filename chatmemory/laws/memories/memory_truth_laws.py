"""The laws of current and past truth: T1 to T4; of counting uses: L17."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from attrs import evolve

from chatmemory.access.namespace import Namespace
from chatmemory.effect.outcome import Failure
from chatmemory.errors import MemoryChangedError
from chatmemory.laws.kit.law import expect, law
from chatmemory.laws.kit.samples import HOUR, START
from chatmemory.laws.memories.memory_witness import (
    APPS,
    INSTANTS,
    PUT,
    SOURCES,
    SPACE,
    TERMS,
    VECTORS,
    MemoryRepositoryUnderTest,
    MemoryWitness,
    found,
    ids_of,
    plain,
    remembered,
)
from chatmemory.longterm.memories import Provenance, Stored, UseReport

# The events of T2, by hour; in every other hour a memory is added.
VALUE_PUT_AT = (2, 6, 7, 10)
PLACE_TAKEN_AT = 5  # by a memory of another key
RETIRED_AT = 8
PROMOTE_AFTER = 3  # sessions

CORRECTION: Final[Mapping[str, Any]] = {
    "content": "住在上海",
    "key": "城市",
    "value": ["上海"],
    "category": "preference",
    "tags": ("home",),
    "confidence": 0.5,
    "source": "inferred",
    "provenance": Provenance(("m9",)),
    "attribute": "residence",
}
"""The fields that a correction changes; all others stay as they were."""


class MemoryTruthLaws(MemoryRepositoryUnderTest):
    """The truth of a memory has a beginning and an end, and an ended memory can still be read."""

    @law
    async def test_t1_truth(self) -> None:
        """T1 truth: one memory of a key is true, the last that was put; each earlier one ended when its successor began."""
        async with self.open() as witness:
            user = witness.user()
            ids = [witness.named(f"{number}") for number in range(5)]
            for number, memory_id in enumerate(ids):
                put = remembered(
                    memory_id,
                    namespace=user,
                    key="城市",
                    **PUT,
                    created_at=START + number * HOUR,
                )
                outcome = Stored(memory_id, superseded=tuple(ids[number - 1 : number] if number else ()))
                expect(await witness.store(put), (outcome,), f"the answer to put number {number}")
                expect(ids_of(await witness.listed(user)), [memory_id], "what is true of the key")
            for number, memory_id in enumerate(ids[:-1]):
                ended = await witness.end(user, memory_id)
                expect(ended, (START + (number + 1) * HOUR, ids[number + 1]), f"the end of number {number}")
            retired = await witness.get(witness.repository.retire(user, "城市", now=START + 9 * HOUR))
            expect(retired, True, "whether there was something to retire")
            expect(await witness.listed(user), (), "what is true after it")
            expect(await witness.end(user, ids[-1]), (START + 9 * HOUR, None), "the end of the last one")

    @law
    async def test_t4_one_value(self) -> None:
        """T4 one value: a value that is restored ends the present value of its key; a label of the same name is not a value."""
        async with self.open() as witness:
            user, now = witness.user(), START + 9 * HOUR
            old, new, label = [
                remembered(witness.named(name), namespace=user, key="城市", created_at=START + hour * HOUR)
                for hour, name in enumerate(("old", "new", "label"))
            ]
            old, new = evolve(old, **PUT), evolve(new, **PUT)
            await witness.store(old, new, label)
            repository = witness.repository
            await witness.get(repository.restore(user, old.id, now=now))
            expect(ids_of(await witness.listed(user)), [label.id, old.id], "what is true after the restoring")
            expect(await witness.end(user, new.id), (now, old.id), "the end of the newer value")
            await witness.get(repository.restore(user, old.id, now=now + HOUR))
            expect(
                ids_of(await witness.listed(user, value_prefix="")), [old.id], "the values after a repetition"
            )
            await witness.get(repository.retire(user, "城市", now=now + HOUR))
            expect(ids_of(await witness.listed(user)), [label.id], "what is true after the retiring")

    @law
    async def test_t2_time_travel(self) -> None:
        """T2 time travel: a read as of an instant returns what could be read then, in lists, values and searches."""
        async with self.open() as witness:
            user = witness.user()
            then: dict[datetime, object] = {}
            for hour in range(12):
                now = START + hour * HOUR
                draft = remembered(
                    witness.named(f"{hour}"),
                    namespace=user,
                    key=("城市", "city")[hour % 2],
                    created_at=now,
                    terms=TERMS[hour],
                    space=SPACE,
                    vector=VECTORS[hour % len(VECTORS)],
                    **(PUT if hour in VALUE_PUT_AT else {}),
                    replaces=witness.named("3") if hour == PLACE_TAKEN_AT else None,
                )
                await witness.store(draft)
                if hour == RETIRED_AT:
                    await witness.get(witness.repository.retire(user, "city", now=now))
                then[now] = await _readable(witness, user)
            for instant, seen in then.items():
                # Long after the instant as well as at it: nothing else happened within the hour.
                for as_of in (instant, instant + HOUR - timedelta(microseconds=1)):
                    expect(await _readable(witness, user, as_of=as_of), seen, f"what is read as of {as_of}")

    @law
    async def test_t3_correct(self) -> None:
        """T3 correct: a correction changes a memory's content, raises its version by 1, and needs the version that was read."""
        async with self.open() as witness:
            user = witness.user()
            first = remembered(
                witness.named("1"), namespace=user, terms="tea", space=SPACE, vector=VECTORS[0]
            )
            first = evolve(first, session_id="会议", role="assistant", pinned=True)
            await witness.store(first, remembered(witness.named("2"), namespace=user))
            await witness.use(user, first.id, session_id=None)
            other = await witness.memory(user, witness.named("2"))
            before = await witness.memory(user, first.id)
            reader = Namespace(user.user, APPS[1])
            said = remembered(
                first.id, namespace=reader, terms="绿茶", memory_type="short_term", **CORRECTION
            )
            said = evolve(said, created_at=START + HOUR)
            stale = await witness.ask(witness.repository.rewrite(said, expected_version=2))
            expect(stale, Failure(MemoryChangedError(first.id, 2, 1)), "the answer to an unread version")
            expect(await witness.memory(user, first.id), before, "the memory after it")
            answer = await witness.get(witness.repository.rewrite(said, expected_version=1))
            corrected = before and plain(evolve(before, **CORRECTION, embedding=None, version=2))
            expect(answer and plain(answer), corrected, "the answer to the correction")
            expect(await witness.memory(user, first.id), corrected, "the memory after the correction")
            expect(await witness.memory(user, witness.named("2")), other, "another memory")
            by_old = found(await witness.search(user, terms=("tea",)))
            by_new = found(await witness.search(user, terms=("绿茶",)))
            expect(len(by_old), 0, "how many its old words find")
            expect(list(by_new), [first.id], "what its new words find")
            another = evolve(said, space=SPACE, vector=VECTORS[1])
            await witness.get(witness.repository.rewrite(another, expected_version=2))
            without = evolve(said, content="住在苏州")
            await witness.get(witness.repository.rewrite(without, expected_version=3, keep_vector=True))
            by_vector = found(await witness.search(user, terms=()))
            similarities = [similarity for _, _, similarity in by_vector.values()]
            expect(similarities, [-1.0], "the similarity by a vector that a correction kept")


async def _readable(witness: MemoryWitness, user: Namespace, *, as_of: datetime | None = None) -> object:
    """Return what is true in lists, by key and in searches."""
    listed = await witness.listed(user, as_of=as_of)
    values = [await witness.get(witness.repository.value(user, key, as_of=as_of)) for key in ("城市", "city")]
    candidates = await witness.search(user, as_of=as_of)
    alike = {key: (terms, similarity) for key, (_, terms, similarity) in found(candidates).items()}
    return ids_of(listed), [value and value.id for value in values], alike, candidates.coverage


class MemoryUseLaws(MemoryRepositoryUnderTest):
    """Each use is counted once; all else is not counted."""

    @law
    async def test_l17_access(self) -> None:
        """L17 access: a use counts 1 for each memory that is seen, and changes only the count, the time and the last use."""
        async with self.open() as witness:
            user, stranger = witness.user("a"), witness.user("A")
            ids = tuple(witness.named(f"{number}") for number in range(3))
            for memory_id in ids:
                await witness.store(remembered(memory_id, namespace=user))
            await witness.store(remembered(witness.named("his"), namespace=stranger))
            expected = {memory_id: await witness.memory(user, memory_id) for memory_id in ids}
            # Repeated, named twice, not seen, unknown: each of these counts nothing.
            for use_id, used, counted in (
                ("1", (ids[0],), (ids[0],)),
                ("1", (ids[0], ids[1]), (ids[1],)),
                ("2", (ids[0], ids[0], ids[2]), (ids[0], ids[2])),
                ("2", ids, (ids[1],)),
                ("3", (witness.named("his"), witness.named("nobody")), ()),
            ):
                now = START + timedelta(hours=int(use_id), minutes=len(used))
                report = await witness.use(user, *used, use_id=use_id, session_id=None, now=now)
                expect(report, UseReport(len(counted)), f"the report of use {use_id} of {used}")
                for memory_id in counted:
                    before = expected[memory_id]
                    expected[memory_id] = before and evolve(
                        before, access_count=before.access_count + 1, last_accessed=now
                    )
                for memory_id in ids:
                    memory = await witness.memory(user, memory_id)
                    expect(memory, expected[memory_id], f"{memory_id} after use {use_id} of {used}")
            his = await witness.memory(stranger, witness.named("his"))
            expect(his and (his.access_count, his.last_accessed), (0, None), "uses of another user's memory")

    @law
    async def test_l17_access_peeks(self) -> None:
        """L17 access: reading, listing and searching change nothing, and uses do not change the results of a search."""
        async with self.open() as witness:
            user = witness.user()
            for number, vector in enumerate(VECTORS):
                draft = remembered(
                    witness.named(f"{number}"), namespace=user, terms="tea", space=SPACE, vector=vector
                )
                await witness.store(draft)
            query = {"terms": ("tea",), "limit": 3}
            before = await witness.observe(user, instants=INSTANTS)
            chosen = {candidate.memory.id for candidate in (await witness.search(user, **query)).found}
            expect(await witness.observe(user, instants=INSTANTS), before, "what is read after reading")
            for number in range(5):
                await witness.use(user, witness.named("1"), use_id=f"{number}")
            again = {candidate.memory.id for candidate in (await witness.search(user, **query)).found}
            expect(again, chosen, "what is found after one of them was used")

    @law
    async def test_l17_access_promotes(self) -> None:
        """L17 access: use in enough sessions promotes what the user stated, and no memory from other sources."""
        async with self.open() as witness:
            user = witness.user()
            ids = tuple(witness.named(f"{source} {role}") for source, role in SOURCES)
            for memory_id, (source, role) in zip(ids, SOURCES, strict=True):
                draft = remembered(
                    memory_id, namespace=user, source=source, role=role, memory_type="short_term"
                )
                await witness.store(draft)
            for number, (session_id, promoted) in enumerate(
                [("会", ()), ("会", ()), (None, ()), ("会议", ()), ("会 ", (ids[0],)), ("a", ())]
            ):
                after = PROMOTE_AFTER if number > 1 else None
                report = await witness.use(
                    user, *ids, use_id=f"{number}", session_id=session_id, promote_after=after
                )
                expect(report, UseReport(len(ids), promoted), f"use {number}, in {session_id!r}")
            types = [
                memory and memory.memory_type for memory in [await witness.memory(user, one) for one in ids]
            ]
            expect(types, ["long_term"] + ["short_term"] * (len(ids) - 1), "types after these uses")
