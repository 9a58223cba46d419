"""Large answers: pages are shortened when they would be too large, and their JSON is written in a thread.

A message, a memory or a turn of a past chat may have a megabyte of text or more, and a page may have a thousand of them.
"""

import json
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from attrs import evolve

from chatmemory.conversation.messages import ChatMessage, MessagePage
from chatmemory.effect import Effect
from chatmemory.input.structure import unstructure, write_json
from chatmemory.longterm.memories import Memory, MemoryPage
from chatmemory.longterm.recall.recall import Recall
from chatmemory.pastchats.finding.prompt_hits import PromptSearchResult
from chatmemory.pastchats.past_chats import PastTurnPage
from chatmemory.pastchats.prompt import Prompt
from chatmemory.text.long_work import in_worker_thread

P = TypeVar("P", MemoryPage, MessagePage, PastTurnPage)
E = TypeVar("E")
R = TypeVar("R")
F = TypeVar("F", PromptSearchResult, Recall)

MOST_CHARACTERS: Final = 4_000_000
"""The most characters of the texts in one answer; the first text is always included."""
LARGE: Final = 100_000
"""Characters; writing fewer as JSON takes at most 3 ms."""

_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


def bounded(
    page: P, *, again: Callable[[int], Effect[P, E, R]], newest_first: bool = False
) -> Effect[P, E, R]:
    """Return *page*, or a shorter one if its texts are too large; the cursor of the shorter page continues with the rest.

    *again* reads the same page with at most the given number of members; with *newest_first*, it keeps the end of this
    one.
    """
    members = _members(page)
    count = _fitting(members[::-1] if newest_first else members)
    return Effect.succeed(page) if count == len(members) else again(count)


def bounded_hits(found: F) -> F:
    """Return *found* with as many hits as fit into an answer; ``reason`` says if some are left out."""
    members = _members(found)
    count, total = _fitting(members), len(members)
    if count == total:
        return found
    advice = "one by one, the next are"
    if isinstance(found, PromptSearchResult):
        advice = "in their conversations, the next are in"
    following = ", ".join(
        f"{member.conversation_id} after {member.turn_index - 1}" if isinstance(member, Prompt) else member.id
        for member in members[count : count + 10]
    )
    left_out = f"{total - count} of {total} hits are left out, because the texts are large"
    reason = f"{found.reason}; {left_out}: read them {advice} {following}"
    return evolve(found, hits=found.hits[:count], reason=reason)


async def written(value: Any) -> str | bytes:
    """Return *value* as JSON; a large value is written in a thread, text by text."""
    if sum([len(member.content) for member in _members(value)]) < LARGE:
        return write_json(value)

    def write() -> bytes:
        return b"".join(map(str.encode, _ENCODER.iterencode(unstructure(value))))

    return await in_worker_thread(write).or_raise()


def _members(value: Any) -> Sequence[Memory | ChatMessage | Prompt]:
    """Return the parts of *value* whose texts may have any size."""
    match value:
        case MessagePage(messages=messages):
            return messages
        case MemoryPage(memories):
            return memories
        case PastTurnPage(turns=turns):
            return turns
        case Recall(hits):
            return [hit.memory for hit in hits]
        case PromptSearchResult(hits=hits):
            return [hit.prompt for hit in hits]
        case Memory():
            return (value,)
        case _:
            return ()


def _fitting(members: Sequence[Memory | ChatMessage | Prompt]) -> int:
    """Return how many of *members* fit into an answer, at least one if there is one."""
    room, count = MOST_CHARACTERS, 0
    for member in members:
        room -= len(member.content)
        if room < 0 and count:
            break
        count += 1
    return count
