"""``with_made_ids``: gives messages and memories ids that are derived from an ``Idempotency-Key`` or an event id."""

from collections.abc import Sequence
from typing import TypeVar

from attrs import evolve

from chatmemory.conversation.new_message import NewMessage
from chatmemory.input.made_id import made_id
from chatmemory.longterm.memories import NewMemory

New = TypeVar("New", NewMessage, NewMemory)


def with_made_ids(drafts: Sequence[New], key: str | None, *scope: str) -> tuple[New, ...]:
    """Return *drafts*, each with an id: its own, or one derived from *key*, so that a repeated write makes the same ids.

    Args:
        drafts: the messages or memories to write.
        key: the key that the client sends again when it repeats the write; None: the service will make the ids.
        scope: the owner of the key and the place of the write; the same key in another scope makes other ids.
    """
    if key is None:
        return tuple(drafts)
    return tuple(
        draft if draft.id is not None else evolve(draft, id=made_id(key, *scope, str(number)))
        for number, draft in enumerate(drafts)
    )
