"""The law of the counts of a conversation: L25."""

from datetime import datetime, timedelta
from typing import Final

from chatmemory.input.choices import Role
from chatmemory.laws.kit.law import expect, law
from chatmemory.laws.kit.samples import START, batch, said, summary_of
from chatmemory.laws.messages.witness import MessageRepositoryUnderTest, Witness

ROLES: Final[tuple[Role, ...]] = ("user", "assistant", "system", "tool")
SPOKEN: Final = [said(f"{index}", "说" * index, role=ROLES[index % len(ROLES)]) for index in range(8)]


class CountingLaws(MessageRepositoryUnderTest):
    """Counts, version and times agree with the changes and with what can be read."""

    @law
    async def test_l25_counts(self) -> None:
        """L25 counts: size, version and times of a conversation equal the result of its changes, after every change."""
        async with self.open() as witness:
            talk, repository = witness.named("会"), witness.repository
            version, began, now = 0, START, START

            async def expect_change() -> None:
                nonlocal version, now
                version += 1
                observed = await witness.observe(talk)
                observed.expect_counts(talk)
                if (kept := observed.conversation) is not None:
                    facts = kept.version, kept.created_at, kept.updated_at
                    expect(facts, (version, began, now), "version, beginning and latest change")
                now += timedelta(minutes=1)

            for _ in range(2):
                await witness.get(repository.append(batch(talk, *SPOKEN[:5], now=now)))
                await expect_change()
                await witness.get(repository.append(batch(talk, *SPOKEN[3:], now=now)))  # some of them again
                await expect_change()
                for delete_covered in (False, True):
                    await _summarize(witness, talk, version, now, delete_covered=delete_covered)
                    await expect_change()
                # Three messages, and the messages of the summary that was deleted with two others.
                for _ in range(6):
                    await witness.get(repository.remove_newest(talk, now=now, threshold=None))
                    await expect_change()
                before = await witness.observe(talk)
                nothing = await witness.get(repository.remove_newest(talk, now=now, threshold=None))
                expect((nothing, await witness.observe(talk)), (None, before), "a removal from an empty view")
                began = now
                await witness.get(repository.append(batch(talk, said("last"), now=now)))
                await expect_change()
                await witness.get(repository.clear(talk, now=now))
                await expect_change()
                began = now


async def _summarize(
    witness: Witness, talk: str, version: int, now: datetime, *, delete_covered: bool
) -> None:
    """Replace the three oldest messages in view by a summary."""
    summary = summary_of(
        talk,
        (await witness.read(talk, "model"))[:3],
        message_id=f"summary of version {version}",
        planned_at_version=version,
        delete_covered=delete_covered,
        now=now,
    )
    await witness.get(witness.repository.summarize(summary))
