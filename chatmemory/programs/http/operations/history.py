"""The history of a memory, and undoing a change of a memory or the newest change of a conversation."""

from collections.abc import Sequence
from typing import Final, final

from attrs import field, frozen, validators

from chatmemory.access.namespace import Namespace
from chatmemory.conversation.contract import ChatMemory
from chatmemory.conversation.messages import Undone
from chatmemory.effect import Effect
from chatmemory.errors import ConversationUndoError, MemoryReadError, MemoryUndoError
from chatmemory.input.rules import MAX_LIMIT
from chatmemory.longterm.contract import LongTermMemory
from chatmemory.longterm.memories import Memory, MemoryHistory
from chatmemory.programs.http.operation import Call, InApp, NoParameters, Operation
from chatmemory.programs.http.operations.conversations import of_conversation
from chatmemory.programs.http.operations.memories import EXAMPLE, of_memory
from chatmemory.programs.operations.refusal import Refusal


@final
@frozen(kw_only=True)
class Undo:
    """The change of a memory to undo.

    Attributes:
        number: the number of the event in the history of the memory; null for the newest one.
    """

    number: int | None = field(default=None, validator=validators.optional(validators.ge(1)))


@final
@frozen(kw_only=True)
class UndoConversation:
    """The newest change of a conversation, to undo.

    Attributes:
        expected_version: the version that this change made; the request is refused if the conversation has another one.
            Null undoes the newest change, whichever it is.
    """

    expected_version: int | None = field(
        default=None, validator=validators.optional([validators.ge(0), validators.le(MAX_LIMIT)])
    )


@of_memory
def get_memory_history(
    call: Call[InApp, None], memory: LongTermMemory, namespace: Namespace
) -> Effect[MemoryHistory, MemoryReadError | Refusal]:
    """Return the events of a memory (when, by whom, why), and its content before each correction."""
    return memory.history(namespace, call.path["memoryId"])


@of_memory
def undo_memory(
    call: Call[InApp, Undo], memory: LongTermMemory, namespace: Namespace
) -> Effect[Memory, MemoryUndoError | Refusal]:
    """Undo one change of a memory: a correction, a replacement, a pin, a promotion, or a value that was set."""
    return memory.undo(namespace, call.path["memoryId"], number=call.body.number)


@of_conversation
def undo_conversation(
    call: Call[NoParameters, UndoConversation], memory: ChatMemory, conversation_id: str
) -> Effect[Undone, ConversationUndoError | Refusal]:
    """Undo the newest change of a conversation: an add, a summary, a fork, or a clear if a branch still holds its messages."""
    return memory.undo(conversation_id, expected_version=call.body.expected_version)


HISTORY: Final[Sequence[Operation]] = (
    Operation("GET", "/memories/{memoryId}/history", get_memory_history, example=EXAMPLE),
    Operation(
        "POST", "/memories/{memoryId}/undo", undo_memory, example={**EXAMPLE, "body": {"number": None}}
    ),
    Operation(
        "POST",
        "/conversations/{conversationId}/undo",
        undo_conversation,
        example={"conversationId": "trip-to-kyoto", "body": {"expectedVersion": None}},
    ),
)
