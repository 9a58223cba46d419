"""The laws of concurrent writes and of cancellation: L6, L7; of queued history work: W1 to W4."""

from datetime import timedelta
from functools import partial

from anyio.lowlevel import checkpoint

from chatmemory.conversation.message_repository import (
    LONGEST_WAIT,
    Append,
    Appended,
    HistoryWork,
    MessageDraft,
    WorkThreshold,
)
from chatmemory.effect import Failure, Outcome, Success
from chatmemory.errors import AppendError, VersionConflictError
from chatmemory.laws.kit.law import Cancellation, LawBrokenError, expect, expect_one_of, law, race
from chatmemory.laws.kit.samples import ALWAYS, MINUTE, START, batch, said
from chatmemory.laws.messages.witness import MessageRepositoryUnderTest, Witness

WRITERS = 8
BATCHES = 6  # by each writer
SIZE = 3  # messages in a batch
CLAIMANTS = 6
A_MONTH = timedelta(days=30)
SOON = START + MINUTE


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
                    await witness.append(talk, *_batch(f"{writer}.{number}"))

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
            conversation = await witness.conversation(talk)
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
    await witness.append(talk, *first)
    await cancellation.of(lambda: witness.ask(append(batch(talk, *lost))))
    await witness.append(talk, *next_)
    ids = [message.id for message in await witness.read(talk)]
    without, with_, late = (
        [draft.id for draft in drafts]
        for drafts in (first + next_, first + lost + next_, first + next_ + lost)
    )
    expect_one_of(ids, (without, with_, late), f"the messages after {cancellation}")
    answer = await witness.append(talk, *lost)
    expect(answer.stored + answer.duplicates, tuple(draft.id for draft in lost), "what the retry answers for")
    conversation = await witness.conversation(talk)
    kept = await witness.read(talk)
    expect(sorted(message.id for message in kept), sorted(with_), "the messages after a retry")
    counts = conversation and (conversation.version, conversation.message_count, conversation.open_count)
    expect(counts, (3, len(kept), len(kept)), "version and counts")


class WorkLaws(MessageRepositoryUnderTest):
    """Work is queued with the messages that make it due, held by one worker at a time, and removed when it is done."""

    @law
    async def test_w1_outbox(self) -> None:
        """W1 outbox: an append that makes work due queues it with its messages; a clear or a sufficient summary removes it."""
        async with self.open() as witness:
            talk = witness.named("a")
            answer = await witness.append(talk, said("1"))
            expect(
                (answer.work_is_due, await _claim(witness, talk)), (False, None), "without work that is due"
            )
            answer = await witness.append(talk, said("2"), threshold=WorkThreshold(open_count=2))
            expect(answer.work_is_due, True, "work is due after the second message")
            answer = await witness.append(talk, said("2a"))
            expect(answer.work_is_due, True, "work stays queued after an add that asks for none")
            expect(await _claim(witness, talk), HistoryWork(talk, 1, "lease"), "the work")
            for minutes, threshold, expected in (
                (10, ALWAYS, HistoryWork(talk, 2, "lease")),
                (20, None, None),
            ):
                await witness.summarize(talk, 0, 1, message_id=f"summary {expected}", threshold=threshold)
                expect(await _claim(witness, talk, minutes=minutes), expected, "the work after a summary")
            await witness.append(talk, said("3"), threshold=ALWAYS)
            await witness.clear(talk)
            expect(await _claim(witness, talk, minutes=30), None, "the work after a clear")

    @law
    async def test_w2_lease(self) -> None:
        """W2 lease: of many concurrent claims one gets the work, and no other until its lease expires."""
        async with self.open() as witness:
            talk, repository = witness.named("a"), witness.repository
            await witness.append(talk, said("1"), threshold=ALWAYS)
            claims: list[HistoryWork | None] = []

            async def claim(number: int) -> None:
                claims.append(await _claim(witness, talk, lease_id=f"lease {number}"))

            await race([partial(claim, number) for number in range(CLAIMANTS)])
            held = [work for work in claims if work is not None]
            expect(len(held), 1, "those who got the work")
            await witness.append(talk, said("2"), threshold=ALWAYS)
            expect(await _claim(witness, talk), None, "a claim during the lease, also after another add")
            late = await _claim(witness, talk, lease_id="late", minutes=1)
            expect(late, HistoryWork(talk, 2, "late"), "a claim after the lease")
            await witness.get(repository.settle_work(held[0], threshold=None))
            expect(
                await _claim(witness, talk, minutes=1),
                None,
                "a claim after the first holder came back too late",
            )
            expect(
                await _claim(witness, talk, minutes=2),
                HistoryWork(talk, 3, "lease"),
                "a claim after both leases",
            )

    @law
    async def test_w3_settle(self) -> None:
        """W3 settle: finished work is removed, unless more is due; failed work waits for its retry time, even after appends."""
        async with self.open() as witness:
            talk, repository = witness.named("a"), witness.repository
            await witness.append(talk, said("1"), threshold=ALWAYS, now=START)
            work = await _held(witness, talk)
            await witness.get(repository.settle_work(work, threshold=ALWAYS))
            work = await _held(witness, talk)
            await witness.get(repository.settle_work(work, threshold=None, retry_at=SOON))
            await witness.append(talk, said("2"), threshold=ALWAYS, now=START)
            expect(await _claim(witness, talk), None, "a claim before the time of the retry")
            work = await _held(witness, talk, minutes=1)
            expect(work.attempts, 2, "attempts since work was done last")
            await witness.get(repository.settle_work(work, threshold=None))
            expect(await _claim(witness, talk, minutes=60), None, "a claim after the work was done")

    @law
    async def test_w4_wrong_clock(self) -> None:
        """W4 wrong clock: a wait or lease of a clock that ran ahead does not block work once the clock is right again."""
        async with self.open() as witness:
            talk, repository = witness.named("a"), witness.repository
            await witness.append(talk, said("1"), threshold=ALWAYS, now=START)
            work = await _held(witness, talk)
            await witness.get(repository.settle_work(work, threshold=None, retry_at=START + A_MONTH))
            await _held(witness, talk)
            await _held(witness, talk, minutes=A_MONTH // MINUTE)
            work = await _held(witness, talk, minutes=1)
            await witness.get(repository.settle_work(work, threshold=None, retry_at=START + LONGEST_WAIT))
            for minutes, whose in ((0, "this clock"), (-1, "a clock that is a minute behind")):
                early = await _claim(witness, talk, minutes=minutes)
                expect(early, None, f"a claim by {whose} before the time of a retry that may be")


async def _claim(
    witness: Witness, talk: str, *, lease_id: str = "lease", minutes: int = 0
) -> HistoryWork | None:
    """Claim the work of *talk* for a minute, some minutes after the start."""
    now = START + minutes * MINUTE
    claim = witness.repository.claim_work(
        now=now, lease_id=lease_id, lease_until=now + MINUTE, conversation_id=talk
    )
    return await witness.get(claim)


async def _held(witness: Witness, talk: str, *, minutes: int = 0) -> HistoryWork:
    """Claim work, and break the law when there is none."""
    work = await _claim(witness, talk, minutes=minutes)
    if work is None:
        raise LawBrokenError(f"no work to claim after {minutes} minutes")
    return work
