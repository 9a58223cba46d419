"""The laws of writing at once and of being cancelled: L6, L7."""

from collections.abc import Awaitable, Callable

import anyio
from anyio.lowlevel import checkpoint
from returns.result import Failure, Success

from chatmemory.contracts import Appended
from chatmemory.effect import Outcome
from chatmemory.errors import AppendError, VersionConflictError
from chatmemory.laws.law import expect, expect_one_of, law
from chatmemory.laws.repository_under_test import RepositoryUnderTest
from chatmemory.laws.samples import batch, said
from chatmemory.laws.witness import Witness

WRITERS = 8
BATCHES = 6  # by each writer
SIZE = 3  # messages in a batch
TURN_SECONDS = (
    0.0002  # a fifth of a fast commit: some rounds cancel before the write, some within, some behind it
)


async def cancelled(work: Callable[[], Awaitable[object]], *, after: int) -> None:
    """Run *work* and cancel it after some turns of the event loop, or on odd counts after some real time."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(work)
        if after % 2:
            await anyio.sleep(after * TURN_SECONDS)
        else:
            for _ in range(after):
                await checkpoint()
        tasks.cancel_scope.cancel()


class ConcurrencyLaws(RepositoryUnderTest):
    """Many writers, each as if it were alone."""

    @law
    async def test_l6_cancel(self) -> None:
        """L6 cancel: a cancelled append is whole or absent, the next operation succeeds, and a retry makes it whole once."""
        async with self.open() as witness:
            for round_ in range(self.rounds):
                await _cancel_once(witness, witness.named(f"{round_}"), after=round_ % 20)

    @law
    async def test_l7_race(self) -> None:
        """L7 race: concurrent appends end as some sequence of whole batches, each writer's in order, at every moment."""
        async with self.open() as witness:
            talk = witness.named("a")
            sizes_seen: set[int] = set()

            async def write(writer: int) -> None:
                for number in range(BATCHES):
                    drafts = [said(f"{writer}.{number}.{part}") for part in range(SIZE)]
                    await witness.get(witness.repository.append(batch(talk, *drafts)))

            async def read() -> None:
                while True:
                    sizes_seen.add(len(await witness.read(talk)) % SIZE)
                    sizes_seen.add(len(await witness.read(talk, "model")) % SIZE)
                    await checkpoint()

            await _race([lambda writer=writer: write(writer) for writer in range(WRITERS)], meanwhile=read)
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
        """L7 race: of several writers that expect the same version, one wins, and the others are told which it is now."""
        async with self.open() as witness:
            talk = witness.named("a")
            for version in range(4):
                outcomes: list[Outcome[Appended, AppendError]] = []

                async def write(
                    writer: int, version: int = version, outcomes: list[object] = outcomes
                ) -> None:
                    drafts = [said(f"{version}.{writer}.{part}") for part in range(SIZE)]
                    append = witness.repository.append(batch(talk, *drafts, expected_version=version))
                    outcomes.append(await witness.ask(append))

                await _race([lambda writer=writer: write(writer) for writer in range(WRITERS)])
                failures = [outcome for outcome in outcomes if not isinstance(outcome, Success)]
                stale = Failure(VersionConflictError(talk, version, version + 1))
                expect(failures, [stale] * (WRITERS - 1), "the answers to those who came late")
            expect(len(await witness.read(talk)), 4 * SIZE, "messages kept")


async def _cancel_once(witness: Witness, talk: str, *, after: int) -> None:
    first, lost, next_ = (
        [said(f"{name}.{part}", role="assistant") for part in range(SIZE)]
        for name in ("first", "lost", "next")
    )
    append = witness.repository.append
    await witness.get(append(batch(talk, *first)))
    await cancelled(lambda: witness.ask(append(batch(talk, *lost))), after=after)
    await witness.get(append(batch(talk, *next_)))
    ids = [message.id for message in await witness.read(talk)]
    without, with_, late = (
        [draft.id for draft in drafts]
        for drafts in (first + next_, first + lost + next_, first + next_ + lost)
    )
    expect_one_of(ids, (without, with_, late), f"the messages after an append cancelled after {after} turns")
    answer = await witness.get(append(batch(talk, *lost)))
    expect(answer.stored + answer.duplicates, tuple(draft.id for draft in lost), "what the retry answers for")
    conversation = await witness.get(witness.repository.conversation(talk))
    kept = await witness.read(talk)
    expect(sorted(message.id for message in kept), sorted(with_), "the messages after a retry")
    counts = conversation and (conversation.version, conversation.message_count, conversation.open_count)
    expect(counts, (3, len(kept), len(kept)), "version and counts")


async def _race(
    runners: list[Callable[[], Awaitable[None]]], meanwhile: Callable[[], Awaitable[None]] | None = None
) -> None:
    """Run all *runners* at once, and *meanwhile* until they are done; the first broken law is raised by itself."""
    broken: list[AssertionError] = []

    async def run(runner: Callable[[], Awaitable[None]]) -> None:
        try:
            await runner()
        except AssertionError as error:
            broken.append(error)

    async with anyio.create_task_group() as others:
        if meanwhile is not None:
            others.start_soon(run, meanwhile)
        async with anyio.create_task_group() as racing:
            for runner in runners:
                racing.start_soon(run, runner)
        others.cancel_scope.cancel()
    if broken:
        raise broken[0]
