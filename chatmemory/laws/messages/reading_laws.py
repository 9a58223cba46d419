"""The laws of reading pages, and of the data that survives a release of the repository: L5, L10, L20; of counts: L25."""

from datetime import timedelta
from typing import Final

from attrs import evolve

from chatmemory.conversation.message_repository import ConversationListing
from chatmemory.conversation.messages import ConversationOrder
from chatmemory.laws.kit.law import expect, law
from chatmemory.laws.kit.samples import ALWAYS, INSTANTS, ROLES, START, batch, said
from chatmemory.laws.messages.witness import VIEWS, MessageRepositoryUnderTest, Witness, joined

SPOKEN: Final = [said(f"{index}", "说" * index, role=ROLES[index % len(ROLES)]) for index in range(8)]


class ReadingLaws(MessageRepositoryUnderTest):
    """A read returns what was written, in parts and as a whole, now and later."""

    @law
    async def test_l5_reopen(self) -> None:
        """L5 reopen: closing and opening changes nothing that can be read, and no queued work."""
        self.expect_durability()
        async with self.open() as before:
            talk = await _talk_with_summary(before)
            await before.append(talk, said("last"), threshold=ALWAYS)
            seen = await before.observe(talk)
            chain = await before.get(before.repository.summarizations_of(talk, "1"))
        async with self.open(space=before.space) as after:
            expect(await after.observe(talk), seen, "what is read")
            expect(await after.get(after.repository.summarizations_of(talk, "1")), chain, "the coverage")
            work = await after.get(
                after.repository.claim_work(
                    now=START, lease_id="l", lease_until=INSTANTS[-1], conversation_id=talk
                )
            )
            expect(work is not None, True, "the work that was queued is still there")

    @law
    async def test_l10_window(self) -> None:
        """L10 window: the last n, those before an instant, and joined pages in both directions are parts of the whole."""
        async with self.open() as witness:
            talk = await _talk_with_summary(witness)
            for view in VIEWS:
                whole = await witness.read(talk, view)
                for limit in (0, 1, 2, 5, len(whole), len(whole) + 1, None):
                    page = await witness.page(talk, view, limit=limit)
                    count = len(whole) if limit is None else min(limit, len(whole))
                    expect(page and page.messages, whole[len(whole) - count :], f"the last {limit} in {view}")
                    is_all = page and page.older is None
                    expect(is_all, count == len(whole), f"whether nothing is older than the last {limit}")
                for before in INSTANTS:
                    earlier = tuple(message for message in whole if message.timestamp < before)
                    found = await witness.read(talk, view, before=before)
                    expect(found, earlier, f"the messages before {before}")
                    last = await witness.read(talk, view, limit=1, before=before)
                    expect(last, earlier[-1:], f"the last message before {before}")
                for size in (1, 2, 3, 100):
                    back = await witness.backwards(talk, view, limit=size)
                    expect(joined(back[::-1]), whole, f"{view} backwards by {size}")
                    forth = await witness.forwards(talk, view, limit=size)
                    expect(joined(forth), whole, f"{view} forwards by {size}")
                    are_first = [page.older is None for page in forth]
                    first = [True] + [False] * (len(forth) - 1)
                    expect(are_first, first, "whether nothing is older than a page forwards")

    @law
    async def test_l10_window_waits(self) -> None:
        """L10 window: the cursor at the end returns only later messages, and no message is returned twice."""
        async with self.open() as witness:
            talk = witness.named("a")
            await witness.append(talk, said("1"), said("2"))
            page = await witness.page(talk, "full")
            cursor = page.newer if page else 0
            at_end = await witness.page(talk, "full", newer_than=cursor)
            expect(at_end and (at_end.messages, at_end.newer), ((), cursor), "the page at the end")
            await witness.append(talk, said("3", timestamp=INSTANTS[3]))
            fresh = await witness.read(talk, "full", newer_than=cursor)
            expect([message.id for message in fresh], ["3"], "what came next")

    @law
    async def test_l10_window_of_the_list(self) -> None:
        """L10 window: joined pages of conversations are the whole list, also when many changed at one instant."""
        async with self.open() as witness:
            names = ("会", "a%", "ab", "A", "a_", "会议", "a", "🙂", "\uffff")
            for index, name in enumerate(names):
                changed_at = START + timedelta(minutes=index // 4)
                await witness.append(witness.named(name), said("1"), now=changed_at)
            latest = sorted(range(len(names)), key=lambda index: (index // 4, names[index]), reverse=True)
            in_order: dict[ConversationOrder, list[str]] = {
                "id": sorted(names),
                "recent": [names[index] for index in latest],
            }
            for prefix in ("", "a", "a%", "会", "b"):
                for order, ordered in in_order.items():
                    whole = [witness.named(name) for name in ordered if name.startswith(prefix)]
                    for size in (1, 2, 3, 100):
                        listing = ConversationListing(size, None, order, witness.named(prefix))
                        expect(await _listed(witness, listing), whole, f"the pages of {listing}")

    @law
    async def test_l20_errors(self) -> None:
        """L20 errors: after its release a repository fails with a typed error, or really does the operation."""
        async with self.open() as witness:
            talk = witness.named("a")
            await witness.append(talk, said("1"))

        async def written(later: Witness) -> bool:
            return [message.id for message in await later.read(talk)] == ["1", "2"]

        append = witness.repository.append(batch(talk, said("2")))
        await self.expect_no_pretence(witness, append, witness.repository.conversation(talk), written)


async def _talk_with_summary(witness: Witness) -> str:
    """Create a conversation of twelve messages of few instants, two of them covered and two deleted by summaries."""
    talk = witness.named("会")
    for index in range(12):
        draft = said(f"{index}", f"第{index}句", timestamp=INSTANTS[index % 3])
        await witness.append(talk, draft)
    for name, delete_covered in (("s", False), ("t", True)):
        await witness.summarize(talk, 1, 3, message_id=name, delete_covered=delete_covered)
    return talk


async def _listed(witness: Witness, listing: ConversationListing) -> list[str]:
    """Join the pages of a list of conversations."""
    joined: list[str] = []
    for _ in range(100):  # a list that does not advance must not hang the law
        page = await witness.get(witness.repository.conversations(listing))
        if not page:
            break
        joined += [conversation.conversation_id for conversation in page]
        listing = evolve(listing, after=(page[-1].updated_at, page[-1].conversation_id))
    return joined


class CountingLaws(MessageRepositoryUnderTest):
    """Counts, version and times agree with the changes and with what can be read."""

    @law
    async def test_l25_counts(self) -> None:
        """L25 counts: size, version and times of a conversation equal the result of its changes, after every change."""
        async with self.open() as witness:
            talk = witness.named("会")
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
                await witness.append(talk, *SPOKEN[:5], now=now)
                await expect_change()
                await witness.append(talk, *SPOKEN[3:], now=now)  # some of them again
                await expect_change()
                for delete_covered in (False, True):
                    name = f"summary of version {version}"
                    await witness.summarize(
                        talk, 0, 3, message_id=name, delete_covered=delete_covered, now=now
                    )
                    await expect_change()
                # Three messages, and the messages of the summary that was deleted with two others.
                for _ in range(6):
                    await witness.remove_newest(talk, now=now)
                    await expect_change()
                before = await witness.observe(talk)
                nothing = await witness.remove_newest(talk, now=now)
                expect((nothing, await witness.observe(talk)), (None, before), "a removal from an empty view")
                began = now
                await witness.append(talk, said("last"), now=now)
                await expect_change()
                await witness.clear(talk, now=now)
                await expect_change()
                began = now
