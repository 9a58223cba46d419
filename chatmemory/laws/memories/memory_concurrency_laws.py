"""The laws of concurrent writes of memories and of cancellation: L6, L7, and L17 under concurrency."""

from functools import partial

from anyio.lowlevel import checkpoint

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Failure, Outcome, Success
from chatmemory.errors import MemoryNotFoundError, MemoryStoreError
from chatmemory.laws.kit.law import Cancellation, expect, expect_one_of, law, race
from chatmemory.laws.memories.memory_witness import (
    PUT,
    MemoryRepositoryUnderTest,
    MemoryWitness,
    dedup_key,
    ids_of,
    remembered,
)
from chatmemory.longterm.memories import Duplicate, SaveOutcome, Stored
from chatmemory.longterm.repository_values import MemoryDraft

WRITERS = 8
BATCHES = 5  # by each writer
SIZE = 3  # memories in a batch

Answers = list[Outcome[tuple[SaveOutcome, ...], MemoryStoreError]]


class MemoryConcurrencyLaws(MemoryRepositoryUnderTest):
    """Many writers at the same time; each gets the result that it would get alone."""

    @law
    async def test_l6_cancel(self) -> None:
        """L6 cancel: a cancelled store is whole or absent, the next operation succeeds, and a retry makes it whole once."""
        async with self.open() as witness:
            for round_ in range(self.rounds):
                await _cancel_once(witness, witness.user(f"{round_}"), self.cancellation(round_))

    @law
    async def test_l7_race(self) -> None:
        """L7 race: concurrent batches are all stored, each whole, at every moment."""
        async with self.open() as witness:
            user = witness.user()
            sizes_seen: set[int] = set()

            async def write(writer: int) -> None:
                for number in range(BATCHES):
                    await witness.store(*_batch(witness, user, f"{writer}.{number}"))

            async def read() -> None:
                while True:
                    sizes_seen.add(len(await witness.listed(user)) % SIZE)
                    await checkpoint()

            await race([partial(write, writer) for writer in range(WRITERS)], meanwhile=read)
            expect(sizes_seen, {0}, f"remainders of a batch of {SIZE} that a reader saw")
            expect(len(await witness.listed(user)), WRITERS * BATCHES * SIZE, "memories kept")

    @law
    async def test_l7_race_for_a_dedup_key(self) -> None:
        """L7 race: of several writers of the same memory one stores it, and the others get its id."""
        async with self.open() as witness:
            user = witness.user()
            for key in range(BATCHES):
                drafts = [
                    remembered(
                        witness.named(f"{key}.{writer}"), namespace=user, dedup_key=dedup_key(f"{key}")
                    )
                    for writer in range(WRITERS)
                ]
                answers = await _race_to_store(witness, drafts)
                kept = [memory for memory in ids_of(await witness.listed(user)) if f" {key}." in memory]
                expect(len(kept), 1, "memories kept of those with one dedup key")
                stored = [answer for answer in answers if answer == Success((Stored(kept[0]),))]
                told = [answer for answer in answers if answer == Success((Duplicate(kept[0]),))]
                expect((len(stored), len(told)), (1, WRITERS - 1), f"stored and duplicates in {answers}")

    @law
    async def test_l7_race_for_a_place(self) -> None:
        """L7 race: of several writers that replace the same memory one succeeds, and the others do not find it."""
        async with self.open() as witness:
            user = witness.user()
            old = remembered(witness.named("old"), namespace=user)
            await witness.store(old)
            drafts = [
                remembered(witness.named(f"{writer}"), namespace=user, replaces=old.id)
                for writer in range(WRITERS)
            ]
            answers = await _race_to_store(witness, drafts)
            kept = ids_of(await witness.listed(user))
            expect(len(kept), 1, "memories that are true")
            late = [answer for answer in answers if answer == Failure(MemoryNotFoundError(old.id))]
            expect(len(late), WRITERS - 1, f"failures in {answers}")
            ended = await witness.memory(user, old.id)
            expect(ended and ended.superseded_by, kept[0], "what superseded the old one")

    @law
    async def test_l7_race_for_a_key(self) -> None:
        """L7 race: of several writers of one key, the last one's memory is true now; the other memories were true before."""
        async with self.open() as witness:
            user = witness.user()
            drafts = [
                remembered(witness.named(f"{writer}"), namespace=user, key="城市", **PUT)
                for writer in range(WRITERS)
            ]
            answers = await _race_to_store(witness, drafts)
            expect(len(await witness.listed(user)), 1, "memories that are true of the key")
            replaced = [one for answer in answers for stored in answer.unwrap() for one in _replaced(stored)]
            expect(len(set(replaced)), WRITERS - 1, f"memories that were replaced, in {answers}")
            expect(len(replaced), WRITERS - 1, f"how often one was replaced, in {answers}")

    @law
    async def test_l17_access_at_once(self) -> None:
        """L17 access: concurrent uses of one memory are all counted, and concurrent repetitions of one use count once."""
        async with self.open() as witness:
            user = witness.user()
            draft = remembered(witness.named("1"), namespace=user, memory_type="short_term")
            await witness.store(draft)
            promoted: list[str] = []

            async def use(use_id: str) -> None:
                report = await witness.use(
                    user, draft.id, use_id=use_id, session_id=use_id, promote_after=WRITERS
                )
                promoted.extend(report.promoted)

            await race([partial(use, f"{writer}") for writer in range(WRITERS)])
            memory = await witness.memory(user, draft.id)
            expect(memory and memory.access_count, WRITERS, "uses counted")
            expect(promoted, [draft.id], "what they promoted, at the last of them")
            await race([partial(use, "once") for _ in range(WRITERS)])
            memory = await witness.memory(user, draft.id)
            expect(memory and memory.access_count, WRITERS + 1, "uses counted after one that was repeated")


def _batch(witness: MemoryWitness, user: Namespace, name: str) -> list[MemoryDraft]:
    return [remembered(witness.named(f"{name}.{part}"), namespace=user) for part in range(SIZE)]


def _replaced(outcome: SaveOutcome) -> tuple[str, ...]:
    return outcome.superseded if isinstance(outcome, Stored) else ()


async def _race_to_store(witness: MemoryWitness, drafts: list[MemoryDraft]) -> Answers:
    """Store each of *drafts* by its own writer, all at once, and return the answers."""
    answers: Answers = []

    async def write(draft: MemoryDraft) -> None:
        answers.append(await witness.ask(witness.repository.store((draft,))))

    await race([partial(write, draft) for draft in drafts])
    return answers


async def _cancel_once(witness: MemoryWitness, user: Namespace, cancellation: Cancellation) -> None:
    first, lost, next_ = (_batch(witness, user, f"{user.user} {name}") for name in ("first", "lost", "next"))
    await witness.store(*first)
    await cancellation.of(lambda: witness.ask(witness.repository.store(tuple(lost))))
    await witness.store(*next_)
    kept = set(ids_of(await witness.listed(user)))
    without = {draft.id for draft in first + next_}
    with_ = without | {draft.id for draft in lost}
    expect_one_of(kept, (without, with_), f"the memories after {cancellation}")
    answers = await witness.store(*lost)
    kinds = {outcome.outcome for outcome in answers}
    expect(len(kinds), 1, f"kinds of answers to the retry, {answers}")
    expect(set(ids_of(await witness.listed(user))), with_, "the memories after a retry")
