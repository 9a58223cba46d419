"""``Forgotten``: what a store knows of memories that were forgotten, so that no import and no replay brings them back."""

from collections.abc import Iterable, Set as AbstractSet
from typing import Final, TypeAlias, final

from attrs import field, frozen

from chatmemory.longterm.repository_values import MemoryDraft

MemoryName: TypeAlias = tuple[str, str]
"""What no two memories of a store share: user and id."""

Source: TypeAlias = tuple[str, str | None, str]
"""A message that a memory came from: user, conversation and message id."""


@final
@frozen
class Forgotten:
    """The names of memories that were forgotten, and the messages that they came from.

    A draft that has one of these names, or comes from one of these messages, is kept out unless it comes from a message
    besides: what is said again, in a new message, is stored.  A draft that takes the place of a memory by its id or key, or
    that is to be stored *again*, is somebody's wish, and is never kept out.
    """

    names: AbstractSet[MemoryName] = field(factory=frozenset[MemoryName])
    sources: AbstractSet[Source] = field(factory=frozenset[Source])

    def concerns(self, draft: MemoryDraft) -> bool:
        """Return whether *draft* is, or comes from, what was forgotten."""
        if not self.names:
            return False
        return (draft.namespace.user, draft.id) in self.names or not self.sources.isdisjoint(
            sources_of(draft)
        )

    def keeps_out(self, draft: MemoryDraft) -> bool:
        """Return whether *draft* brings back what was forgotten, and nothing that was said since."""
        if draft.again or draft.replaces is not None or draft.replaces_key or not self.concerns(draft):
            return False
        return self.sources >= sources_of(draft)


NOTHING: Final = Forgotten()


def sources_of(draft: MemoryDraft) -> frozenset[Source]:
    """Return the messages that *draft* comes from."""
    return sources(draft.namespace.user, draft.session_id, draft.provenance.message_ids)


def sources(user: str, session_id: str | None, message_ids: Iterable[str]) -> frozenset[Source]:
    """Return messages of a user's conversation as ``Forgotten`` keeps them."""
    return frozenset((user, session_id, message_id) for message_id in message_ids)
