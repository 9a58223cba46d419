"""The law of the past: L27, a page as of a version or an instant."""

from datetime import datetime, timedelta

from chatmemory.conversation.messages import MessagePage, View
from chatmemory.laws.kit.law import expect, law
from chatmemory.laws.kit.samples import INSTANTS, START, said
from chatmemory.laws.messages.witness import VIEWS, MessageRepositoryUnderTest, Witness, joined


class PastLaws(MessageRepositoryUnderTest):
    """A page can be read as of an earlier time while its content is kept."""

    @law
    async def test_l27_past(self) -> None:
        """L27 past: a page as of a version, or of an instant, equals the page at that time, page by page, with summaries."""
        async with self.open() as witness:
            talk = witness.named("会")
            read = await _life(witness, talk, delete_covered=False)
            last = max(read)
            for version, (pages, stored_at) in read.items():
                for at in (version, stored_at, stored_at + timedelta(seconds=59)):
                    for view in VIEWS:
                        expect(await witness.page(talk, view, as_of=at), pages[view], f"{view} as of {at}")
                        await _expect_parts(witness, talk, view, at)
            nothing = MessagePage((), 0, None, 0)
            for before in (0, START - timedelta(microseconds=1), INSTANTS[3]):
                expect(await witness.page(talk, "model", as_of=before), nothing, f"as of {before}")
            for later in (last + 1, last + 1000, INSTANTS[4]):
                page = await witness.page(talk, "model", as_of=later)
                expect(page, read[last][0]["model"], f"as of {later}")

    @law
    async def test_l27_past_of_what_was_removed(self) -> None:
        """L27 past: deleted messages are missing, the page of their time reports it, and a page of a later time is whole."""
        async with self.open() as witness:
            for name in ("removed", "summarized", "cleared"):
                talk = witness.named(name)
                read = await _life(witness, talk, delete_covered=name == "summarized")
                now = START + timedelta(hours=1)
                if name == "removed":
                    await witness.remove_newest(talk, now=now)
                elif name == "cleared":
                    await witness.clear(talk, now=now)
                    cleared = await witness.page(talk, as_of=2)
                    expect(cleared, None, "a page of a conversation that is cleared")
                after = await witness.append(talk, said("z"), now=now + timedelta(minutes=1))
                version = after.conversation.version
                left = {message.id: message.content for message in await witness.read(talk)}
                for earlier, (pages, stored_at) in read.items():
                    kept = [message for message in pages["full"].messages if message.id in left]
                    is_whole = name == "summarized" and earlier >= max(read) - 1
                    for at in (earlier, stored_at):
                        page = await witness.page(talk, as_of=at)
                        expect(
                            page and page.is_whole, is_whole, f"whether all of {earlier} is kept when {name}"
                        )
                        found = [message.id for message in page.messages] if page else None
                        expect(
                            found, [message.id for message in kept], f"what is kept of {earlier} when {name}"
                        )
                for at in (version, version - (name != "summarized"), now, now + timedelta(minutes=2)):
                    page = await witness.page(talk, as_of=at)
                    expect(page and page.is_whole, True, f"whether all as of {at} is kept when {name}")


async def _life(
    witness: Witness, talk: str, *, delete_covered: bool
) -> dict[int, tuple[dict[View, MessagePage], datetime]]:
    """Create a conversation of batches and summaries of summaries; return the pages at each version, and its instant."""
    read: dict[int, tuple[dict[View, MessagePage], datetime]] = {}
    now = START

    async def note() -> None:
        found: dict[View, MessagePage] = {}
        for view in VIEWS:
            if (page := await witness.page(talk, view)) is not None:
                found[view] = page
        read[found["model"].version] = (found, now)

    for number, size in enumerate((3, 1, 2, 4)):
        drafts = [
            said(f"{number}.{index}", f"第{index}句", timestamp=INSTANTS[index % 3]) for index in range(size)
        ]
        await witness.append(talk, *drafts, now=now)
        await note()
        now += timedelta(minutes=1)
        if number % 2:
            await witness.summarize(
                talk, number == 1, 3, message_id=f"s{number}", delete_covered=delete_covered, now=now
            )
            await note()
            now += timedelta(minutes=1)
    await witness.append(talk, said("last"), now=now)
    await note()
    return read


async def _expect_parts(witness: Witness, talk: str, view: View, at: int | datetime) -> None:
    """Break the law unless pages of two, joined in both directions, are the whole page."""
    whole = await witness.read(talk, view, as_of=at)
    back = await witness.backwards(talk, view, limit=2, as_of=at)
    forth = await witness.forwards(talk, view, limit=2, as_of=at)
    read, *parts = ([message.id for message in one] for one in (whole, joined(back[::-1]), joined(forth)))
    expect(parts, [read, read], f"pages of {view} as of {at}, joined")
