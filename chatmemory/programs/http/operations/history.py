"""What happened to a memory, and how one change of it is taken back."""

from collections.abc import Sequence
from typing import Final, final

from attrs import field, frozen, validators

from chatmemory.effect import Effect
from chatmemory.errors import MemoryReadError, MemoryUndoError
from chatmemory.longterm.contract import LongTermMemoryService
from chatmemory.longterm.memories import Memory
from chatmemory.longterm.memory_history import MemoryHistory
from chatmemory.programs.http.operation import Call, InApp, Operation
from chatmemory.programs.http.operations.memories import EXAMPLE, of_memory
from chatmemory.programs.operations.refusal import Refusal


@final
@frozen(kw_only=True)
class Undo:
    """A change to take back.

    Attributes:
        number: of the event, as the history of the memory tells it; without it, the newest one.
    """

    number: int | None = field(default=None, validator=validators.optional(validators.ge(1)))


def get_memory_history(
    call: Call[InApp, None],
) -> Effect[MemoryHistory, MemoryReadError | Refusal, LongTermMemoryService]:
    """Return what happened to a memory, when, by whom and why, and what it said before each correction."""
    return of_memory(call, lambda memory, namespace: memory.history(namespace, call.path["memoryId"]))


def undo_memory(
    call: Call[InApp, Undo],
) -> Effect[Memory, MemoryUndoError | Refusal, LongTermMemoryService]:
    """Take one change of a memory back: a correction, a successor, a pin, a promotion, or a value that was put."""
    return of_memory(
        call,
        lambda memory, namespace: memory.undo(namespace, call.path["memoryId"], number=call.body.number),
    )


HISTORY: Final[Sequence[Operation]] = (
    Operation("GET", "/memories/{memoryId}/history", get_memory_history, example=EXAMPLE),
    Operation(
        "POST", "/memories/{memoryId}/undo", undo_memory, example={**EXAMPLE, "body": {"number": None}}
    ),
)
