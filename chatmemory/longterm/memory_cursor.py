"""The cursor of a list of memories: where the last one stands, as text that a caller hands back."""

from datetime import datetime
from typing import TypeAlias

from chatmemory.errors import Problem
from chatmemory.memories import Memory
from chatmemory.message_rules import id_problem, instant_problem

Place: TypeAlias = tuple[datetime, str]
"""``(created_at, id)`` of a memory."""


def cursor_of(memory: Memory) -> str:
    """Return the cursor of what follows *memory*."""
    return f"{memory.created_at.isoformat()} {memory.id}"


def read_cursor(cursor: object) -> tuple[Place | None, list[Problem]]:
    """Return the place that *cursor* names, None for none, and what is wrong with it."""
    if cursor is None:
        return None, []
    text, _, memory_id = cursor.partition(" ") if isinstance(cursor, str) else ("", "", "")
    try:
        created_at = datetime.fromisoformat(text)
    except ValueError:
        created_at = None
    if created_at is None or instant_problem(created_at) is not None or id_problem(memory_id) is not None:
        return None, [Problem("$.after", "no cursor: give the next of another page")]
    return (created_at, memory_id), []
