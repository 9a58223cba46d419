"""Answers that are large: a page ends where it would be too large, and its JSON is written beside the event loop.

A message or a memory may have a megabyte of text and more, and a page a thousand of them.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeVar

from attrs import evolve

from chatmemory.conversation.messages import ChatMessage, MessagePage
from chatmemory.effect import Effect
from chatmemory.input.structure import unstructure, write_json
from chatmemory.longterm.memories import Memory, MemoryPage
from chatmemory.longterm.recall.recall import Recall
from chatmemory.text.long_work import beside_the_loop

P = TypeVar("P", MemoryPage, MessagePage)
E = TypeVar("E")
R = TypeVar("R")

MOST_CHARACTERS: Final = 4_000_000
"""Of the texts of one answer; the first text is there, however large."""
LARGE: Final = 100_000
"""Characters; to write less as JSON takes 3 ms at most."""

_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


def bounded(
    page: P, *, again: Callable[[int], Effect[P, E, R]], newest_first: bool = False
) -> Effect[P, E, R]:
    """Return *page*, or a shorter one when its texts are too large; its cursor leads to the rest.

    Args:
        page: a page of memories or messages.
        again: reads the same page with at most so many members.
        newest_first: whether a shorter page keeps the end of this one.
    """
    members: Sequence[Memory | ChatMessage] = page.memories if isinstance(page, MemoryPage) else page.messages
    count = _fitting(reversed(members) if newest_first else members)
    return Effect.succeed(page) if count == len(members) else again(count)


def bounded_recall(recall: Recall) -> Recall:
    """Return *recall* with as many hits as an answer has room for; ``reason`` says when some are left out."""
    count = _fitting(hit.memory for hit in recall.hits)
    if count == len(recall.hits):
        return recall
    left_out = (
        f"{len(recall.hits) - count} of {len(recall.hits)} hits are left out, because the texts are large"
    )
    ids = ", ".join(hit.memory.id for hit in recall.hits[count : count + 10])
    reason = f"{recall.reason}; {left_out}: read them one by one, the next are {ids}"
    return evolve(recall, hits=recall.hits[:count], reason=reason)


async def written(value: Any) -> str | bytes:
    """Return *value* as JSON; a large one is written beside the event loop, text by text."""
    if sum(len(text) for text in _texts(value)) < LARGE:
        return write_json(value)

    def write() -> bytes:
        return b"".join(map(str.encode, _ENCODER.iterencode(unstructure(value))))

    return await beside_the_loop(write).or_raise()


def _texts(value: Any) -> Iterable[str]:
    match value:
        case MemoryPage(memories):
            return (memory.content for memory in memories)
        case MessagePage(messages=messages):
            return (message.content for message in messages)
        case Recall(hits):
            return (hit.memory.content for hit in hits)
        case Memory(content=content):
            return (content,)
        case _:
            return ()


def _fitting(members: Iterable[Memory | ChatMessage]) -> int:
    """Return how many of *members* an answer has room for, at least one if there is one."""
    room, count = MOST_CHARACTERS, 0
    for member in members:
        room -= len(member.content)
        if room < 0 and count:
            break
        count += 1
    return count
