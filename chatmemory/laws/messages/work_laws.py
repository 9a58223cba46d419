"""The laws of queued history work: W1, W2, W3, W4."""

from datetime import timedelta

import anyio

from chatmemory.conversation.message_repository import LONGEST_WAIT, HistoryWork, WorkThreshold
from chatmemory.laws.kit.law import LawBrokenError, expect, law
from chatmemory.laws.kit.samples import ALWAYS, START, batch, said, summary_of
from chatmemory.laws.messages.witness import MessageRepositoryUnderTest, Witness

CLAIMANTS = 6
SOON = START + timedelta(minutes=1)
MINUTE = timedelta(minutes=1)
A_MONTH = timedelta(days=30)
LATER = START + timedelta(minutes=2)


class WorkLaws(MessageRepositoryUnderTest):
    """Work is queued with the messages that make it due, held by one worker at a time, and removed when it is done."""

    @law
    async def test_w1_outbox(self) -> None:
        """W1 outbox: an append that makes work due queues it with its messages; a clear or a sufficient summary removes it."""
        async with self.open() as witness:
            talk, repository = witness.named("a"), witness.repository
            answer = await witness.get(repository.append(batch(talk, said("1"))))
            expect(
                (answer.work_is_due, await _claim(witness, talk)), (False, None), "without work that is due"
            )
            answer = await witness.get(
                repository.append(batch(talk, said("2"), threshold=WorkThreshold(open_count=2)))
            )
            expect(answer.work_is_due, True, "work is due after the second message")
            answer = await witness.get(repository.append(batch(talk, said("2a"))))
            expect(answer.work_is_due, True, "work stays queued after an add that asks for none")
            expect(await _claim(witness, talk), HistoryWork(talk, 1, "lease"), "the work")
            for minutes, threshold, expected in (
                (10, ALWAYS, HistoryWork(talk, 2, "lease")),
                (20, None, None),
            ):
                conversation = await witness.observe(talk)
                summary = summary_of(
                    talk,
                    conversation.model[:1],
                    message_id=f"summary {expected}",
                    planned_at_version=conversation.conversation.version if conversation.conversation else 0,
                    threshold=threshold,
                )
                await witness.get(repository.summarize(summary))
                expect(await _claim(witness, talk, minutes=minutes), expected, "the work after a summary")
            await witness.get(repository.append(batch(talk, said("3"), threshold=ALWAYS)))
            await witness.get(repository.clear(talk, now=START))
            expect(await _claim(witness, talk, minutes=30), None, "the work after a clear")

    @law
    async def test_w2_lease(self) -> None:
        """W2 lease: of many concurrent claims one gets the work, and no other until its lease expires."""
        async with self.open() as witness:
            talk, repository = witness.named("a"), witness.repository
            await witness.get(repository.append(batch(talk, said("1"), threshold=ALWAYS)))
            claims: list[HistoryWork | None] = []

            async def claim(number: int) -> None:
                claims.append(await _claim(witness, talk, lease_id=f"lease {number}"))

            async with anyio.create_task_group() as claimants:
                for number in range(CLAIMANTS):
                    claimants.start_soon(claim, number)
            held = [work for work in claims if work is not None]
            expect(len(held), 1, "those who got the work")
            await witness.get(repository.append(batch(talk, said("2"), threshold=ALWAYS)))
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
            await witness.get(repository.append(batch(talk, said("1"), threshold=ALWAYS, now=START)))
            work = await _held(witness, talk)
            await witness.get(repository.settle_work(work, threshold=ALWAYS))
            work = await _held(witness, talk)
            await witness.get(repository.settle_work(work, threshold=None, retry_at=SOON))
            await witness.get(repository.append(batch(talk, said("2"), threshold=ALWAYS, now=START)))
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
            await witness.get(repository.append(batch(talk, said("1"), threshold=ALWAYS, now=START)))
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
    now = START + timedelta(minutes=minutes)
    claim = witness.repository.claim_work(
        now=now, lease_id=lease_id, lease_until=now + timedelta(minutes=1), conversation_id=talk
    )
    return await witness.get(claim)


async def _held(witness: Witness, talk: str, *, minutes: int = 0) -> HistoryWork:
    """Claim work, and break the law when there is none."""
    work = await _claim(witness, talk, minutes=minutes)
    if work is None:
        raise LawBrokenError(f"no work to claim after {minutes} minutes")
    return work
