"""The laws of concurrent writes and of cancellation: L6, L7."""

from functools import partial

from anyio.lowlevel import checkpoint

from chatmemory.conversation.message_repository import Append, Appended, MessageDraft
from chatmemory.effect import Failure, Outcome, Success
from chatmemory.errors import AppendError, VersionConflictError
from chatmemory.laws.kit.concurrency import Cancellation, race
from chatmemory.laws.kit.law import expect, expect_one_of, law
from chatmemory.laws.kit.samples import batch, said
from chatmemory.laws.messages.witness import MessageRepositoryUnderTest, Witness

WRITERS = 8
BATCHES = 6  # by each writer
SIZE = 3  # messages in a batch


class ConcurrencyLaws(MessageRepositoryUnderTest):
    """Many writers at the same time; each gets the result that it would get alone."""

    @law
    async def test_l6_cancel(self) -> None:
        """L6 cancel: a cancelled append is whole or absent, the next operation succeeds, and a retry makes it whole once."""
        async with self.open() as witness:
            for round_ in range(self.rounds):
                await _cancel_once(witness, witness.named(f"{round_}"), self.cancellation(round_))

    @law
    async def test_l7_race(self) -> None:
        """L7 race: concurrent appends result in a sequence of whole batches, each writer's in order, at every moment."""
        async with self.open() as witness:
            talk = witness.named("a")
            sizes_seen: set[int] = set()

            async def write(writer: int) -> None:
                for number in range(BATCHES):
                    append = batch(talk, *_batch(f"{writer}.{number}"))
                    await witness.get(witness.repository.append(append))

            async def read() -> None:
                while True:
                    sizes_seen.add(len(await witness.read(talk)) % SIZE)
                    sizes_seen.add(len(await witness.read(talk, "model")) % SIZE)
                    await checkpoint()

            await race([partial(write, writer) for writer in range(WRITERS)], meanwhile=read)
            expect(sizes_seen, {0}, f"remainders of a batch of {SIZE} that a reader saw")
            full = await witness.read(talk)
            names = [message.id.rpartition(".")[0] for message in full]
            expect(names[0::SIZE], names[1::SIZE], "the first and second messages of the batches")
            expect(names[0::SIZE], names[2::SIZE], "the first and third messages of the batches")
            for writer in range(WRITERS):
                order = [name for name in names[0::SIZE] if name.startswith(f"{writer}.")]
                expect(
                    order,
                    [f"{writer}.{number}" for number in range(BATCHES)],
                    f"the order of writer {writer}",
                )
            conversation = await witness.get(witness.repository.conversation(talk))
            counted = conversation and (
                conversation.version,
                conversation.message_count,
                conversation.view_count,
            )
            expect(counted, (WRITERS * BATCHES, len(full), len(full)), "version and counts")

    @law
    async def test_l7_race_for_a_version(self) -> None:
        """L7 race: of several writers that expect the same version, one wins, and the others get the new version."""
        async with self.open() as witness:
            talk = witness.named("a")

            async def write(outcomes: list[Outcome[Appended, AppendError]], append: Append) -> None:
                outcomes.append(await witness.ask(witness.repository.append(append)))

            for version in range(4):
                outcomes: list[Outcome[Appended, AppendError]] = []

                writes = [
                    batch(talk, *_batch(f"{version}.{writer}"), expected_version=version)
                    for writer in range(WRITERS)
                ]
                await race([partial(write, outcomes, append) for append in writes])
                failures = [outcome for outcome in outcomes if not isinstance(outcome, Success)]
                stale = Failure(VersionConflictError(talk, version, version + 1))
                expect(failures, [stale] * (WRITERS - 1), "the answers to those who came late")
            expect(len(await witness.read(talk)), 4 * SIZE, "messages kept")


def _batch(name: str) -> list[MessageDraft]:
    return [said(f"{name}.{part}") for part in range(SIZE)]


async def _cancel_once(witness: Witness, talk: str, cancellation: Cancellation) -> None:
    first, lost, next_ = (_batch(name) for name in ("first", "lost", "next"))
    append = witness.repository.append
    await witness.get(append(batch(talk, *first)))
    await cancellation.of(lambda: witness.ask(append(batch(talk, *lost))))
    await witness.get(append(batch(talk, *next_)))
    ids = [message.id for message in await witness.read(talk)]
    without, with_, late = (
        [draft.id for draft in drafts]
        for drafts in (first + next_, first + lost + next_, first + next_ + lost)
    )
    expect_one_of(ids, (without, with_, late), f"the messages after {cancellation}")
    answer = await witness.get(append(batch(talk, *lost)))
    expect(answer.stored + answer.duplicates, tuple(draft.id for draft in lost), "what the retry answers for")
    conversation = await witness.get(witness.repository.conversation(talk))
    kept = await witness.read(talk)
    expect(sorted(message.id for message in kept), sorted(with_), "the messages after a retry")
    counts = conversation and (conversation.version, conversation.message_count, conversation.open_count)
    expect(counts, (3, len(kept), len(kept)), "version and counts")
