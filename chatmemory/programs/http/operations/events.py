"""``followed``: the new messages of a conversation as server-sent events.

The store is polled, because another process may add the messages.
"""

from collections.abc import AsyncIterator, Callable
from datetime import datetime
from typing import Final

import anyio

from chatmemory.conversation.contract import ChatMemory
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
    clock = do.service(ClockTag)
    return _events(memory, conversation_id, newer_than, closing, lambda: has_come(ends_at, clock))


async def _events(
    memory: ChatMemory, conversation_id: str, seq: int, closing: anyio.Event, is_over: Callable[[], bool]
) -> AsyncIterator[str]:
    yield RETRY
    silent_seconds = 0.0
    is_there = True
    while not (closing.is_set() or is_over()):
        match await memory.get_page(conversation_id, limit=PAGE, newer_than=seq, view="full"):
            case Success(page):
                is_there = True
                for message in page.messages:
                    yield f"id: {message.seq}\nevent: message\ndata: {write_json(message)}\n\n"
                if page.messages:
                    seq = page.messages[-1].seq
                    silent_seconds = 0.0
                    continue
            case Failure(ConversationNotFoundError()):
                if is_there:
                    yield CLEARED
                is_there = False
            case Failure():
                return  # the client reconnects with the last id that it has seen
        with anyio.move_on_after(PAUSE_SECONDS):
            await closing.wait()
        silent_seconds += PAUSE_SECONDS
        if silent_seconds >= HEARTBEAT_SECONDS:
            yield HEARTBEAT
            silent_seconds = 0.0


def has_come(instant: datetime | None, clock: Clock) -> bool:
    """Return whether *instant*, UTC, is reached; None is never reached."""
    return instant is not None and clock.now() >= instant
