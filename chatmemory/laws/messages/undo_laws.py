"""The laws of undo: L29, for each kind of change, and for clearing a tree; of the replacement of messages: L31."""

from typing import Final

from chatmemory.access.namespace import Namespace
from chatmemory.access.principal import EVERY_RIGHT, Granted, Principal, Right, acting_as
from chatmemory.conversation.message_repository import Replacement, Undo
from chatmemory.conversation.messages import ClearReport, Undone
from chatmemory.effect import Failure, Outcome, Success
from chatmemory.errors import (
    AccessDeniedError,
    ConversationNotFoundError,
    MessageConflictError,
    NotUndoableError,
    VersionConflictError,
)
from chatmemory.laws.follower import Logged, follower
from chatmemory.laws.kit.law import expect, law
from chatmemory.laws.kit.samples import ALWAYS, INSTANTS, START, batch, said
from chatmemory.laws.messages.fork_laws import ADA, BOB
from chatmemory.laws.messages.witness import MessageRepositoryUnderTest, Observation, Witness

OWNER = Namespace("ada")
NEEDED: Final[tuple[Right, ...]] = ("delete", "read")


class UndoLaws(MessageRepositoryUnderTest):
    """The newest change can be undone while its content is kept; a clear names the branches that still keep it."""

    @law
    async def test_l29_undo_of_what_was_added(self) -> None:
        """L29 undo: added messages are removed, summarized ones come back, a branch is removed; each undo is a new change."""
        async with self.open() as witness:
            log = await follower(self, witness, witness.repository)
            talk, branch = witness.named("会"), witness.named("分")
            await witness.append(talk, said("1"), said("2"))
            read = [await witness.observe(talk)]
            await witness.summarize(talk, 0, 2, message_id=witness.named("s"))
            read.append(await witness.observe(talk))
            await witness.append(talk, said("3"), said("4"))
            await witness.fork(talk, branch)
            shared = await witness.observe(branch)
            added = await _undo(witness, talk)
            expect(added, Success(Undone("added", 4, 2, 0)), "the undo of an append")
            _expect_same(await witness.observe(talk), read[1], "an append that was undone")
            expect(await witness.observe(branch), shared, "the branch of what was undone in its parent")
            again = await witness.append(talk, said("3"))
            expect(again.stored, ("3",), "what is stored again that was taken back")
            await _undo(witness, talk)
            expect(await _refused(witness, talk), NotUndoableError, "the undo of an undo")
            await witness.append(branch, said("5"))
            await _undo(witness, branch)
            _expect_same(await witness.observe(branch), shared, "an append to a branch that was undone")
            other = witness.named("other")
            await witness.fork(talk, other)
            forked = await _undo(witness, other)
            expect(forked, Success(Undone("forked", 7, 3, 0)), "the undo of a fork")
            expect((await witness.observe(other)).full, (), "what is left of a branch")
            await log.expect(
                Logged("added", "会", 1),
                Logged("summarized", "会", 2, by="s"),
                Logged("added", "会", 3),
                Logged("forked", "分", 3, by="会"),
                Logged("removed", "会", 4, reason="undo"),
                Logged("added", "会", 5),
                Logged("removed", "会", 6, reason="undo"),
                Logged("added", "分", 4),
                Logged("removed", "分", 5, reason="undo"),
                Logged("forked", "other", 6, by="会"),
                Logged("cleared", "other", 7, reason="undo"),
            )

    @law
    async def test_l29_undo_of_a_summary(self) -> None:
        """L29 undo: the summary is removed, and its messages are in view again; a summary that deleted messages stays."""
        async with self.open() as witness:
            for delete_covered in (False, True):
                talk = witness.named(f"{delete_covered}")
                await witness.append(talk, said("1"), said("2"), said("3"))
                before = await witness.observe(talk)
                name = witness.named("s")
                await witness.summarize(talk, 0, 2, message_id=name, delete_covered=delete_covered)
                branch = f"{talk} branch"
                await witness.fork(talk, branch)
                summarized, shared = await witness.observe(talk), await witness.observe(branch)
                undone = await _undo(witness, talk)
                after = await witness.observe(talk)
                if delete_covered:
                    expect(isinstance(undone, Failure), True, "whether a summary that has deleted is undone")
                    expect(after, summarized, "the conversation whose change is not undone")
                else:
                    expect(undone, Success(Undone("summarized", 3, 1, 2)), "the undo of a summary")
                    _expect_same(after, before, "a summary that was undone")
                    after.expect_counts(talk)
                expect(await witness.observe(branch), shared, "the branch of a conversation that is undone")

    @law
    async def test_l29_undo_of_a_clear(self) -> None:
        """L29 undo: cleared messages that a branch holds come back, and are then shared with that branch."""
        async with self.open() as witness:
            talk, early, late = (witness.named(name) for name in ("会", "early", "late"))
            for name in "123":
                await witness.append(talk, said(name))
            await witness.clear(talk)
            expect(await _refused(witness, talk), NotUndoableError, "the undo of a clear that nothing keeps")
            for name in "456":
                await witness.append(talk, said(name))
            whole = await witness.observe(talk)
            await witness.fork(talk, early, "4")
            await witness.fork(talk, late, "5")
            await witness.append(late, said("own"))
            report = await witness.clear(talk)
            expect(report, ClearReport(3, 0, 8, still_shared_by=(early, late)), "what a clear answers")
            undone = await _undo(witness, talk)
            expect(undone, Success(Undone("cleared", 9, 0, 2, late)), "the undo of a clear")
            back = await witness.observe(talk)
            back.expect_counts(talk)
            expect(back.full, whole.full[:2], "what is back")
            await witness.append(talk, said("7"))
            await witness.clear(late)
            left = [message.id for message in await witness.read(talk)]
            expect(left, ["4", "5", "7"], "what is there when the branch that held it was cleared")

    @law
    async def test_l29_undo_is_guarded(self) -> None:
        """L29 undo: without the right to delete, at another version, or after a removal, it is refused and changes nothing."""
        async with self.open() as witness:
            talk = witness.named("会")
            with acting_as(ADA):
                await witness.append(talk, said("1"), said("2"))
                before = await witness.observe(talk)
            with acting_as(BOB):
                expect(await _refused(witness, talk), AccessDeniedError, "the undo of who may only read")
            with acting_as(ADA):
                unknown = await _refused(witness, witness.named("?"))
                expect(unknown, ConversationNotFoundError, "the undo of nothing")
                other = await witness.ask(witness.repository.undo(Undo(talk, START, expected_version=2)))
                conflict = Failure(VersionConflictError(talk, expected=2, actual=1))
                expect(other, conflict, "the undo of another version")
                after = await witness.observe(talk)
                expect(after, before, "the conversation that nobody has undone anything in")
                await witness.remove_newest(talk)
                expect(await _refused(witness, talk), NotUndoableError, "the undo of a removal")

    @law
    async def test_l29_clear_of_a_tree(self) -> None:
        """L29 clear: with its branches, all branches that hold one of its messages are cleared; other conversations stay."""
        async with self.open() as witness:
            talk, branch, twig, other = (witness.named(name) for name in ("会", "b", "c", "d"))
            await witness.append(talk, said("1"), said("2"))
            await witness.fork(talk, branch, "1")
            await witness.append(branch, said("3"))
            await witness.fork(branch, twig)
            await witness.append(other, said("1"))
            await witness.remove_newest(branch)
            one = await witness.clear(branch)
            expect(one and one.still_shared_by, (twig,), "who holds what was cleared in one branch")
            all_ = await witness.clear(talk, with_branches=True)
            expect(all_, ClearReport(2, 0, 2, cleared_too=(twig,)), "what clearing a tree answers")
            for name in (talk, branch, twig):
                expect(await witness.read(name), (), f"what is left in {name}")
            expect(len(await witness.read(other)), 1, "what is left elsewhere")
            expect(await _refused(witness, talk), NotUndoableError, "the undo of clearing a tree")


async def _undo(witness: Witness, talk: str) -> Outcome[Undone, object]:
    return await witness.ask(witness.repository.undo(Undo(talk, START)))


async def _refused(witness: Witness, talk: str) -> type | None:
    return await witness.refusal(witness.repository.undo(Undo(talk, START)))


def _expect_same(found: Observation, before: Observation, what: str) -> None:
    """Break the law unless the messages are the same as before."""
    expect((found.full, found.model), (before.full, before.model), what)


class ReplacingLaws(MessageRepositoryUnderTest):
    """The effect of a replacement, what it keeps, and what prevents it."""

    @law
    async def test_l31_replace(self) -> None:
        """L31 replace: the newest messages are replaced by others; the messages before stay, and all counts are right."""
        for count, stay in ((0, "1234"), (1, "123"), (3, "1"), (4, ""), (9, ""), (None, "")):
            async with self.open() as witness:
                talk = await _talk(witness)
                before = (await witness.observe(talk)).full
                new = batch(talk, said("x", "新"), said("y"), now=INSTANTS[-1], threshold=ALWAYS)
                answer = await witness.get(witness.repository.replace(Replacement(new, count)))
                expect(answer.stored, ("x", "y"), "the ids stored")
                after = await witness.observe(talk)
                expect(
                    [kept.id for kept in after.full], [*stay, "x", "y"], f"ids after {count} were replaced"
                )
                expect(after.model, after.full, "what is in view")
                expect(after.full[: len(stay)], before[: len(stay)], "what stays")
                expect(after.full[-1].seq > before[-1].seq, True, "the sequence went on")
                expect(after.conversation, answer.conversation, "the conversation, as it was answered")
                after.expect_counts(talk)

    @law
    async def test_l31_replace_by_nothing(self) -> None:
        """L31 replace: without new messages it only removes; an unknown conversation begins with the new messages."""
        async with self.open() as witness:
            talk = await _talk(witness)
            answer = await witness.get(witness.repository.replace(Replacement(batch(talk), 3)))
            expect((answer.stored, answer.conversation.message_count), ((), 1), "what is left")
            (await witness.observe(talk)).expect_counts(talk)
            emptied = await witness.get(witness.repository.replace(Replacement(batch(talk))))
            expect(emptied.conversation.message_count, 0, "messages after all were removed")
            expect((await witness.observe(talk)).full, (), "what is read of it")
            new = witness.named("b")
            begun = await witness.get(witness.repository.replace(Replacement(batch(new, said("1")), 7)))
            expect((begun.stored, begun.conversation.version), (("1",), 1), "a new conversation")

    @law
    async def test_l31_replaced_summary(self) -> None:
        """L31 replace: a summary is removed with all that it covers; the messages before it stay."""
        async with self.open() as witness:
            for delete_covered in (False, True):
                talk = witness.named(f"{delete_covered}")
                await witness.append(talk, *[said(number) for number in "1234"])
                await witness.summarize(talk, 1, 3, message_id="s", delete_covered=delete_covered)
                new = batch(talk, said("x"))
                await witness.get(witness.repository.replace(Replacement(new, 2)))
                seen = await witness.observe(talk)
                expect([kept.id for kept in seen.full], ["1", "x"], "what is stored")
                expect([kept.id for kept in seen.model], ["1", "x"], "what is in view")
                seen.expect_counts(talk)
                answer = await witness.append(talk, said("2"), said("3"))
                expect(answer.stored, ("2", "3"), "ids that are free again")

    @law
    async def test_l31_refused(self) -> None:
        """L31 replace: at another version, with an id that remains in use, or without the right, nothing is changed."""
        async with self.open() as witness:
            talk, replace = await _talk(witness), witness.repository.replace
            before = await witness.observe(talk)
            stale = batch(talk, said("x"), expected_version=3)
            expect(
                await witness.ask(replace(Replacement(stale, 1))),
                Failure(VersionConflictError(talk, expected=3, actual=4)),
                "a replacement of what was read before the last append",
            )
            for taken in ([said("x"), said("1")], [said("y"), said("1"), said("y")]):
                conflict = await witness.refusal(replace(Replacement(batch(talk, *taken), 2)))
                expect(conflict, MessageConflictError, "what a known id ends with")
            for lacked in NEEDED:
                rights = EVERY_RIGHT - {lacked}
                writer = Principal(name="writer", namespace=OWNER, granted=(Granted(OWNER, rights=rights),))
                with acting_as(writer):
                    mine = witness.named(f"without {lacked}")
                    await witness.append(mine, said("1"))
                    refused = await witness.ask(replace(Replacement(batch(mine, said("x")), 1)))
                expect(refused, Failure(AccessDeniedError(lacked, mine)), f"a replacement without {lacked}")
            expect(await witness.observe(talk), before, "what is read after refusals")
            same = batch(talk, said("1", "anew"), expected_version=4)
            answer = await witness.get(replace(Replacement(same)))
            expect(answer.stored, ("1",), "an id that is free again, since everything went")


async def _talk(witness: Witness) -> str:
    """Store the messages ``1`` to ``4``, each by its own append."""
    talk = witness.named("a")
    for number in "1234":
        await witness.append(talk, said(number, f"第{number}句"))
    return talk
