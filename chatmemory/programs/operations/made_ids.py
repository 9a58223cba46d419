"""Ids made of an ``Idempotency-Key``: who repeats a write writes the same ids, and the store writes nothing twice.

So a repeated write needs no memory of its own, and is recognized after a crash, by another process, and for ever.
"""

from collections.abc import Sequence
from hashlib import sha256
from typing import TypeVar

from attrs import evolve

from chatmemory.conversation.new_message import NewMessage
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
        draft if draft.id is not None else evolve(draft, id=_made_id(key, *scope, str(number)))
        for number, draft in enumerate(drafts)
    )


def _made_id(*parts: str) -> str:
    # The length of each part keeps ("ab", "c") and ("a", "bc") apart.
    told_apart = "".join(f"{len(part)}:{part}" for part in parts)
    return sha256(told_apart.encode("utf-8", "surrogatepass")).hexdigest()[:32]
