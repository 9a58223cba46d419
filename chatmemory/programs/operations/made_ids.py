"""``with_made_ids``: messages and memories with ids made of an ``Idempotency-Key``, or of the id of an event."""

from collections.abc import Sequence
from typing import TypeVar

from attrs import evolve

from chatmemory.conversation.new_message import NewMessage
from chatmemory.input.made_id import made_id
from chatmemory.longterm.memories import NewMemory

New = TypeVar("New", NewMessage, NewMemory)


def with_made_ids(drafts: Sequence[New], key: str | None, *scope: str) -> tuple[New, ...]:
    """Return *drafts* with an id for each that has none; without a *key* the service makes them.

    Args:
        drafts: what is to be written.
        key: what the client sends again when it repeats the write.
        scope: whose key it is, and where it writes: the same key means another write elsewhere.
    """
    if key is None:
        return tuple(drafts)
    return tuple(
        draft if draft.id is not None else evolve(draft, id=made_id(key, *scope, str(number)))
        for number, draft in enumerate(drafts)
    )
