"""The laws of newer statements about the user, and of their undo: T4, T5, T6."""

from typing import Any

from attrs import evolve

from chatmemory.effect.outcome import Failure
from chatmemory.errors import MemoryConflictError, MemoryNotFoundError
from chatmemory.laws.kit.law import expect, law
from chatmemory.laws.kit.samples import DAY, HOUR, START
from chatmemory.laws.memories.memory_witness import MemoryRepositoryUnderTest, dedup_key, ids_of, remembered
from chatmemory.longterm.memories import Provenance, Retired, Stored


class MemoryAttributeLaws(MemoryRepositoryUnderTest):
    """A single-valued attribute has one true statement, the newest that the user made."""

    @law
    async def test_t4_attribute(self) -> None:
        """T4 attribute: a statement ends the user's earlier one about the same attribute, and no other, and reports it."""
        async with self.open() as witness:
            user, residence = witness.user(), "residence"
            untouched: dict[str, Any] = {
                "pinned": {"attribute": residence, "pinned": True},
                "assistant": {"attribute": residence, "role": "assistant"},
                "tool": {"attribute": residence, "role": "tool"},
                "inferred": {"attribute": residence, "source": "inferred"},
                "system": {"attribute": residence, "source": "system"},
                "file": {"attribute": residence, "provenance": Provenance(path="notes/a.md")},
                "other": {"attribute": "residence:sister"},
                "none": {"key": residence},
                "app": {"attribute": residence, "namespace": witness.user(app="work")},
                "user": {"attribute": residence, "namespace": witness.user("b")},
                "pet": {"attribute": "pet"},
            }
            for name, changes in untouched.items():
                said: dict[str, Any] = {"namespace": user, "created_at": START, **changes}
                await witness.store(remembered(witness.named(name), **said))
            first = remembered(
                witness.named("1"), "住在杭州", namespace=user, attribute=residence, created_at=START
            )
            second = evolve(
                first, id=witness.named("2"), content="I live in Shanghai now", created_at=START + HOUR
            )
            taken = evolve(first, id=witness.named("pet"), content="something else")
            expect(await witness.store(first), (Stored(first.id),), "the answer to the first statement")
            refused = await witness.ask(witness.repository.store((second, taken)))
            expect(
                refused, Failure(MemoryConflictError((taken.id,))), "the answer to a batch with a conflict"
            )
            before = await witness.memory(user, first.id)
            expect(before and before.superseded_at, None, "the end of the first one after it")
            for name in ("assistant", "tool", "inferred", "file"):
                words: dict[str, Any] = {"namespace": user, "created_at": START + HOUR, **untouched[name]}
                told = await witness.store(remembered(witness.named(f"{name} again"), "anders", **words))
                expect(told, (Stored(witness.named(f"{name} again")),), f"the answer to what says {name}")
            told = await witness.store(
                evolve(second, id=witness.named("pet 2"), attribute="pet"),
                evolve(second, id=witness.named("app 2"), namespace=witness.user(app="home")),
            )
            expect([answer.outcome for answer in told], ["stored"] * 2, "the answer to what ends nothing")
            retired = (Stored(second.id, (first.id,), (Retired(first.id, residence),)),)
            expect(await witness.store(second), retired, "the answer to the newer statement")
            ended = await witness.end(user, first.id)
            expect(ended, (START + HOUR, second.id), "the end of the first statement")
            for name, changes in untouched.items():
                kept = await witness.memory(changes.get("namespace", user), witness.named(name))
                expect(kept and kept.superseded_at, None, f"the end of what is never retired: {name}")
            read = await witness.memory(user, second.id)
            expect(read and read.attribute, residence, "the attribute that is read")
            # At the same time, in one batch, both values stay true: it is unknown which is newer.
            pair = [
                evolve(second, id=witness.named(name), content=name, created_at=START + DAY) for name in "ab"
            ]
            told = await witness.store(*pair)
            expect(told[1], Stored(pair[1].id), "the answer to the second of two that are said at once")

    @law
    async def test_t5_late(self) -> None:
        """T5 late: an older statement that arrives late ends nothing, and itself ends where the newer one began."""
        async with self.open() as witness:
            user = witness.user()
            newer = [
                remembered(
                    witness.named(f"{day}"),
                    f"day {day}",
                    namespace=user,
                    attribute="work",
                    created_at=START + day * DAY,
                )
                for day in (2, 3)
            ]
            await witness.store(newer[0])
            late = evolve(newer[0], id=witness.named("late"), content="before", created_at=START + DAY)
            expect(
                await witness.store(late),
                (Stored(late.id, superseded_by=newer[0].id),),
                "the answer to a statement that comes late",
            )
            expect(ids_of(await witness.listed(user)), [newer[0].id], "what is true now")
            then = await witness.listed(user, as_of=START + DAY)
            expect(ids_of(then), [late.id], "what was true before the newer one began")
            ended = await witness.end(user, late.id)
            expect(ended, (START + 2 * DAY, newer[0].id), "the end of the late one")
            told = await witness.store(evolve(newer[1], dedup_key=dedup_key("t5")))
            expect(told[0].outcome, "stored", "the answer to a newer one still")
            expect(ids_of(await witness.listed(user)), [newer[1].id], "what is true after it")

    @law
    async def test_t6_restore(self) -> None:
        """T6 restore: an ended memory is true again as if it had not ended, and the memory to replace is no longer true."""
        async with self.open() as witness:
            user, repository = witness.user(), witness.repository
            ids = [witness.named(f"{number}") for number in range(3)]
            for number, memory_id in enumerate(ids):
                said = remembered(
                    memory_id,
                    f"{number}",
                    namespace=user,
                    attribute="car",
                    created_at=START + number * HOUR,
                    dedup_key=dedup_key("t6"),
                )
                await witness.store(evolve(said, dedup_key=dedup_key(f"t6 {number}")))
            now = START + DAY
            both = await witness.get(repository.restore(user, ids[1], now=now))
            expect(
                (both.id, both.superseded_at, both.superseded_by), (ids[1], None, None), "what is restored"
            )
            expect(ids_of(await witness.listed(user)), [ids[2], ids[1]], "what is true beside it")
            for _ in range(2):  # a caller that lost the answer asks again
                await witness.get(repository.restore(user, ids[1], instead_of=ids[2], now=now))
            expect(ids_of(await witness.listed(user)), [ids[1]], "what is true instead of its successor")
            expect(await witness.end(user, ids[2]), (now, ids[1]), "the end of the successor")
            twin = remembered(
                witness.named("twin"), "0", namespace=user, created_at=now, dedup_key=dedup_key("t6 0")
            )
            await witness.store(twin)
            await witness.get(repository.restore(user, ids[0], now=now))
            expect(
                ids_of(await witness.listed(user)),
                [twin.id, ids[1], ids[0]],
                "what is true when another one says the same",
            )
            before = await witness.listed(user)
            for reader, memory_id, other in (
                (witness.user("b"), ids[0], None),
                (user, witness.named("unknown"), None),
                (user, ids[2], witness.named("unknown")),
            ):
                answer = await witness.ask(repository.restore(reader, memory_id, instead_of=other, now=now))
                missing = MemoryNotFoundError(other or memory_id)
                expect(answer, Failure(missing), "the answer to an id that is not seen")
            expect(await witness.listed(user), before, "what is true after refusals")
