"""The law of the replacement of messages: L31."""

from chatmemory.access.namespace import Namespace
from chatmemory.access.principal import Granted, Principal, acting_as
from chatmemory.conversation.message_repository import Replacement
from chatmemory.effect.outcome import Failure
from chatmemory.errors import AccessDeniedError, MessageConflictError, VersionConflictError
from chatmemory.laws.kit.law import expect, law
from chatmemory.laws.kit.samples import ALWAYS, INSTANTS, batch, said, summary_of
from chatmemory.laws.messages.witness import MessageRepositoryUnderTest, Witness

ADA = Namespace("ada")
WRITER = Principal(name="writer", namespace=ADA, granted=(Granted(ADA, rights=frozenset({"read", "write"})),))


async def _talk(witness: Witness, many: int = 4) -> str:
    """Store *many* messages, ``1`` to *many*, each by its own append."""
    talk = witness.named("a")
    for number in range(1, many + 1):
        await witness.get(witness.repository.append(batch(talk, said(str(number), f"第{number}句"))))
    return talk


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
                await witness.get(
                    witness.repository.append(batch(talk, *[said(number) for number in "1234"]))
                )
                covered = (await witness.read(talk))[1:3]
                summary = summary_of(
                    talk, covered, message_id="s", planned_at_version=1, delete_covered=delete_covered
                )
                await witness.get(witness.repository.summarize(summary))
                new = batch(talk, said("x"))
                await witness.get(witness.repository.replace(Replacement(new, 2)))
                seen = await witness.observe(talk)
                expect([kept.id for kept in seen.full], ["1", "x"], "what is stored")
                expect([kept.id for kept in seen.model], ["1", "x"], "what is in view")
                seen.expect_counts(talk)
                again = batch(talk, said("2"), said("3"))
                answer = await witness.get(witness.repository.append(again))
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
                refused = await witness.ask(replace(Replacement(batch(talk, *taken), 2)))
                expect(
                    isinstance(refused, Failure) and isinstance(refused.failure(), MessageConflictError),
                    True,
                    "whether a known id is a conflict",
                )
            with acting_as(WRITER):
                mine = witness.named("mine")
                await witness.get(witness.repository.append(batch(mine, said("1"))))
                refused = await witness.ask(replace(Replacement(batch(mine, said("x")), 1)))
                expect(
                    isinstance(refused, Failure) and isinstance(refused.failure(), AccessDeniedError),
                    True,
                    "whether who may only write is refused",
                )
            expect(await witness.observe(talk), before, "what is read after refusals")
            same = batch(talk, said("1", "anew"), expected_version=4)
            answer = await witness.get(replace(Replacement(same)))
            expect(answer.stored, ("1",), "an id that is free again, since everything went")
