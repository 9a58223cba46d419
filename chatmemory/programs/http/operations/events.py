"""``followed``: the new messages of a conversation as server-sent events; ``event_stream``: any events that are polled.

The store is polled, because another process may add the messages.
"""

from collections.abc import AsyncIterator, Iterable
from datetime import datetime
from typing import Final, NamedTuple

import anyio

from chatmemory.conversation.contract import ChatMemory
from chatmemory.conversation.messages import ChatMessage
from chatmemory.effect import Do, Effect, Failure, Success
from chatmemory.effect.services.clock import Clock, ClockTag
from chatmemory.errors import ConversationNotFoundError, ReadError
from chatmemory.input.structure import write_json

PAUSE_SECONDS: Final = 0.5
HEARTBEAT_SECONDS: Final = 15.0
"""A heartbeat keeps proxies from closing the connection while no message arrives."""
PAGE: Final = 10
"""Messages held in memory for a client until it takes them: each may have a megabyte, for up to a hundred clients."""
HEARTBEAT: Final = ": still here\n\n"
CLEARED: Final = "event: cleared\ndata: {}\n\n"
RETRY: Final = "retry: 1000\n\n"
"""Tells a client to wait this long, in milliseconds, before it reconnects; sent first, so that the answer begins at once."""


class Poll(NamedTuple):
    """The events that one read of the store has found, and whether the next read may find more at once."""

    events: Iterable[str]
    has_more: bool


@Effect.gen
async def followed(
    do: Do[ReadError],
    memory: ChatMemory,
    conversation_id: str,
    *,
    newer_than: int | None,
    closing: anyio.Event,
    ends_at: datetime | None = None,
) -> AsyncIterator[str]:
    """Return the events of a conversation as a stream; fail if the conversation or *newer_than* is not valid.

    They begin after the message with the number *newer_than*; None: after the last message.  The stream ends as soon as
    *closing* is set, and at *ends_at*, UTC, if it is given.
    """
    await do(memory.get_conversation(conversation_id))
    if newer_than is None:
        newer_than = (await do(memory.get_page(conversation_id, limit=1, view="full"))).newer
    else:  # read now, so that an invalid number fails the request instead of starting streams that end again and again
        await do(memory.get_page(conversation_id, limit=0, newer_than=newer_than, view="full"))
    polls = _polls(memory, conversation_id, newer_than)
    return event_stream(polls, closing=closing, ends_at=ends_at, clock=do.service(ClockTag))


async def _polls(memory: ChatMemory, conversation_id: str, seq: int) -> AsyncIterator[Poll]:
    is_there = True
    while True:
        match await memory.get_page(conversation_id, limit=PAGE, newer_than=seq, view="full"):
            case Success(page):
                is_there = True
                yield Poll(map(_said, page.messages), has_more=bool(page.messages))
                seq = page.messages[-1].seq if page.messages else seq
            case Failure(ConversationNotFoundError()):
                yield Poll([CLEARED] if is_there else [], has_more=False)
                is_there = False
            case Failure():
                return  # the client reconnects with the last id that it has seen


def _said(message: ChatMessage) -> str:
    return f"id: {message.seq}\nevent: message\ndata: {write_json(message)}\n\n"


async def event_stream(
    polls: AsyncIterator[Poll], *, closing: anyio.Event, ends_at: datetime | None, clock: Clock
) -> AsyncIterator[str]:
    """Yield the events of *polls*, with a pause after each poll that has found all, and a heartbeat in a long silence.

    The stream ends with *polls*, as soon as *closing* is set, and at *ends_at*, UTC, if it is given.
    """
    yield RETRY
    silent_seconds = 0.0
    while not (closing.is_set() or (ends_at is not None and clock.now() >= ends_at)):
        poll = await anext(polls, None)
        if poll is None:
            return
        for event in poll.events:
            yield event
            silent_seconds = 0.0
        if poll.has_more:
            continue
        with anyio.move_on_after(PAUSE_SECONDS):
            await closing.wait()
        silent_seconds += PAUSE_SECONDS
        if silent_seconds >= HEARTBEAT_SECONDS:
            yield HEARTBEAT
            silent_seconds = 0.0
