"""A store of the edition in which a branch showed the messages of its parent: a parent with a summary, and three branches."""

from datetime import UTC, datetime
from typing import Any, Final

from chatmemory import PageQuery
from chatmemory.conversation.message_repository import MessageRepository

NOW: Final = datetime(2026, 1, 1, tzinfo=UTC)
# id, version, the last number, the last place of a summary, the parent, the last shared number, the shared version
CONVERSATIONS: Final = [
    ("parent", 5, 5, 2, None, None, None),
    ("before the summary", 4, 4, 0, "parent", 3, 3),
    ("branch of a branch", 5, 5, 0, "before the summary", 4, 4),
    ("with the summary", 6, 6, 2, "parent", 5, 5),
]
# conversation, number, place, id, role, covered by, covered at version; each version stored one message
MESSAGES: Final = [
    *[("parent", number, number, f"{number}", "user", "s", 5) for number in (1, 2)],
    *[("parent", number, number, f"{number}", "user", None, None) for number in (3, 4)],
    ("parent", 5, 2, "s", "summary", None, None),
    ("before the summary", 4, 4, "4b", "user", None, None),
    ("branch of a branch", 5, 5, "5t", "user", None, None),
    ("with the summary", 6, 6, "6l", "user", None, None),
]
FULL: Final = {
    "parent": ["1", "2", "3", "4", "s"],
    "before the summary": ["1", "2", "3", "4b"],
    "branch of a branch": ["1", "2", "3", "4b", "5t"],
    "with the summary": ["1", "2", "3", "4", "s", "6l"],
}
MODEL: Final = {**FULL, "parent": ["s", "3", "4"], "with the summary": ["s", "3", "4", "6l"]}


async def expect_branches_of_their_own(messages: MessageRepository) -> None:
    """Check that each conversation holds what it showed, and that the counts of a branch, which were wrong, are its own."""
    for id_, _, _, _, parent, *_ in CONVERSATIONS:
        pages = [await messages.page(PageQuery(id_, view)).or_raise() for view in ("full", "model")]
        assert [[one.id for one in page.messages] for page in pages if page] == [FULL[id_], MODEL[id_]]
        about = await messages.conversation(id_).or_raise()
        assert about is not None
        counts = (len(FULL[id_]), len(MODEL[id_]))
        assert parent is None or (about.message_count, about.view_count) == counts
        assert (about.forked_from and about.forked_from.conversation_id) == parent
        summary: Any = await messages.summarization(id_, "s").or_raise()
        assert (summary and summary.summarized_message_ids) == (("1", "2") if "s" in FULL[id_] else None)
    await messages.clear("parent", now=NOW).or_raise()
    kept = await messages.page(PageQuery("with the summary", "full")).or_raise()
    assert kept is not None
    assert len(kept.messages) == len(FULL["with the summary"])
