"""The steps of a round with conversations, one transaction each; what is there of them, and what the log tells of them."""

from collections.abc import AsyncGenerator, Sequence
from typing import Any, Final

from chatmemory import Event, MessageRepository
from chatmemory.conversation.message_repository import Fork, PageQuery, Undo
from chatmemory.laws.kit.samples import START, batch, said, summary_of

BRANCHES: Final = ("", " kept", " cut", " shared", " undone")
SHARED: Final = "4"  # the last message that the first two branches share
LONGEST: Final = 8
"""The most versions that a conversation of a round has."""


def names_of(talk: str) -> tuple[str, ...]:
    return tuple([f"{talk}{branch}" for branch in BRANCHES])


async def steps_of(messages: MessageRepository, talk: str) -> AsyncGenerator[None]:
    """Take one step after another: each kind of change of a conversation, of its branches, and what takes it back.

    A branch that summarizes or removes what it shares, and a parent that clears what its branches share, copy it first: in
    the same step.
    """
    parent, kept, cut, shared, undone = names_of(talk)

    async def append(name: str, *ids: str) -> None:
        await messages.append(batch(name, *(said(id_, f"第{id_}句") for id_ in ids))).or_raise()

    async def fork(new_id: str, at: str | None = None) -> None:
        await messages.fork(Fork(parent, new_id, at, START)).or_raise()

    async def undo(name: str) -> None:
        await messages.undo(Undo(name, START)).or_raise()

    async def summarize(name: str, message_id: str, *, delete_covered: bool = False) -> None:
        page = await messages.page(PageQuery(name, "model")).or_raise()
        assert page is not None
        how: Any = {"planned_at_version": page.version, "delete_covered": delete_covered}
        await messages.summarize(summary_of(name, page.messages[:3], message_id=message_id, **how)).or_raise()

    for step in (
        lambda: append(parent, *map(str, range(8))),
        lambda: append(parent, "8", "9"),
        lambda: fork(kept, SHARED),
        lambda: fork(cut, SHARED),
        lambda: summarize(parent, "s"),
        lambda: fork(shared),
        lambda: summarize(kept, "k"),
        lambda: undo(kept),
        lambda: append(kept, "own"),
        lambda: summarize(cut, "c", delete_covered=True),
        lambda: messages.remove_newest(cut, now=START, threshold=None).or_raise(),
        lambda: messages.clear(parent, now=START).or_raise(),
        lambda: undo(parent),
        lambda: append(parent, "10", "11"),
        lambda: undo(parent),
        lambda: fork(undone),
        lambda: undo(undone),
        lambda: messages.clear(parent, now=START, with_branches=True).or_raise(),
    ):
        await step()
        yield


async def shown(messages: MessageRepository, talk: str) -> list[Any]:
    """Return both views of the conversations of a round: now, and as of each version."""
    read: list[Any] = []
    for name in names_of(talk):
        read.append(await messages.conversation(name).or_raise())
        for view in ("model", "full"):
            for as_of in (None, *range(LONGEST + 1)):
                page = await messages.page(PageQuery(name, view, as_of=as_of)).or_raise()
                read.append(page)
    return read


def told(events: Sequence[Event], talk: str) -> list[Any]:
    """Return what *events* tell of the conversations of a round, in the order of each."""
    names = names_of(talk)
    ours = [one for one in events if one.target in names]
    said = [(one.target, one.version, one.action, one.by, one.reason, one.reach) for one in ours]
    return sorted(said, key=str)
