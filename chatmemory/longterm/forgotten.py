"""``Forgotten``: the ids and origins of forgotten memories, so that no import and no replay brings them back."""

from collections.abc import Iterable, Set as AbstractSet
from typing import Final, TypeAlias, final

from attrs import field, frozen

from chatmemory.longterm.repository_values import MemoryDraft

MemoryName: TypeAlias = tuple[str, str]
"""User and id, which identify a memory in a store."""

Source: TypeAlias = tuple[str, str | None, str]
"""A message that a memory came from: user, conversation and message id."""


@final
@frozen
class Forgotten:
    """The names of forgotten memories, and the messages that they came from.

    A draft that has one of these names, or comes from one of these messages, is not stored.  It is stored if it also
    comes from another message: a statement that is repeated in a new message counts again.  A draft that replaces a
    memory by its id or key, or that is to be stored *again*, is always stored, because the caller asks for it.
    """

    names: AbstractSet[MemoryName] = field(factory=frozenset[MemoryName])
    sources: AbstractSet[Source] = field(factory=frozenset[Source])

    def concerns(self, draft: MemoryDraft) -> bool:
        """Return whether *draft* has the name of a forgotten memory, or comes from a message of one."""
        if not self.names:
            return False
        return (draft.namespace.user, draft.id) in self.names or not self.sources.isdisjoint(
            sources_of(draft)
        )

    def keeps_out(self, draft: MemoryDraft) -> bool:
        """Return whether *draft* is not stored, because it only brings back a forgotten memory."""
        if (
            draft.again
            or draft.replaces is not None
            or not self.concerns(draft)
            or draft.value_key is not None
        ):
            return False
        return self.sources >= sources_of(draft)


NOTHING: Final = Forgotten()


def sources_of(draft: MemoryDraft) -> frozenset[Source]:
    """Return the messages that *draft* comes from."""
    return sources(draft.namespace.user, draft.session_id, draft.provenance.message_ids)


def sources(user: str, session_id: str | None, message_ids: Iterable[str]) -> frozenset[Source]:
    """Return messages of a conversation in the form in which ``Forgotten`` stores them.

    Args:
        user: the user of the memory.
        session_id: the id of the conversation; None: unknown.
        message_ids: the ids of the messages.

    Returns:
        one ``(user, session_id, message_id)`` for each message.
    """
    return frozenset((user, session_id, message_id) for message_id in message_ids)
