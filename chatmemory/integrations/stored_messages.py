"""``stored_messages`` and ``cleared_messages``: for frameworks in which an unknown conversation is empty instead of an error.

``changed_messages`` changes a conversation as a whole, for frameworks that set, insert or delete at any place.  A change
replaces the newest messages of the model's view, in one transaction, at the version at which they were read.  When another
writer was faster, the change is decided again from the present messages, so that no message of that writer is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Generic, TypeAlias, TypeVar, final

from attrs import frozen

from chatmemory.conversation.contract import ChatMemoryService
from chatmemory.conversation.messages import ChatMessage, View
from chatmemory.conversation.new_message import NewMessage
from chatmemory.effect import Do, Effect, catch
from chatmemory.errors import (
    AddError,
    ConversationNotFoundError,
    DataValidationError,
    Problem,
    ReadError,
    RemoveError,
    VersionConflictError,
)
from chatmemory.input.rules import MAX_LIMIT

A = TypeVar("A")

MOST_ATTEMPTS: Final = 1000
"""How often a change is decided again before it fails: each time, another writer has stored something."""


def stored_messages(
    conversation_id: str, *, limit: int | None = None, view: View = "model"
) -> Effect[Sequence[ChatMessage], ReadError, ChatMemoryService]:
    """Return the messages as ``ChatMemory.get_messages`` does; none for a conversation that does not exist."""
    reading = ChatMemoryService.use(
        lambda memory: memory.get_messages(conversation_id, limit=limit, view=view)
    )
    return catch(ConversationNotFoundError, lambda _: Effect.succeed(()))(reading)


def cleared_messages(conversation_id: str) -> Effect[int, RemoveError, ChatMemoryService]:
    """Delete the messages with their summaries, and return how many there were; 0 for a conversation that does not exist."""
    clearing = ChatMemoryService.use(lambda memory: memory.clear_messages(conversation_id))
    count = clearing.map(lambda report: report.messages)
    return catch(ConversationNotFoundError, lambda _: Effect.succeed(0))(count)


@final
@frozen
class Replacement(Generic[A]):
    """A decided change.

    Attributes:
        count: how many of the newest messages are replaced.
        messages: what takes their place.
        answer: what the caller gets.
    """

    count: int
    messages: Sequence[NewMessage]
    answer: A


Decide: TypeAlias = Callable[[Sequence[ChatMessage]], "Replacement[A] | DataValidationError"]
"""Decides the change of the messages of the model's view, oldest first; none: the conversation does not exist."""


@Effect.gen
async def changed_messages(
    do: Do[AddError | ReadError, ChatMemoryService],
    conversation_id: str,
    decide: Decide[A],
    *,
    newest: int = MAX_LIMIT,
) -> A:
    """Change a conversation as *decide* says, in one transaction, and return its answer.

    Args:
        do: runs a step.
        conversation_id: 1 to 512 characters.
        decide: is called again for each version that it has to be decided from; it must be pure.
        newest: how many of the newest messages *decide* gets.

    Fails with:
        VersionConflictError: other writers have stored something between each of 1,000 reads and writes.
        DataValidationError: what *decide* answers.
    """
    memory = do.service(ChatMemoryService)
    emptied = 0  # the version of a conversation without messages: 0, or the version at which it was emptied
    for attempt in range(MOST_ATTEMPTS):
        reading = memory.get_page(conversation_id, limit=newest)
        page = await do(catch(ConversationNotFoundError, lambda _: Effect.succeed(None))(reading))
        decided = decide(() if page is None else page.messages)
        if isinstance(decided, DataValidationError):
            do.fail(decided)
        if not decided.count and not decided.messages:
            return decided.answer
        storing = memory.replace_newest(
            conversation_id,
            decided.messages,
            count=decided.count,
            expected_version=emptied if page is None else page.version,
        )
        is_last = attempt == MOST_ATTEMPTS - 1
        stored = storing.map(lambda _: None)
        conflict = await do(stored if is_last else catch(VersionConflictError, Effect.succeed)(stored))
        if conflict is None:
            return decided.answer
        emptied = conflict.actual
    raise AssertionError("the last attempt has failed or returned")


def tail_without_summary(
    messages: Sequence[ChatMessage], *, begin: int, path: str
) -> Sequence[NewMessage] | DataValidationError:
    """Return the messages from *begin* on, to be stored again behind a change, with their times and new ids.

    The ids are new because a store refuses an id that it knows when messages stay.  A summary cannot be stored again:
    it would lose the messages that it covers.
    """
    tail = messages[begin:]
    if any(message.role == "summary" for message in tail):
        text = "a summary comes after this place, and would lose the messages that it stands for: change a later one"
        return DataValidationError((Problem(path, text),))
    return [
        NewMessage(message.role, message.content, timestamp=message.timestamp, metadata=message.metadata)
        for message in tail
    ]


def same_beginning(before: Sequence[object], after: Sequence[object]) -> int:
    """Return how many elements *before* and *after* have in common at their beginning."""
    pairs = enumerate(zip(before, after, strict=False))
    return next((index for index, (old, new) in pairs if old != new), min(len(before), len(after)))
