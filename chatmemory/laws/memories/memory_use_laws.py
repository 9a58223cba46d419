"""The laws of using memories: L17."""

from datetime import timedelta
from functools import partial

from attrs import evolve

from chatmemory.laws.kit.law import expect, law
from chatmemory.laws.kit.samples import START
from chatmemory.laws.memories.memory_samples import INSTANTS, SOURCES, SPACE, VECTORS, remembered
from chatmemory.laws.memories.memory_witness import MemoryRepositoryUnderTest
from chatmemory.longterm.memories import UseReport

PROMOTE_AFTER = 3  # sessions


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
            use = partial(witness.repository.record_use, user, session_id=None)
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
                report = await witness.get(use(used, use_id=use_id, now=now))
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
                use = witness.repository.record_use(
                    user, (witness.named("1"),), use_id=f"{number}", session_id="s", now=START
                )
                await witness.get(use)
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
                use = witness.repository.record_use(
                    user,
                    ids,
                    use_id=f"{number}",
                    session_id=session_id,
                    now=START,
                    promote_after=PROMOTE_AFTER,
                )
                expect(
                    await witness.get(use), UseReport(len(ids), promoted), f"use {number}, in {session_id!r}"
                )
            types = [
                memory and memory.memory_type for memory in [await witness.memory(user, one) for one in ids]
            ]
            expect(types, ["long_term"] + ["short_term"] * (len(ids) - 1), "types after these uses")
