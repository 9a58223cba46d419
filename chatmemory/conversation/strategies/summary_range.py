"""``summary_range``: chooses the messages that the next summary covers; the pure part of every summarizing strategy.

``entries`` is always the oldest part of the model's view, oldest first.  It is at least one entry longer than the part that
may be covered, so that the entries on both sides of the cut are known.
"""

from collections.abc import Callable, Sequence
from typing import final

from attrs import frozen

from chatmemory.conversation.messages import OPEN_ROLES, ChatMessage


@final
@frozen
class SummaryExtent:
    """How much of a view the next summary should cover.

    Attributes:
        size: returns the size of one message, in the unit of *needed*.
        needed: the size that the covered messages together should reach.
        most: how many open messages may be covered; those after them are kept.
        entries: how many entries of the view to read.
        max_characters: the largest number of characters of the summary.
    """

    size: Callable[[ChatMessage], int]
    needed: int
    most: int
    entries: int
    max_characters: int


def summary_range(
    entries: Sequence[ChatMessage], extent: SummaryExtent, *, rolling: bool
) -> tuple[ChatMessage, ...]:
    """Choose the entries that the next summary covers, in the order of the view; none when nothing may be covered.

    It takes open messages from the oldest on until their sizes add up to ``extent.needed``.  A tool result is never
    separated from its call: a cut between them moves before the call, or, when nothing would be left to cover, after
    the last result.  With *rolling*, earlier summaries before the cut are covered too.
    """
    open_entries = [entry for entry in entries if is_open(entry)]
    end = taken = 0
    while taken < extent.needed and end < min(extent.most, len(open_entries)):
        taken += extent.size(open_entries[end])
        end += 1
    end = _beside_tool_calls(open_entries, end)
    if not 0 < end <= extent.most:
        return ()
    last = entries.index(open_entries[end - 1])
    return tuple(
        entry for entry in entries[: last + 1] if is_open(entry) or (rolling and entry.role == "summary")
    )


def is_open(message: ChatMessage) -> bool:
    """Return whether a summary may cover the message; earlier summaries do not count here."""
    return message.role in OPEN_ROLES


def _beside_tool_calls(messages: Sequence[ChatMessage], end: int) -> int:
    """Move a cut before ``messages[end]`` so that it does not separate a tool result from the message with its call."""
    start = end
    while 0 < start < len(messages) and messages[start].role == "tool":
        start -= 1
    if start > 0:
        return start
    while 0 < end < len(messages) and messages[end].role == "tool":
        end += 1
    return end
