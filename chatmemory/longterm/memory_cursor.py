"""The cursor of a list of memories: where the last one stands, as text that a caller hands back."""

from datetime import datetime

from chatmemory.errors import Problem
from chatmemory.memories import Memory
from chatmemory.message_rules import instant_problem


def cursor_of(memory: Memory) -> str:
    """Return the cursor of what follows *memory*."""
    return f"{memory.created_at.isoformat()} {memory.id}"


def read_cursor(cursor: str | None) -> tuple[datetime, str] | Problem | None:
    """Return ``(created_at, id)``, None for none, or what is wrong with it."""
    if cursor is None:
        return None
    text, separator, memory_id = cursor.partition(" ")
    try:
        created_at = datetime.fromisoformat(text)
    except ValueError:
        separator = ""
    else:
        if separator and instant_problem(created_at) is None:
            return created_at, memory_id
    return Problem("$.after", "no cursor: give the next of another page")
