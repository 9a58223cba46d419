"""The laws of adding, removing and clearing, one writer at a time: L1, L2, L3, L4, L11, L12, L24."""

import json
from itertools import chain

from chatmemory.effect.outcome import Failure, Success
from chatmemory.errors import MessageConflictError, VersionConflictError
from chatmemory.input.json_value import Json
from chatmemory.laws.kit.law import expect, law
from chatmemory.laws.kit.samples import (
    ALIKE,
    ALWAYS,
    INSTANTS,
    METADATA,
    ROLES,
    START,
    TEXTS,
    batch,
    said,
)
from chatmemory.laws.messages.witness import MessageRepositoryUnderTest, Observation


class WritingLaws(MessageRepositoryUnderTest):
    """A batch changes its own conversation as it says, and no other conversation."""

    @law
    async def test_l1_append(self) -> None:
        """L1 append: after an append a conversation has its earlier messages and then the batch, exactly as it was given."""
        drafts = [
            said(
                f"{index} %_é🙂",
                content,
                role=ROLES[index % len(ROLES)],
                timestamp=INSTANTS[index % len(INSTANTS)],
                metadata=METADATA[index % len(METADATA)],
            )
            for index, content in enumerate(TEXTS)
        ]
        async with self.open() as witness:
            talk = witness.named("会议")
            for start in range(0, len(drafts), 3):
                await witness.append(talk, *drafts[start : start + 3])
                messages = await witness.read(talk)
                said_so_far = drafts[: start + 3]
                expect(
                    [(kept.id, kept.role, kept.content, kept.timestamp) for kept in messages],
                    [(draft.id, draft.role, draft.content, draft.timestamp) for draft in said_so_far],
                    "the messages read",
                )
                # As JSON text: Python calls 1, 1.0 and True equal, and 0.0 and -0.0.
                expect(
                    [json.dumps(kept.metadata, sort_keys=True) for kept in messages],
                    [json.dumps(draft.metadata, sort_keys=True) for draft in said_so_far],
                    "their metadata",
                )
                sequence = [kept.seq for kept in messages]
                expect(sequence, sorted(set(sequence)), "the sequence, which grows with every message")

    @law
    async def test_l1_append_copies(self) -> None:
        """L1 append: the store keeps a copy; changing the metadata that was given or read changes nothing in the store."""
        async with self.open() as witness:
            talk = witness.named("a")
            given: dict[str, Json] = {"tags": ["工作"]}
            await witness.append(talk, said("1", metadata=given))
            given["tags"] = "changed by the writer"
            for _ in range(2):
                read = (await witness.read(talk))[0].metadata
                expect(read, {"tags": ["工作"]}, "the metadata")
                if isinstance(read, dict):
                    read.clear()  # as a careless reader might

    @law
    async def test_l2_atomic_batch(self) -> None:
        """L2 atomic batch: a batch with one message that cannot be stored fails with its reason and changes nothing."""
        async with self.open() as witness:
            talk, append = witness.named("a"), witness.repository.append
            await witness.append(talk, said("1"), said("2"))
            before = await witness.observe(talk)
            conflict = Failure(MessageConflictError(talk, ("2",)))
            stale = Failure(VersionConflictError(talk, expected=7, actual=1))
            for refused, reason in (
                (batch(talk, said("3"), said("2", "something else"), said("4")), conflict),
                (batch(talk, said("3"), said("2", role="tool")), conflict),
                (batch(talk, said("3"), said("2", metadata={"n": 1})), conflict),
                (batch(talk, said("3"), said("4"), expected_version=7), stale),
            ):
                expect(await witness.ask(append(refused)), reason, f"the answer to {refused.drafts}")
                expect(await witness.observe(talk), before, "what is read after it")
            twice = await witness.ask(append(batch(talk, said("5"), said("5", "something else"))))
            expect(twice, Failure(MessageConflictError(talk, ("5",))), "one id with two contents in a batch")
            expect(await witness.observe(talk), before, "what is read after it")

    @law
    async def test_l3_isolation(self) -> None:
        """L3 isolation: an operation on one conversation leaves every other one unchanged, however alike their names."""
        async with self.open() as witness:
            talks = [witness.named(name) for name in dict.fromkeys(chain(*ALIKE))]
            seen: dict[str, Observation] = {}
            for talk in talks:
                for number in "12":
                    await witness.append(talk, said(number, f"{talk} {number}"))
                seen[talk] = await witness.observe(talk)
            for talk in talks:
                await witness.summarize(talk, 0, 1, message_id="s", delete_covered=True)
                await witness.clear(talk)
                seen[talk] = Observation(None, (), ())
                for other in talks:
                    expect(await witness.observe(other), seen[other], f"{other!r} after {talk!r} was changed")

    @law
    async def test_l4_clear(self) -> None:
        """L4 clear: a cleared conversation is gone, a second clear finds nothing, and it begins again at a later version."""
        async with self.open() as witness:
            talk, repository = witness.named("a"), witness.repository
            await witness.append(talk, said("1", "old"), said("2"))
            full = await witness.read(talk)
            await witness.summarize(talk, message_id="s", delete_covered=True)
            cleared = await witness.clear(talk)
            expect(
                cleared and (cleared.messages, cleared.summaries), (1, 1), "messages and summaries removed"
            )
            for view in ("full", "model"):
                expect(await witness.page(talk, view), None, "a page")
            expect(await witness.conversation(talk), None, "the conversation")
            expect(await witness.get(repository.summarization(talk, "s")), None, "the summary's metadata")
            expect(await witness.get(repository.summarizations_of(talk, "1")), (), "the coverage")
            expect(await witness.clear(talk), None, "a second clear")
            stale = await witness.ask(repository.append(batch(talk, said("3"), expected_version=2)))
            expect(stale, Failure(VersionConflictError(talk, 2, 3)), "an add that expects the version before")
            again = await witness.append(talk, said("1", "new"), expected_version=3)
            expect(again.stored, ("1",), "ids stored afterwards")
            again = await witness.append(talk, said("1", "new"), said("2"))
            expect(again.stored, ("2",), "ids stored afterwards, with one that is there")
            anew = await witness.observe(talk)
            expect([kept.content for kept in anew.full], ["new", full[1].content], "contents afterwards")
            expect(anew.full[0].seq > full[-1].seq, True, "the sequence went on")
            expect(anew.conversation and anew.conversation.version, 5, "the version afterwards")

    @law
    async def test_l11_empty(self) -> None:
        """L11 empty: an operation without new content changes nothing, and a query does not create a conversation."""
        async with self.open() as witness:
            talk, repository = witness.named("a"), witness.repository
            nobody = await witness.read(talk)
            for question in (
                repository.conversation(talk),
                repository.clear(talk, now=START),
                repository.remove_newest(talk, now=START, threshold=ALWAYS),
                repository.summarization(talk, "1"),
                repository.claim_work(now=START, lease_id="l", lease_until=START, conversation_id=talk),
            ):
                expect(await witness.get(question), None, "the answer for an unknown conversation")
            expect(
                (nobody, await witness.get(repository.summarizations_of(talk, "1"))), ((), ()), "and lists"
            )
            expect(await witness.observe(talk), Observation(None, (), ()), "what is read of it")
            first = await witness.append(talk, said("1"), expected_version=0)
            expect(first.conversation.version, 1, "the version of its first message")
            before = await witness.observe(talk)
            await witness.append(talk, said("1"), said("1"), now=INSTANTS[-1])
            expect(await witness.observe(talk), before, "what is read after an add of nothing new")

    @law
    async def test_l12_retry(self) -> None:
        """L12 retry: adding the same ids again stores them once and reports it, also when a summary has deleted them."""
        async with self.open() as witness:
            talk, repository = witness.named("a"), witness.repository
            sent = (said("1", metadata={"a": 1, "b": [2]}), said("2", "再见", timestamp=INSTANTS[1]))
            await witness.append(talk, *sent)
            # Neither another time nor another order of keys makes it another message.
            resent = (said("1", metadata={"b": [2], "a": 1}, timestamp=INSTANTS[2]), sent[1])
            answer = await witness.append(talk, *resent, said("3"), said("3"))
            expect((answer.stored, answer.duplicates), (("3",), ("1", "2", "3")), "stored and duplicates")
            # A caller that lost the answer cannot know that the version has changed, by this batch or by a later
            # change.
            for version in range(4):
                again = await witness.ask(repository.append(batch(talk, *sent, expected_version=version)))
                expect(
                    again.map(lambda answer: (answer.stored, answer.duplicates)),
                    Success(((), ("1", "2"))),
                    f"the same batch, which expects version {version}",
                )
            stale = Failure(VersionConflictError(talk, expected=0, actual=answer.conversation.version))
            for other in (said("9"), said("1", "something else")):
                late = await witness.ask(repository.append(batch(talk, *sent, other, expected_version=0)))
                expect(late, stale, f"a batch with {other}, which expects version 0")
            number = await witness.ask(repository.append(batch(talk, said("4", metadata={"n": 1}))))
            expect(isinstance(number, Success), True, "metadata with a number is stored")
            truth = await witness.ask(repository.append(batch(talk, said("4", metadata={"n": True}))))
            expect(truth, Failure(MessageConflictError(talk, ("4",))), "true in the place of 1")
            await witness.summarize(talk, 0, 2, message_id="s", delete_covered=True)
            before = await witness.observe(talk)
            answer = await witness.append(talk, *sent)
            expect(
                (answer.stored, answer.duplicates),
                ((), ("1", "2")),
                "stored and duplicates of what a summary deleted",
            )
            expect(await witness.observe(talk), before, "what is read after it")

    @law
    async def test_l24_remove(self) -> None:
        """L24 remove: the newest message in view is removed; a summary is first replaced by the messages that it covers."""
        for delete_covered, order in ((False, "4321"), (True, "4s")):
            async with self.open() as witness:
                talk = witness.named("a")
                drafts = [said(number, f"第{number}句", metadata={"n": number}) for number in "1234"]
                await witness.append(talk, *drafts)
                await witness.summarize(talk, 0, 3, message_id="s", delete_covered=delete_covered)
                for version, number in enumerate(order, start=3):
                    last = (await witness.read(talk, "model"))[-1]
                    removed = await witness.remove_newest(talk, now=INSTANTS[-1], threshold=ALWAYS)
                    expect(removed and removed.id, number, "the message removed")
                    if last.id == number:
                        expect(removed, last, "the message removed, as it was in view")
                    left = [kept.id for kept in await witness.read(talk)]
                    expect(number in left, False, "whether it is still stored")
                    kept = await witness.conversation(talk)
                    if kept is not None:
                        expect(kept.version, version, "the version afterwards")
                again = await witness.remove_newest(talk, threshold=ALWAYS)
                expect(again, None, "what is removed where nothing is left")
                answer = await witness.append(talk, *drafts)
                expect(answer.stored, tuple("1234"), "the ids, which are free again")

    @law
    async def test_l24_remove_a_summary_that_deleted_another(self) -> None:
        """L24 remove: messages of a summary that the newest summary deleted come back, and none stays hidden."""
        async with self.open() as witness:
            talk = witness.named("a")
            await witness.append(talk, *[said(number) for number in "123"])
            for name, deletes in (("s", False), ("t", True)):
                await witness.summarize(talk, 0, 2, message_id=name, delete_covered=deletes)
            expect([kept.id for kept in await witness.read(talk)], ["1", "2", "t"], "what is stored before")
            for removed_id, left in (("2", ["1"]), ("1", [])):
                removed = await witness.remove_newest(talk)
                expect(removed and removed.id, removed_id, "the message removed")
                expect([kept.id for kept in await witness.read(talk)], left, "what is stored")
                expect([kept.id for kept in await witness.read(talk, "model")], left, "what is in view")
