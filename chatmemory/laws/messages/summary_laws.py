"""The law of summaries: L14, in sequence, in a race, cancelled, and read concurrently."""

from functools import partial

from anyio.lowlevel import checkpoint

from chatmemory.conversation.message_repository import PageQuery, Summary
from chatmemory.conversation.messages import Conversation
from chatmemory.effect import Failure, Outcome, Success
from chatmemory.errors import RepositoryError, VersionConflictError
from chatmemory.laws.kit.law import Cancellation, expect, expect_one_of, law, race
from chatmemory.laws.kit.samples import INSTANTS, batch, said, summary_of
from chatmemory.laws.messages.witness import MessageRepositoryUnderTest, Witness

RIVALS = 4


class SummaryLaws(MessageRepositoryUnderTest):
    """A summary replaces messages, and no message is lost."""

    @law
    async def test_l14_coverage(self) -> None:
        """L14 coverage: every message is in view, or one summary covers it, through summaries of summaries."""
        for delete_covered in (False, True):
            async with self.open() as witness:
                talk, repository = await _talk(witness), witness.repository
                inner = await witness.plan(talk, 0, 3, message_id="inner", delete_covered=delete_covered)
                described = await witness.get(repository.summarize(inner))
                view = await witness.read(talk, "model")
                expect([kept.id for kept in view], ["inner", "3", "4", "5"], "the view")
                counts = (described.view_count, described.open_count, described.message_count)
                expect(counts, (4, 3, 4 if delete_covered else 7), "its counts")
                outer = await witness.plan(talk, 0, 2, message_id="outer", delete_covered=delete_covered)
                await witness.get(repository.summarize(outer))
                expect(
                    [kept.id for kept in await witness.read(talk, "model")], ["outer", "4", "5"], "the view"
                )
                stored = ["4", "5", "outer"] if delete_covered else [*"012345", "inner", "outer"]
                expect([kept.id for kept in await witness.read(talk)], stored, "what is stored, in sequence")
                for message_id, chain in {
                    "1": ["inner", "outer"],
                    "inner": ["outer"],
                    "3": ["outer"],
                    "4": [],
                }.items():
                    found = await witness.get(repository.summarizations_of(talk, message_id))
                    expect(
                        [made.summary_message_id for made in found], chain, f"what stands for {message_id!r}"
                    )
                made = await witness.get(repository.summarization(talk, "inner"))
                times = made and (made.timestamp_range.start, made.timestamp_range.end)
                expect(
                    made and made.summarized_message_ids, ("0", "1", "2"), "the ids that the summary names"
                )
                expect(times, (inner.starts_at, inner.ends_at), "the time that it spans")
                expect(
                    made and made.messages_deleted, delete_covered, "whether it says that they were deleted"
                )

    @law
    async def test_l14_coverage_keeps_its_place(self) -> None:
        """L14 coverage: a summary has the position of the last message that it covers, after the messages that stay in view."""
        async with self.open() as witness:
            talk, repository = await _talk(witness), witness.repository
            page = await witness.page(talk, "model")
            covered = page.messages[0:5:2] if page else ()
            await witness.get(
                repository.summarize(summary_of(talk, covered, message_id="s", planned_at_version=2))
            )
            view = [kept.id for kept in await witness.read(talk, "model")]
            expect(view, ["1", "3", "s", "5"], "the view around a summary of every other message")

    @law
    async def test_l14_coverage_is_guarded(self) -> None:
        """L14 coverage: a summary planned before the history was rewritten is refused; later appends do not prevent it."""
        async with self.open() as witness:
            talk, repository = await _talk(witness), witness.repository
            plans = [await witness.plan(talk, 0, 3, message_id=name) for name in ("first", "second")]
            await witness.append(talk, said("meanwhile"))
            summarized = await witness.get(repository.summarize(plans[0]))
            before = await witness.observe(talk)
            overlapping = plans[1].planned_at_version, summarized.version
            conflict = Failure(VersionConflictError(talk, *overlapping))
            expect(await witness.ask(repository.summarize(plans[1])), conflict, "the answer to a rival")
            unread = summary_of(
                talk, before.full[:1], message_id="third", planned_at_version=summarized.version
            )
            conflict = Failure(VersionConflictError(talk, summarized.version, summarized.version))
            expect(await witness.ask(repository.summarize(unread)), conflict, "covering a message twice")
            expect(await witness.observe(talk), before, "what is read after both")
            # Of messages that the next summary does not cover.
            late = await witness.plan(talk, 1, 2, message_id="late")
            await witness.get(repository.summarize(await witness.plan(talk, 2, 4, message_id="between")))
            version = late.planned_at_version
            conflict = Failure(VersionConflictError(talk, version, version + 1))
            expect(await witness.ask(repository.summarize(late)), conflict, "planned before another summary")
            plan = await witness.plan(talk, 1, 2, message_id="fourth")
            await witness.clear(talk)
            await witness.append(talk, *(said(f"{index}") for index in range(6)))
            answer = await witness.ask(repository.summarize(plan))
            version = plan.planned_at_version
            expect(
                answer, Failure(VersionConflictError(talk, version, version + 2)), "planned before a clear"
            )

    @law
    async def test_l14_coverage_in_a_race(self) -> None:
        """L14 coverage: of rivals that summarize the same messages one wins, while others append."""
        async with self.open() as witness:
            talk, repository = await _talk(witness), witness.repository
            plans = [await witness.plan(talk, 0, 4, message_id=f"rival {index}") for index in range(RIVALS)]
            outcomes: list[Outcome[Conversation, VersionConflictError | RepositoryError]] = []

            async def summarize(plan: Summary) -> None:
                outcomes.append(await witness.ask(repository.summarize(plan)))

            async def append() -> None:
                await witness.ask(repository.append(batch(talk, said("meanwhile"))))

            await race([*(partial(summarize, plan) for plan in plans), append])
            expect(sum(isinstance(outcome, Success) for outcome in outcomes), 1, "winners")
            view = [message.id for message in await witness.read(talk, "model")]
            expect(view[1:], ["4", "5", "meanwhile"], "the view behind the summary")
            found = await witness.get(repository.summarizations_of(talk, "0"))
            expect([made.summary_message_id for made in found], view[:1], "what stands for a covered message")

    @law
    async def test_l14_coverage_is_whole(self) -> None:
        """L14 coverage: a summary and its messages are never seen together, and never both missing, also when cancelled."""
        async with self.open() as witness:
            for round_ in range(self.rounds):
                await _watch_and_cancel(
                    witness,
                    witness.named(f"{round_}"),
                    self.cancellation(round_),
                    delete_covered=bool(round_ // 2 % 2),
                )


async def _watch_and_cancel(
    witness: Witness, talk: str, cancellation: Cancellation, *, delete_covered: bool
) -> None:
    await _talk(witness, talk)
    plan = await witness.plan(talk, 0, 4, message_id="s", delete_covered=delete_covered)
    views: list[list[str]] = []

    async def watch() -> None:
        while True:
            page = await witness.repository.page(PageQuery(talk, "model"))
            if isinstance(page, Success) and (seen := page.unwrap()) is not None:
                views.append([message.id for message in seen.messages])
            await checkpoint()

    async def summarize() -> None:
        await cancellation.of(lambda: witness.ask(witness.repository.summarize(plan)))

    await race([summarize], meanwhile=watch)
    await witness.append(talk, said("next"))
    whole, short = [*"012345"], ["s", "4", "5"]
    for view in views:
        expect_one_of(view, (whole, short), "a view while a summary was written")
    observed = await witness.observe(talk)
    view = [message.id for message in observed.model]
    expect_one_of(view, ([*whole, "next"], [*short, "next"]), f"the view after a summary and {cancellation}")
    observed.expect_counts(talk)


async def _talk(witness: Witness, talk: str | None = None) -> str:
    """Create a conversation of six messages, in two batches."""
    talk = talk or witness.named("会议")
    drafts = [said(f"{index}", f"第{index}句", timestamp=INSTANTS[index % 3]) for index in range(6)]
    for half in (drafts[:3], drafts[3:]):
        await witness.append(talk, *half)
    return talk
